//! What happened, as it happened: the lines of a run's event log, and what came of each cell.

use serde::{Deserialize, Serialize};

use crate::{CellId, Name};

/// The phases of a visit, in order. Each has a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Create,
    Boot,
    Prepare,
    Run,
    Collect,
    Destroy,
}

impl Phase {
    pub const ALL: [Self; 6] =
        [Self::Create, Self::Boot, Self::Prepare, Self::Run, Self::Collect, Self::Destroy];
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Create => "create",
            Self::Boot => "boot",
            Self::Prepare => "prepare",
            Self::Run => "run",
            Self::Collect => "collect",
            Self::Destroy => "destroy",
        })
    }
}

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// Seconds since the run started, by the controller's monotonic clock.
    pub at_s: f64,
    #[serde(flatten)]
    pub event: Event,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// `visits` is how many stays at machines the run has at least.
    RunStarted {
        run: String,
        visits: usize,
    },
    /// The run goes on after it had stopped; `visits` are left at least.
    RunResumed {
        run: String,
        visits: usize,
    },
    /// Something a person should know that belongs to no guest: `no usable KVM: emulating`.
    Notice {
        text: String,
    },
    /// A guest image is being built: once for each stage.
    Building {
        image: String,
        stage: String,
    },
    /// A host of the scenario is being made: once for each stage.
    MakingHost {
        host: Name,
        stage: String,
    },
    /// `setup` reads `here/kvm-virtio/file/2`.
    VisitStarted {
        visit: usize,
        setup: String,
        replicate: u32,
        guests: u32,
    },
    /// Some cells are not precise enough yet: they get one more replicate, in so many visits more.
    Repeating {
        replicate: u32,
        cells: usize,
        visits: usize,
    },
    PhaseStarted {
        visit: usize,
        phase: Phase,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cell: Option<CellId>,
    },
    PhaseEnded {
        visit: usize,
        phase: Phase,
        seconds: f64,
    },
    /// One guest reached the end of a phase.
    GuestReached {
        visit: usize,
        guest: u32,
        phase: Phase,
        seconds: f64,
    },
    StepStarted {
        visit: usize,
        guest: Option<u32>,
        say: String,
    },
    /// The instances of a measured round were let go; `skew_s` is from the first to the last of them.
    Released {
        visit: usize,
        cell: CellId,
        round: String,
        skew_s: f64,
    },
    CellEnded {
        visit: usize,
        outcome: Outcome,
    },
    VisitEnded {
        visit: usize,
    },
    /// The run was told to stop; this visit and those after it are not tried.
    Interrupted {
        visit: usize,
    },
    RunEnded {
        failed: usize,
    },
}

/// What came of one replicate of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub cell: CellId,
    /// From 1.
    pub replicate: u32,
    #[serde(flatten)]
    pub status: CellStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Good, or why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum CellStatus {
    Good,
    Failed {
        phase: Phase,
        reason: String,
    },
    /// Not tried: the run was interrupted first.
    Skipped {
        reason: String,
    },
}
