//! What a plugin says of itself before it is asked to do anything.

use serde::{Deserialize, Serialize};

use crate::{Better, Name, OptionKind, OptionSpec, Options};

/// A plugin's description of itself, the same for every way of loading it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// `hypervisor-kvm`, `storage-file` …
    pub name: Name,
    /// The plugin's own version.
    pub version: String,
    pub kind: Kind,
    /// One line for people.
    pub summary: String,
    pub offers: Vec<Offer>,
}

/// The kinds of plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Hypervisor,
    Storage,
    Workload,
    Telemetry,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Hypervisor => "hypervisor",
            Self::Storage => "storage",
            Self::Workload => "workload",
            Self::Telemetry => "telemetry",
        })
    }
}

/// One thing a scenario can name: a hypervisor variant, a backing, a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Offer {
    /// The axis value: `kvm-virtio`, `file`, `bonnie`.
    pub name: Name,
    pub summary: String,
    #[serde(default)]
    pub options: Vec<OptionSpec>,
    /// Workloads, and telemetry that imports: the metrics it can report, in the order a report shows them. An option
    /// of the type `metrics` adds to them.
    #[serde(default)]
    pub metrics: Vec<MetricSpec>,
    /// Programs that must be on the host for this offer.
    #[serde(default)]
    pub host_programs: Vec<String>,
    /// Programs that must be in the guest (and, for the baseline, on the host).
    #[serde(default)]
    pub guest_programs: Vec<String>,
    /// True: it is asked to `stage` once on each host of a run, before the first guest. Hypervisors and storage only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stages: bool,
    /// True: its volumes are inspected every few seconds while the guests work, because they can be spoiled by it.
    /// Storage only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub watched: bool,
    /// True: its guests start from their own disk, by the boot loader's configuration in their image, not from the kernel
    /// and initrd of the domain's description. What makes a clone itself is then on a small disk, the domain's last.
    /// Hypervisors only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own_boot: bool,
    /// True: it reads results that its tool printed elsewhere, for `crossvisor import`. Workloads and telemetry only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub imports: bool,
    /// True: no scenario can use it; all it does is import.
    #[serde(default, skip_serializing_if = "is_false")]
    pub only_imported: bool,
    /// True: the page caches of the guests and of the host are emptied before each of its rounds, because what is in
    /// them would be measured instead. Workloads only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub drops_caches: bool,
    /// Hypervisors and telemetry only: the libvirt drivers on which it works, as URIs begin: `qemu`, `xen`. Empty: on any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drivers: Vec<String>,
}

impl Offer {
    /// An offer with a name and a summary, and nothing else.
    #[must_use]
    pub fn new(name: Name, summary: &str) -> Self {
        Self {
            name,
            summary: summary.into(),
            options: Vec::new(),
            metrics: Vec::new(),
            host_programs: Vec::new(),
            guest_programs: Vec::new(),
            stages: false,
            watched: false,
            own_boot: false,
            imports: false,
            only_imported: false,
            drops_caches: false,
            drivers: Vec::new(),
        }
    }

    /// Whether a scenario describes metrics of its own for it.
    #[must_use]
    pub fn takes_metrics(&self) -> bool {
        self.options.iter().any(|option| matches!(option.kind, OptionKind::Metrics { .. }))
    }

    /// The metrics of this offer with these options: its own, then those that an option describes.
    #[must_use]
    pub fn metrics_with(&self, options: &Options) -> Vec<MetricSpec> {
        let describes = |option: &&OptionSpec| matches!(option.kind, OptionKind::Metrics { .. });
        let lists = self.options.iter().filter(describes).filter_map(|option| options.get(&option.name));
        let described = lists.filter_map(|list| Vec::<MetricSpec>::deserialize(list).ok()).flatten();
        self.metrics.iter().cloned().chain(described).collect()
    }
}

// serde's `skip_serializing_if` hands a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// One metric of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricSpec {
    /// `write`, `rewrite`, `in`, `wall` …
    pub name: String,
    /// A heading for people: `sequential write, block`.
    pub label: String,
    /// `KiB/s`, `Mbit/s`, `s`, `cycles` …
    pub unit: String,
    pub better: Better,
    /// True for the metrics a summary and the charts show.
    #[serde(default)]
    pub headline: bool,
}

impl MetricSpec {
    /// A metric that is not a headline.
    pub fn new(name: impl Into<String>, label: impl Into<String>, unit: &str, better: Better) -> Self {
        Self { name: name.into(), label: label.into(), unit: unit.into(), better, headline: false }
    }

    #[must_use]
    pub fn headline(mut self) -> Self {
        self.headline = true;
        self
    }
}
