//! What a run notes of its hosts, so that whoever cleans up after it can reach them.

use crossvisor_model::HostAddress;
use serde::{Deserialize, Serialize};

/// A host in a run's notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedHost {
    #[serde(flatten)]
    pub address: HostAddress,
    /// True: it was made for the run, and all that is on it goes with it.
    #[serde(default)]
    pub made: bool,
}
