//! The report as CSV: one row for each metric of each cell, at full precision.
//!
//! Owns the columns. It must never leave a reader to guess whether an empty field is a zero: `state` says what
//! the row holds.

use crossvisor_analysis::{CellReport, Comparison, Estimate, MetricComparison, Row};
use crossvisor_model::{Better, CellId, Name, RunRecord};

use crate::ReportError;
use crate::clean::one_line;
use crate::table::{is_compared, reason, verdict};

/// The header. Values from `mean` to `balance_max` are in `unit`; shares and ratios are numbers, 1 being 100 %;
/// empty means unknown or without sense. `state` is `measured`, `partly`, `too_fast` or `missing`; `too_fast`
/// and `missing` count values; several `accel`, `flags` and `reasons` are separated by `; `.
pub const COLUMNS: [&str; 42] = [
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
    "state",
    "n",
    "mean",
    "sd",
    "relative_sd",
    "ci95_low",
    "ci95_high",
    "median",
    "min",
    "max",
    "total_mean",
    "balance_min",
    "balance_max",
    "baseline",
    "ratio",
    "ratio_ci95_low",
    "ratio_ci95_high",
    "too_fast",
    "missing",
    "failed_replicates",
    "accel",
    "flags",
    "reasons",
    "mad",
    "harmonic_mean",
    "jain",
    "p_holm",
    "hedges_g",
    "cliffs_delta",
    "verdict",
    "verdict_reason",
    "replicates_needed",
];

/// The comparison as CSV of RFC 4180 (lines end in CR LF) with the header [`COLUMNS`].
///
/// # Errors
/// [`ReportError::Csv`] when the writer fails, which memory does not.
pub fn csv(record: &RunRecord, comparison: &Comparison) -> Result<String, ReportError> {
    let compared = is_compared(comparison);
    let rows = comparison.workloads.iter().flat_map(|workload| {
        workload.metrics.iter().flat_map(move |metric| {
            metric.rows.iter().zip(&workload.cells).map(move |(row, cell)| {
                let baseline = row.baseline.as_ref().filter(|_| compared);
                fields(record, metric, row, cell, baseline)
            })
        })
    });
    sheet(&COLUMNS, rows)
}

/// A header and rows as CSV of RFC 4180.
///
/// # Errors
/// [`ReportError::Csv`] when the writer fails, which memory does not.
pub(crate) fn sheet<const N: usize>(
    header: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Result<String, ReportError> {
    let failed = |error: &dyn std::fmt::Display| ReportError::Csv(error.to_string());
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(header).map_err(|e| failed(&e))?;
    for row in rows {
        writer.write_record(row).map_err(|e| failed(&e))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(&e))?;
    String::from_utf8(bytes).map_err(|e| failed(&e))
}

fn fields(
    record: &RunRecord,
    metric: &MetricComparison,
    row: &Row,
    cell: &CellReport,
    baseline: Option<&CellId>,
) -> [String; 42] {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let summary = row.estimate.summary();
    let interval = summary.and_then(|summary| summary.interval);
    let ratio = row.ratio.and_then(|ratio| ratio.interval);
    let (state, missing, reasons) = state(row);
    let reasons =
        if reasons.is_empty() { cell.problems.iter().map(|p| p.reason.clone()).collect() } else { reasons };
    [
        free(&record.name),
        row.axes.workload.to_string(),
        row.axes.host.to_string(),
        row.axes.hypervisor.to_string(),
        row.axes.storage.as_ref().map_or(String::new(), Name::to_string),
        row.axes.guests.to_string(),
        free(&metric.spec.name),
        free(&metric.spec.label),
        free(&metric.spec.unit),
        better(metric.spec.better).to_string(),
        state.to_string(),
        summary.map_or(0, |summary| summary.n).to_string(),
        number(summary.map(|s| s.mean)),
        number(summary.and_then(|s| s.sd)),
        number(summary.and_then(|s| s.relative_sd)),
        number(interval.map(|i| i.low)),
        number(interval.map(|i| i.high)),
        number(summary.map(|s| s.median)),
        number(summary.map(|s| s.min)),
        number(summary.map(|s| s.max)),
        number(row.total_mean),
        number(row.balance.map(|b| b.min)),
        number(row.balance.map(|b| b.max)),
        baseline.map_or(String::new(), ToString::to_string),
        number(row.ratio.map(|r| r.value)),
        number(ratio.map(|i| i.low)),
        number(ratio.map(|i| i.high)),
        row.estimate.too_fast().to_string(),
        missing.to_string(),
        cell.problems.len().to_string(),
        cell.accel.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        list(row.flags.iter().map(|flag| flag.text.as_str())),
        list(reasons.iter().map(String::as_str)),
        number(summary.map(|s| s.mad)),
        number(row.harmonic_mean),
        number(row.balance.and_then(|b| b.jain)),
        number(row.tests.and_then(|tests| tests.p_holm)),
        number(row.tests.and_then(|tests| tests.hedges_g)),
        number(row.tests.and_then(|tests| tests.ranks).map(|ranks| ranks.cliffs_delta)),
        row.verdict.map_or("", verdict).to_string(),
        row.verdict.map_or("", reason).to_string(),
        row.needed.map_or(String::new(), |needed| needed.to_string()),
    ]
}

/// The state, the number of missing values, and why they are.
fn state(row: &Row) -> (&'static str, usize, Vec<String>) {
    match &row.estimate {
        Estimate::Measured { .. } => ("measured", 0, Vec::new()),
        Estimate::Partly { missing, .. } => ("partly", *missing, Vec::new()),
        Estimate::TooFast { .. } => ("too_fast", 0, Vec::new()),
        Estimate::Missing { reasons } => {
            ("missing", row.replicates.iter().map(|r| r.instances.len()).sum(), reasons.clone())
        }
    }
}

pub fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    }
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    free(&texts.collect::<Vec<_>>().join("; "))
}

/// Foreign text on one line; what a spreadsheet would take for a formula gets an apostrophe before it.
pub fn free(text: &str) -> String {
    let text = one_line(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}
