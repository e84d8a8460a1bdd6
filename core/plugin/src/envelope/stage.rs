//! What a host is got ready with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_model::Name;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageInput {
    /// The guest's image on the host, raw.
    pub golden: PathBuf,
    /// Its length in bytes.
    pub golden_bytes: u64,
    /// A folder on the host that is the run's own.
    pub folder: PathBuf,
    /// A name for what is made, unique on the host.
    pub name: Name,
    /// The most guests that the run has here at once.
    pub guests: u32,
    /// Of each guest.
    pub memory_bytes: u64,
    /// Of each guest.
    pub vcpus: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageOutput {
    /// Storage: what `create` gets as `golden` from now on, where it is not the image's file.
    #[serde(default)]
    pub golden: Option<PathBuf>,
    /// What a person should know of the host: `{"xen version": "4.17.5"}`.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}
