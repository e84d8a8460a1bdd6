//! Volumes: to be made, and what they take.

use std::path::PathBuf;

use crossvisor_model::{Name, Volume};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateInput {
    /// The guest's image on the host, raw.
    pub golden: PathBuf,
    /// Its length in bytes.
    pub golden_bytes: u64,
    /// A folder on the host that is the run's own, where file-backed volumes go.
    pub folder: PathBuf,
    /// The name the volume must carry, unique on the host.
    pub name: Name,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateOutput {
    pub volume: Volume,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectInput {
    pub volume: Volume,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectOutput {
    /// Bytes really allocated on the host; null where that cannot be told.
    pub allocated_bytes: Option<u64>,
    /// Why what is measured on this volume is worth nothing: `the snapshot is full`. Its cell then fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spoiled: Option<String>,
}

impl InspectOutput {
    /// A volume that is in order.
    #[must_use]
    pub fn of(allocated_bytes: Option<u64>) -> Self {
        Self { allocated_bytes, spoiled: None }
    }
}
