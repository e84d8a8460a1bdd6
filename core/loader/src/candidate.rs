//! What the search came upon, whether it is used or not.
//!
//! Owns the states a candidate can be in. It must never change which plugin is used.

use crossvisor_model::Manifest;
use serde::Serialize;

use crate::Origin;

/// One file, or one linked-in plugin, that could have been loaded.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// As its file or its place in the program has it.
    pub name: String,
    pub origin: Origin,
    /// Of a file, in hexadecimal; `None` when it did not come to that.
    pub sha256: Option<String>,
    /// What it says of itself, or what its sidecar says; `None` when neither was asked.
    pub manifest: Option<Manifest>,
    pub state: State,
    /// Why it is in this state; empty for [`State::Loaded`].
    pub reason: String,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Loaded,
    /// Nobody has said that it may run.
    Untrusted,
    /// Others could have changed it, or it is not what its sidecar says.
    Refused,
    /// It does not keep the contract.
    Broken,
    /// Another has the same name or offers the same.
    Clash,
    /// Another of the name goes before it.
    Shadowed,
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Loaded => "loaded",
            Self::Untrusted => "untrusted",
            Self::Refused => "refused",
            Self::Broken => "broken",
            Self::Clash => "clash",
            Self::Shadowed => "shadowed",
        })
    }
}
