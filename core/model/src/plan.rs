//! A plan: the expanded cells of a scenario in the seeded order in which they will be visited.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{Axes, Bytes, Cell, CellId, HostSpec, Name, Options, Seconds, Share};

/// Everything a run needs to know; a pure function of scenario, catalogue and host facts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub scenario: Name,
    #[serde(default)]
    pub description: String,
    /// Seed of the order of visits.
    pub seed: u64,
    /// Replicates of each cell; the least of them where `adaptive` is set.
    pub repeat: u32,
    /// More replicates where `repeat` of them are not precise enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Adaptive>,
    pub hosts: BTreeMap<Name, HostSpec>,
    pub guest: GuestRequest,
    /// By axis value; `bare` is not among them.
    pub hypervisors: BTreeMap<Name, Use>,
    pub storages: BTreeMap<Name, Use>,
    pub workloads: BTreeMap<Name, Use>,
    pub cells: Vec<Cell>,
    /// All visits, block by block; with `adaptive`, those beyond `repeat` are made only for the cells that need them.
    pub order: Vec<Visit>,
    pub baseline: Baseline,
    /// Differences smaller than this do not matter to whoever asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Share>,
    pub deadlines: Deadlines,
    #[serde(default)]
    pub measuring: Measuring,
    /// What is asked while guests work, by the name of the offer.
    #[serde(default)]
    pub telemetry: BTreeMap<Name, Use>,
}

/// Replicates until the result is precise enough, or there are too many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    /// Replicates of a cell at most.
    pub max: u32,
    /// What either half of the 95 % interval of a headline metric may be, as a share of the value.
    pub until: Share,
}

/// The guest every cell uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuestRequest {
    /// A guest definition's name.
    pub image: Name,
    pub memory: Bytes,
    pub vcpus: u32,
}

/// One offer of a plugin with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Use {
    pub plugin: Name,
    pub offer: Name,
    pub options: Options,
}

/// One stay at a set of machines: they are made, the cells' workloads run one after another, they are removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// From 1.
    pub replicate: u32,
    /// Indices into `Plan::cells`, in the order they run; all of the same setup.
    pub cells: Vec<usize>,
}

/// Axes that a cell's baseline has instead of its own; `None` keeps the cell's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guests: Option<u32>,
}

impl Baseline {
    /// The axes of the cell that `axes` is compared with. A bare baseline has no storage.
    #[must_use]
    pub fn of(&self, axes: &Axes) -> Axes {
        let hypervisor = self.hypervisor.as_ref().unwrap_or(&axes.hypervisor).clone();
        let storage = match hypervisor.as_str() {
            Axes::BARE => None,
            _ => self.storage.clone().or_else(|| axes.storage.clone()),
        };
        Axes {
            host: self.host.as_ref().unwrap_or(&axes.host).clone(),
            hypervisor,
            storage,
            guests: self.guests.unwrap_or(axes.guests),
            workload: axes.workload.clone(),
        }
    }
}

/// How every cell is measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measuring {
    pub load: Load,
    pub warmup: Warmup,
    pub caches: Caches,
    /// So much is written into the work folder of each instance and deleted again before the work, so that its volume
    /// has its blocks already. `None`: what is measured may be their first write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill: Option<Bytes>,
}

/// What instances do that are done before the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Nothing.
    #[default]
    Once,
    /// Their work again and again until the last has done it once; only the first time counts.
    UntilAllFinish,
}

/// The work that is done and kept, but not counted, before a cell is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Warmup {
    /// The whole work so many times; 0 is none.
    Times(u32),
    /// The whole work again until so much time has passed.
    For(Seconds),
}

impl Default for Warmup {
    fn default() -> Self {
        Self::Times(0)
    }
}

/// What is done with page caches before rounds of workloads that their content would falsify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caches {
    /// The host's and the guests' are written back and emptied.
    #[default]
    Drop,
    /// Nothing.
    Keep,
}

/// How long each phase may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadlines {
    pub create: Seconds,
    pub boot: Seconds,
    pub prepare: Seconds,
    pub run: Seconds,
    pub collect: Seconds,
    pub destroy: Seconds,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            create: Seconds(300.0),
            boot: Seconds(300.0),
            prepare: Seconds(120.0),
            run: Seconds(3600.0),
            collect: Seconds(60.0),
            destroy: Seconds(60.0),
        }
    }
}

impl Visit {
    /// What is left of it, where these replicates of cells are done.
    #[must_use]
    pub fn without(&self, plan: &Plan, done: &BTreeSet<(CellId, u32)>) -> Self {
        let is_done = |index: &usize| {
            plan.cells.get(*index).is_some_and(|cell| done.contains(&(cell.id.clone(), self.replicate)))
        };
        let cells = self.cells.iter().copied().filter(|index| !is_done(index)).collect();
        Self { replicate: self.replicate, cells }
    }

    /// Whether nothing is left of it.
    #[must_use]
    pub fn is_done(&self, plan: &Plan, done: &BTreeSet<(CellId, u32)>) -> bool {
        self.without(plan, done).cells.is_empty()
    }
}

impl Plan {
    /// The setup of a visit, as the axes of its first cell; `None` for a visit without cells.
    #[must_use]
    pub fn setup(&self, visit: &Visit) -> Option<&Axes> {
        visit.cells.first().and_then(|&index| self.cells.get(index)).map(|cell| &cell.axes)
    }
}
