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
    /// YAML a list of texts, `min..=max` of them; JSON the same.
    Words {
        min: u64,
        max: u64,
    },
    /// A regular expression (the syntax of the Rust crate `regex`).
    Pattern,
    /// A JSON pointer (RFC 6901): empty, or `/` before each step.
    Pointer,
    /// A list of metrics that the scenario describes, at least one; those of the workload are more by them. In YAML each
    /// has `name`, `unit` and `better`, may have `label` (else its name) and `headline` (else true), has exactly one of
    /// the `sources`, and may have any of the `keys`. JSON objects with the same names, complete.
    Metrics {
        sources: Vec<OptionSpec>,
        keys: Vec<OptionSpec>,
    },
}
