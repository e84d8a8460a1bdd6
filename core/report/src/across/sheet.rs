//! Runs side by side as CSV: one row for each metric of each cell that both have, at full precision.

use crossvisor_analysis::{Across, CellAcross, MetricAcross, RunAcross};
use crossvisor_model::Name;

use super::{reason, verdict, worded};
use crate::ReportError;
use crate::sheet::{better, free, sheet};

/// The header. Means are in `unit`, but that of a run with another unit, which is empty; differences are shares, 0.01
/// being 1 %; empty means unknown or not compared. Several `unlike` are separated by `; `.
pub const COLUMNS: [&str; 22] = [
    "baseline",
    "run",
    "workload",
    "host",
    "hypervisor",
    "storage",
    "guests",
    "metric",
    "label",
    "unit",
    "better",
    "baseline_n",
    "baseline_mean",
    "run_n",
    "run_mean",
    "difference",
    "difference_ci95_low",
    "difference_ci95_high",
    "p_holm",
    "verdict",
    "verdict_reason",
    "unlike",
];

/// The comparison as CSV of RFC 4180 (lines end in CR LF) with the header [`COLUMNS`].
///
/// # Errors
/// [`ReportError::Csv`] when the writer fails, which memory does not.
pub fn csv(across: &Across) -> Result<String, ReportError> {
    let cells = across.runs.iter().flat_map(|run| run.cells.iter().map(move |cell| (run, cell)));
    let rows = cells
        .flat_map(|(run, cell)| cell.metrics.iter().map(move |metric| fields(across, run, cell, metric)));
    sheet(&COLUMNS, rows)
}

fn fields(across: &Across, run: &RunAcross, cell: &CellAcross, metric: &MetricAcross) -> [String; 22] {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let axes = &cell.run.axes;
    let (base, own) = (metric.baseline.estimate.summary(), metric.run.estimate.summary());
    let (ratio, interval) = (metric.run.ratio, metric.run.ratio.and_then(|ratio| ratio.interval));
    let unlike: Vec<String> = cell.unlike.iter().chain(&metric.unlike).map(worded).collect();
    [
        free(&across.baseline),
        free(&run.run),
        axes.workload.to_string(),
        axes.host.to_string(),
        axes.hypervisor.to_string(),
        axes.storage.as_ref().map_or(String::new(), Name::to_string),
        axes.guests.to_string(),
        free(&metric.spec.name),
        free(&metric.spec.label),
        free(&metric.spec.unit),
        better(metric.spec.better).to_string(),
        base.map_or(0, |summary| summary.n).to_string(),
        number(base.map(|summary| summary.mean)),
        own.map_or(0, |summary| summary.n).to_string(),
        number(own.filter(|_| metric.unlike.is_empty()).map(|summary| summary.mean)),
        number(ratio.map(|ratio| ratio.value - 1.0)),
        number(interval.map(|interval| interval.low - 1.0)),
        number(interval.map(|interval| interval.high - 1.0)),
        number(metric.run.tests.and_then(|tests| tests.p_holm)),
        verdict(cell, metric, across.unlike_allowed).to_string(),
        reason(cell, metric, across.unlike_allowed).to_string(),
        free(&unlike.join("; ")),
    ]
}
