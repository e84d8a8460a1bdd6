//! What lies beside a plugin's file and describes it.
//!
//! Owns the form of `<file>.json`. It must never be believed against the file itself.

use std::path::Path;

use crossvisor_model::Manifest;
use serde::Deserialize;

use crate::Broken;
use crate::file::{self, Rule};

/// The checksum a plugin's file must have, and what the plugin says of itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sidecar {
    /// In hexadecimal.
    pub sha256: String,
    pub manifest: Manifest,
}

/// The sidecar of the plugin in the file `plugin`, where there is one.
pub(crate) fn read(plugin: &Path, rule: Rule) -> Result<Option<Sidecar>, Broken> {
    let mut path = plugin.as_os_str().to_owned();
    path.push(".json");
    let Some(text) = file::read(Path::new(&path), rule)? else { return Ok(None) };
    let read = serde_json::from_str(&text);
    read.map(Some).map_err(|e| Broken::Sidecar { path: path.into(), reason: e.to_string() })
}
