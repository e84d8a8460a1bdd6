//! The comparison of a run's cells, as data.
//!
//! Owns the shape that reports are made of. It must never compute: that is `compare`'s part.

use crossvisor_model::{Accel, Axes, Baseline, CellId, MetricSpec, Name, Phase, Value};
use serde::{Deserialize, Serialize};

use crate::{Estimate, Ratio};

/// Everything a report shows of the numbers of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub baseline: Baseline,
    /// In the order of the plan.
    pub workloads: Vec<WorkloadComparison>,
}

impl Comparison {
    /// True where any value was measured under emulation.
    #[must_use]
    pub fn emulated(&self) -> bool {
        self.workloads.iter().flat_map(|w| &w.cells).any(|cell| cell.accel.contains(&Accel::Tcg))
    }
}

/// One workload over all its cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadComparison {
    pub workload: Name,
    pub cells: Vec<CellReport>,
    /// In the order of the workload's offer; metrics it does not declare follow by name.
    pub metrics: Vec<MetricComparison>,
}

/// What came of a cell, whatever it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellReport {
    pub cell: CellId,
    pub axes: Axes,
    /// Replicates that came to a good end.
    pub good: usize,
    /// Replicates that did not.
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
    /// How the machines executed instructions; more than one when the replicates differ.
    pub accel: Vec<Accel>,
}

/// Why a replicate is not good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    pub replicate: u32,
    /// `None`: not tried.
    pub phase: Option<Phase>,
    pub reason: String,
}

/// One metric over all cells of its workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricComparison {
    #[serde(flatten)]
    pub spec: MetricSpec,
    /// One for each of the workload's cells, in the same order.
    pub rows: Vec<Row>,
}

/// One metric in one cell. Values are in the metric's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub cell: CellId,
    pub axes: Axes,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// What the estimate is made of.
    pub replicates: Vec<Replicate>,
    /// Rates (`…/s`) of several guests: the mean over replicates of the sum over guests.
    pub total_mean: Option<f64>,
    /// Several guests only.
    pub balance: Option<Balance>,
    /// The cell this one is compared with; `None` where the plan has no such cell. A baseline names itself.
    pub baseline: Option<CellId>,
    /// `None` for the baseline itself, and where either side has no numbers fit to be compared.
    pub ratio: Option<Ratio>,
    pub flags: Vec<Flag>,
}

impl Row {
    /// True where the cell is what others are compared with.
    #[must_use]
    pub fn is_baseline(&self) -> bool {
        self.baseline.as_ref() == Some(&self.cell)
    }
}

/// The values of one replicate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replicate {
    pub replicate: u32,
    /// Over its instances; `None` where an instance has no number.
    pub mean: Option<f64>,
    pub instances: Vec<InstanceValue>,
}

/// One sample's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceValue {
    pub instance: u32,
    #[serde(flatten)]
    pub value: Value,
}

/// How evenly the guests of a cell did: the least and the greatest of the guests' own means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    pub min: f64,
    pub max: f64,
}

/// A reason to doubt values, and how many samples carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    pub text: String,
    pub samples: usize,
}
