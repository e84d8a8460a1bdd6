//! The comparison of a run's cells, as data.
//!
//! Owns the shape that reports are made of. It must never compute: that is `compare`'s part.

use crossvisor_model::{Accel, Axes, Baseline, CellId, MetricSpec, Name, Phase, Value};
use serde::{Deserialize, Serialize};

use crate::{Balance, Drift, Estimate, Interval, Overall, Ratio, Scaling, Tests, Verdict};

/// Everything a report shows of the numbers of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    pub baseline: Baseline,
    /// Differences smaller than this share do not matter.
    pub threshold: Option<f64>,
    /// The chance of a false verdict in each family of comparisons that is put up with.
    pub level: f64,
    /// In the order of the plan.
    pub workloads: Vec<WorkloadComparison>,
    /// Setups over all workloads.
    pub overall: Vec<Overall>,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadComparison {
    pub workload: Name,
    pub cells: Vec<CellReport>,
    /// In the order of the workload's offer; metrics it does not declare follow by name.
    pub metrics: Vec<MetricComparison>,
}

/// What came of a cell, whatever it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    pub replicate: u32,
    /// `None`: not tried.
    pub phase: Option<Phase>,
    pub reason: String,
}

/// One metric over all cells of its workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricComparison {
    #[serde(flatten)]
    pub spec: MetricSpec,
    /// One for each of the workload's cells, in the same order.
    pub rows: Vec<Row>,
    /// By number of guests; where every guest has a value of its own.
    pub scaling: Vec<Scaling>,
    /// `None` for runs with too few blocks to tell.
    pub drift: Option<Drift>,
}

/// One metric in one cell. Values are in the metric's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    pub cell: CellId,
    pub axes: Axes,
    #[serde(flatten)]
    pub estimate: Estimate,
    /// What the estimate is made of.
    pub replicates: Vec<Replicate>,
    /// Rates (`…/s`) of several guests: the mean over replicates of the sum over guests.
    pub total_mean: Option<f64>,
    /// Rates above 0 only: the rate of all the work together where every replicate did the same work; where every
    /// replicate took the same time, the mean is that.
    pub harmonic_mean: Option<f64>,
    /// The interval of the mean by the bootstrap, where outliers make the one by Student's t doubtful.
    pub bootstrap: Option<Interval>,
    /// Several guests only.
    pub balance: Option<Balance>,
    /// The cell this one is compared with; `None` where the plan has no such cell. A baseline names itself.
    pub baseline: Option<CellId>,
    /// `None` for the baseline itself, and where either side has no numbers fit to be compared.
    pub ratio: Option<Ratio>,
    pub tests: Option<Tests>,
    /// Against the baseline; `None` for the baseline itself, without one, and for metrics that are no score.
    pub verdict: Option<Verdict>,
    /// How many replicates would be precise enough; `None` where they are, or where nobody said what that is.
    pub needed: Option<u32>,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replicate {
    pub replicate: u32,
    /// Over its instances; `None` where an instance has no number.
    pub mean: Option<f64>,
    /// True where every instance was too fast to measure.
    pub too_fast: bool,
    /// True where `mean` lies far from those of the other replicates; it counts as any other.
    pub outlier: bool,
    pub instances: Vec<InstanceValue>,
}

/// One sample's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstanceValue {
    pub instance: u32,
    #[serde(flatten)]
    pub value: Value,
}

/// A reason to doubt values, and how many samples carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flag {
    pub text: String,
    pub samples: usize,
}
