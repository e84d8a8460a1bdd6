//! Where numbers come from: what must be equal for two runs to be comparable.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Accel, CellId, Difference, Name, Volume};

/// The circumstances of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The program's version.
    pub crossvisor: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub hosts: BTreeMap<Name, HostFacts>,
    pub guest: GuestFacts,
    /// By plugin name.
    pub plugins: BTreeMap<Name, PluginFacts>,
    /// Where the results were measured elsewhere and imported; of hosts and guest nothing is known then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportFacts>,
}

impl Provenance {
    /// What is not the same in another run, or in a later part of this one. The time, and what was free on a host, differ
    /// always and are left out.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        Difference::between("", self, other, &["started", "staged"])
    }
}

/// What an imported run is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportFacts {
    /// The offer that read the files: `bonnie`.
    pub kind: Name,
    /// In the order they were read.
    pub files: Vec<ImportedFile>,
    /// The machines as the files name them, by the name they have in the run.
    pub machines: BTreeMap<Name, String>,
    /// Versions of the tools as their output tells, by cell.
    pub tools: BTreeMap<CellId, BTreeMap<String, BTreeSet<String>>>,
}

/// A file of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedFile {
    /// As it was asked for; `-` is standard input.
    pub name: String,
    /// Where the run directory has it, relative.
    pub kept: String,
    pub bytes: u64,
    pub sha256: String,
    pub results: usize,
    /// Parts of it that looked like results and were none.
    pub refused: usize,
}

/// A host as found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostFacts {
    pub uri: String,
    pub cpu_model: String,
    pub cpus: u32,
    pub memory_bytes: u64,
    pub kernel: String,
    pub os: String,
    pub governor: Option<String>,
    /// By name under /sys/devices/system/cpu/vulnerabilities.
    pub mitigations: BTreeMap<String, String>,
    /// What KVM was found to be: `usable`, or why not.
    pub kvm: String,
    pub accel: Option<Accel>,
    /// How the host itself is executed, where it is a guest that was made for the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer_accel: Option<Accel>,
    /// What the plugins found when they staged, by the name that the scenario uses: `xen version`, `dom0 vcpus`, `volume group size`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub staged: BTreeMap<Name, BTreeMap<String, String>>,
    /// `libvirt`, `qemu`, `bonnie++`, `iperf3` … as each prints its version.
    pub versions: BTreeMap<String, String>,
}

/// The guest as built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuestFacts {
    pub image: String,
    /// sha256 of the definition the image was built from.
    pub definition: String,
    pub kernel: String,
    pub memory_bytes: u64,
    pub vcpus: u32,
    /// Names and versions of the packages the workloads use.
    pub versions: BTreeMap<String, String>,
}

/// A plugin as loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PluginFacts {
    pub version: String,
    /// A path, or `linked into the program`.
    pub origin: String,
}

/// The circumstances of one replicate of a cell: a line of `setups.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetupFacts {
    pub cell: CellId,
    pub replicate: u32,
    pub accel: Accel,
    /// From the start of the visit until every guest answered over SSH.
    pub provision_s: f64,
    /// Root volumes, by guest.
    pub volumes: Vec<Volume>,
    /// Bytes really allocated by each volume at the end.
    pub allocated_bytes: Vec<Option<u64>>,
    /// Versions of the tools that did the work, as their own output tells.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// Skew of each measured round's release, in seconds, by round.
    pub skew_s: BTreeMap<String, f64>,
    /// Guest clock against controller clock over each round, in seconds gained by the guest, by instance.
    pub drift_s: BTreeMap<String, Vec<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_by_their_paths_and_times_are_none() {
        let host = |kernel: &str| HostFacts { kernel: kernel.into(), ..HostFacts::default() };
        let of = |kernel: &str, started: &str| Provenance {
            hosts: [(Name::new("here").expect("name"), host(kernel))].into(),
            started: started.into(),
            ..Provenance::default()
        };
        assert_eq!(of("6.1.0", "now").differences(&of("6.1.0", "then")), []);
        let differences = of("6.1.0", "now").differences(&of("6.1.1", "now"));
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].to_string(), "hosts.here.kernel: 6.1.0 before, 6.1.1 now");
    }
}
