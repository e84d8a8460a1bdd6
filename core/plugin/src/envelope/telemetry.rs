//! Telemetry: what is asked, and what it printed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_model::{Name, Place};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourcesInput {
    /// The host, or one of the guests.
    pub place: Place,
    /// The libvirt driver of the host, as its URI begins: `qemu`, `xen`.
    pub driver: String,
    /// Path of `crossvisor-probe` at `place`.
    pub probe: PathBuf,
    /// Between readings.
    pub interval_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourcesOutput {
    /// None where there is nothing to ask at this place.
    pub sources: Vec<Source>,
}

/// A program that tells what its machine does. It runs until its standard input ends, prints as it goes, and prefixes
/// what it prints with lines of times: `crossvisor-probe sample` and `crossvisor-probe follow` do all that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    pub name: Name,
    pub argv: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordInput {
    /// The source's name.
    pub source: Name,
    pub place: Place,
    /// All that it printed; [`stamps`](crate::stamps) reads its lines of times.
    pub text: String,
    /// The cell's guests, by the names of their domains.
    #[serde(default)]
    pub domains: BTreeMap<Name, u32>,
}
