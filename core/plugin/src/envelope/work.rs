//! Work: who does it, and what it printed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_model::{MetricSpec, Place, Value as SampleValue};
use serde::{Deserialize, Serialize};

/// Input of `prepare` and `work`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkInput {
    /// What does the work at once: the guests of the cell, or copies on the bare host.
    pub instances: Vec<Instance>,
}

/// One machine (or, on the bare host, one copy) that does the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instance {
    /// From 1.
    pub index: u32,
    pub place: Place,
    /// An existing empty folder of the run's own at `place`, writable by every user.
    pub folder: PathBuf,
    /// Path of `crossvisor-probe` at `place`.
    pub probe: PathBuf,
    pub memory_bytes: u64,
    pub cpus: u32,
    pub peer: Peer,
    /// The address at which the other instances reach it. Absent where they cannot: behind user networking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// The other end for network work: the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peer {
    /// The address by which the instance reaches the host.
    pub address: String,
    /// A TCP port of the host reserved for this instance; the instance reaches it at `address`.
    pub port: u16,
    /// The address of the host to listen on, so that the instance reaches it: `127.0.0.1`, `::`.
    #[serde(default = "loopback")]
    pub listen: String,
}

fn loopback() -> String {
    "127.0.0.1".into()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParseInput {
    /// The name of the `together` action.
    pub round: String,
    pub instance: Instance,
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Wall-clock seconds of the program, by the controller's clock.
    pub wall_s: f64,
}

impl ParseInput {
    /// How the program ended, for messages: `ended with exit code 1`.
    #[must_use]
    pub fn ending(&self) -> String {
        match self.exit {
            Some(code) => format!("ended with exit code {code}"),
            None => "was ended by a signal or its deadline".into(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParseOutput {
    pub samples: Vec<ParsedSample>,
    /// What a person should know about them.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Versions of the tools that made the output: `{"bonnie++": "2.00a"}`.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
}

/// A value of one of the offer's metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParsedSample {
    /// A name among the offer's metrics.
    pub metric: String,
    #[serde(flatten)]
    pub value: SampleValue,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

impl ParsedSample {
    /// A measured value of `metric`.
    #[must_use]
    pub fn measured(metric: &MetricSpec, value: f64) -> Self {
        Self { metric: metric.name.clone(), value: SampleValue::Measured(value), flags: Vec::new() }
    }
}
