//! From a run's record to its comparison.
//!
//! Owns the order of the work: rows, ratios, verdicts, and what is said of a metric and of a setup as a whole.

use std::collections::BTreeMap;

use crossvisor_model::{Cell, CellStatus, MetricSpec, Name, Outcome, RunRecord, Sample};

use crate::index::{Index, counted};
use crate::repeats::needed;
use crate::rows::row;
use crate::suspect;
use crate::verdict::{LEVEL, LEVEL_ADAPTIVE, Rules};
use crate::{
    CellReport, Comparison, Drift, MetricComparison, Problem, Ratio, Row, WorkloadComparison, holm, judge,
    overall, scaling,
};

/// Compares every cell of a run with its baseline, for every metric. Samples of cells that are not in the
/// plan are left out.
#[must_use]
pub fn compare(record: &RunRecord) -> Comparison {
    compare_until(record, u32::MAX)
}

/// The comparison as it was after the block of replicate `last`.
pub(crate) fn compare_until(record: &RunRecord, last: u32) -> Comparison {
    let plan = &record.plan;
    let index = Index::of(record, last);
    let mut places: Vec<(&Name, Vec<usize>)> = Vec::new();
    let mut known = BTreeMap::new();
    for (place, cell) in plan.cells.iter().enumerate() {
        let workload = *known.entry(&cell.axes.workload).or_insert_with(|| {
            places.push((&cell.axes.workload, Vec::new()));
            places.len() - 1
        });
        places[workload].1.push(place);
    }
    let sources = places.into_iter().map(|(name, places)| Source::new(record, &index, name, places));
    let sources: Vec<Source<'_>> = sources.collect();
    let mut workloads: Vec<WorkloadComparison> = sources.iter().map(Source::workload).collect();
    let level = if plan.adaptive.is_some() { LEVEL_ADAPTIVE } else { LEVEL };
    let threshold = plan.threshold.map(|share| share.0);
    let baselines: Vec<&[Option<usize>]> = sources.iter().map(|source| &*source.baselines).collect();
    judge::judge(&mut workloads, &baselines, Rules { level, threshold });
    correct_drifts(&mut workloads);
    suspect::mark(record, &mut workloads);
    let overall = overall::overall(&workloads, &plan.baseline);
    Comparison { baseline: plan.baseline.clone(), threshold, level, workloads, overall }
}

/// What the record has of one workload.
struct Source<'a> {
    record: &'a RunRecord,
    index: &'a Index<'a>,
    name: &'a Name,
    /// Of its cells, in the plan.
    places: Vec<usize>,
    /// Of the baseline of each of its cells, among its cells.
    baselines: Vec<Option<usize>>,
}

impl<'a> Source<'a> {
    fn new(record: &'a RunRecord, index: &'a Index<'a>, name: &'a Name, places: Vec<usize>) -> Self {
        let own: BTreeMap<usize, usize> = places.iter().zip(0..).map(|(&place, own)| (place, own)).collect();
        let baseline = |&place: &usize| {
            let id = record.plan.baseline.of(&record.plan.cells[place].axes).id();
            own.get(&index.place(&id)?).copied()
        };
        let baselines = places.iter().map(baseline).collect();
        Self { record, index, name, places, baselines }
    }

    fn workload(&self) -> WorkloadComparison {
        let cells: Vec<CellReport> = self.places.iter().map(|&place| self.cell(place)).collect();
        let metrics = self.metrics().into_iter().map(|spec| self.metric(spec, &cells)).collect();
        WorkloadComparison { workload: self.name.clone(), metrics, cells }
    }

    /// The declared metrics that the scenario's options made the workload report, or that it always should; then
    /// those that samples have although none is declared.
    fn metrics(&self) -> Vec<MetricSpec> {
        let mut specs = self.record.metrics.get(self.name).cloned().unwrap_or_default();
        let mut reported: BTreeMap<&str, &Sample> = BTreeMap::new();
        for (metric, sample) in self.places.iter().flat_map(|&place| self.index.cells[place].metrics()) {
            reported.entry(metric).or_insert(sample);
        }
        specs.retain(|spec| spec.headline || reported.contains_key(&*spec.name));
        let others = reported.into_values().filter(|sample| !specs.iter().any(|s| *s.name == *sample.metric));
        let others: Vec<MetricSpec> = others.map(undeclared).collect();
        specs.extend(others);
        specs
    }

    fn cell(&self, place: usize) -> CellReport {
        let Cell { id, axes } = &self.record.plan.cells[place];
        let data = &self.index.cells[place];
        let warnings = counted(data.outcomes.iter().flat_map(|outcome| &outcome.warnings));
        CellReport {
            cell: id.clone(),
            axes: axes.clone(),
            good: data.outcomes.iter().filter(|outcome| outcome.status == CellStatus::Good).count(),
            problems: data.outcomes.iter().filter_map(|outcome| problem(outcome)).collect(),
            warnings: warnings.into_keys().cloned().collect(),
            accel: data.accel.iter().copied().collect(),
        }
    }

    fn metric(&self, spec: MetricSpec, cells: &[CellReport]) -> MetricComparison {
        let samples = |place: usize| self.index.cells[place].of_metric(&spec.name);
        let mut all = self.places.iter().flat_map(|&place| samples(place));
        let every_instance_reports = all.any(|sample| sample.instance > 1);
        let rows = self.places.iter().zip(cells).map(|(&place, cell)| {
            let instances = if every_instance_reports { cell.axes.guests } else { 1 };
            row(cell, samples(place), &spec, instances, self.record.plan.seed)
        });
        let mut rows: Vec<Row> = rows.collect();
        for (own, baseline) in self.baselines.iter().enumerate() {
            self.compare(&mut rows, own, *baseline);
        }
        let scaling = if every_instance_reports { scaling::curves(&rows, spec.better) } else { Vec::new() };
        MetricComparison { drift: Drift::of(&rows), scaling, spec, rows }
    }

    /// Gives a row its baseline, its ratio to that, and how many replicates would be precise enough.
    fn compare(&self, rows: &mut [Row], own: usize, baseline: Option<usize>) {
        let base = baseline.filter(|&baseline| baseline != own).map(|baseline| &rows[baseline]);
        let summaries = base.and_then(|base| rows[own].estimate.comparable().zip(base.estimate.comparable()));
        let ratio = summaries.and_then(|(own, base)| Ratio::of(own, base));
        let plan = &self.record.plan;
        let precision = plan.adaptive.map(|adaptive| adaptive.until).or(plan.threshold);
        let needed = precision.and_then(|share| needed(&rows[own], base, share.0));
        rows[own].baseline = baseline.map(|baseline| rows[baseline].cell.clone());
        (rows[own].ratio, rows[own].needed) = (ratio, needed);
    }
}

/// Adjusts the p values of all metrics' drifts.
fn correct_drifts(workloads: &mut [WorkloadComparison]) {
    let metrics = workloads.iter_mut().flat_map(|workload| &mut workload.metrics);
    let mut drifts: Vec<&mut Drift> = metrics.filter_map(|metric| metric.drift.as_mut()).collect();
    let p: Vec<f64> = drifts.iter().map(|drift| drift.p).collect();
    for (drift, p) in drifts.iter_mut().zip(holm(&p)) {
        drift.p_holm = p;
    }
}

fn undeclared(sample: &Sample) -> MetricSpec {
    MetricSpec {
        name: sample.metric.to_string(),
        label: sample.metric.to_string(),
        unit: sample.unit.to_string(),
        better: sample.better,
        headline: false,
    }
}

fn problem(outcome: &Outcome) -> Option<Problem> {
    let (phase, reason) = match &outcome.status {
        CellStatus::Good => return None,
        CellStatus::Failed { phase, reason } => (Some(*phase), reason),
        CellStatus::Skipped { reason } => (None, reason),
    };
    Some(Problem { replicate: outcome.replicate, phase, reason: reason.clone() })
}
