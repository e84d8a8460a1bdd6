//! Options that a plugin offers and a scenario sets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Options by name, already checked against their [`OptionSpec`]s and filled with the defaults.
/// Sizes are whole bytes and durations are seconds, as JSON numbers.
pub type Options = BTreeMap<String, serde_json::Value>;

/// One option of an offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OptionSpec {
    pub name: String,
    #[serde(flatten)]
    pub kind: OptionKind,
    /// Used when the scenario does not set the option; in the option's own JSON form. `None`: the option stays unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    pub help: String,
}

impl OptionSpec {
    /// `default` is `None` for an option that stays unset.
    pub fn new(
        name: &str,
        kind: OptionKind,
        default: impl Into<Option<serde_json::Value>>,
        help: &str,
    ) -> Self {
        Self { name: name.into(), kind, default: default.into(), help: help.into() }
    }
}

/// What an option holds, in YAML and (after the check) in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum OptionKind {
    /// A whole number within `min..=max`.
    Integer {
        min: i64,
        max: i64,
    },
    /// YAML text with a unit (`64MiB`); JSON whole bytes.
    Size {
        min: u64,
        max: u64,
    },
    /// YAML text with a unit (`10s`); JSON seconds.
    Duration {
        min: f64,
        max: f64,
    },
    Boolean,
    /// One of these words.
    Choice {
        of: Vec<String>,
    },
    Text,
}
