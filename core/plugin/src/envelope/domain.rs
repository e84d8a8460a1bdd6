//! Domains: to be made, and whether they run.

use std::path::PathBuf;

use crossvisor_model::{DomainSpec, Volume};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefineInput {
    pub domain: DomainSpec,
}

/// What became of the domain as it was asked for; what is left out is as asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefineOutput {
    /// Where the console is written on the host.
    #[serde(default)]
    pub console_log: Option<PathBuf>,
    /// The volumes with the cache and I/O modes that are really used, in the order of the request.
    #[serde(default)]
    pub volumes: Option<Vec<Volume>>,
}

/// The guest as it was given to `define`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AliveInput {
    pub domain: DomainSpec,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AliveOutput {
    pub alive: bool,
}
