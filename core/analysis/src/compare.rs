//! From a run's record to its comparison.
//!
//! Owns how samples are gathered into replicates and replicates into rows. It must never average in a value
//! that is not a number, nor count a replicate in which an instance gave none.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_model::{
    Accel, Cell, CellId, CellStatus, MetricSpec, Name, Outcome, RunRecord, Sample, Value,
};

use crate::summary::mean;
use crate::{
    Balance, CellReport, Comparison, Estimate, Flag, InstanceValue, MetricComparison, Problem, Ratio,
    Replicate, Row, Summary, WorkloadComparison,
};

/// The samples and outcomes of a record, by what they belong to.
struct Index<'a> {
    record: &'a RunRecord,
    cells: BTreeSet<&'a CellId>,
    samples: BTreeMap<&'a CellId, BTreeMap<&'a str, Vec<&'a Sample>>>,
    outcomes: BTreeMap<&'a CellId, Vec<&'a Outcome>>,
    accel: BTreeMap<&'a CellId, BTreeSet<Accel>>,
}

/// Compares every cell of a run with its baseline, for every metric. Samples of cells that are not in the
/// plan are left out.
#[must_use]
pub fn compare(record: &RunRecord) -> Comparison {
    let index = Index::of(record);
    let mut workloads: Vec<&Name> = Vec::new();
    for cell in &record.plan.cells {
        if !workloads.contains(&&cell.axes.workload) {
            workloads.push(&cell.axes.workload);
        }
    }
    Comparison {
        baseline: record.plan.baseline.clone(),
        workloads: workloads.into_iter().map(|workload| index.workload(workload)).collect(),
    }
}

impl<'a> Index<'a> {
    fn of(record: &'a RunRecord) -> Self {
        let cells = record.plan.cells.iter().map(|cell| &cell.id).collect();
        let mut index = Self {
            record,
            cells,
            samples: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            accel: BTreeMap::new(),
        };
        for sample in &record.samples {
            let of_cell = index.samples.entry(&sample.cell).or_default();
            of_cell.entry(&sample.metric).or_default().push(sample);
            index.accel.entry(&sample.cell).or_default().insert(sample.accel);
        }
        for setup in &record.setups {
            index.accel.entry(&setup.cell).or_default().insert(setup.accel);
        }
        for outcome in &record.outcomes {
            index.outcomes.entry(&outcome.cell).or_default().push(outcome);
        }
        index
    }

    fn samples(&self, cell: &CellId, metric: &str) -> &[&'a Sample] {
        self.samples.get(cell).and_then(|of_cell| of_cell.get(metric)).map_or(&[], Vec::as_slice)
    }

    fn workload(&self, workload: &Name) -> WorkloadComparison {
        let of_workload = |cell: &&Cell| &cell.axes.workload == workload;
        let cells: Vec<&Cell> = self.record.plan.cells.iter().filter(of_workload).collect();
        let reports: Vec<CellReport> = cells.iter().map(|cell| self.cell(cell)).collect();
        let metrics = self.metrics(workload, &cells);
        WorkloadComparison {
            workload: workload.clone(),
            metrics: metrics.into_iter().map(|spec| self.metric(spec, &reports)).collect(),
            cells: reports,
        }
    }

    /// The declared metrics that the scenario's options made the workload report, or that it always should; then
    /// those that samples have although none is declared.
    fn metrics(&self, workload: &Name, cells: &[&Cell]) -> Vec<MetricSpec> {
        let mut specs = self.record.metrics.get(workload).cloned().unwrap_or_default();
        let mut others: BTreeMap<&str, &Sample> = BTreeMap::new();
        for (&metric, samples) in cells.iter().filter_map(|cell| self.samples.get(&cell.id)).flatten() {
            if !specs.iter().any(|spec| spec.name == metric) {
                others.extend(samples.first().map(|sample| (metric, *sample)));
            }
        }
        let reported =
            |spec: &MetricSpec| cells.iter().any(|cell| !self.samples(&cell.id, &spec.name).is_empty());
        specs.retain(|spec| spec.headline || reported(spec));
        specs.extend(others.into_values().map(undeclared));
        specs
    }

    fn cell(&self, cell: &Cell) -> CellReport {
        let outcomes = self.outcomes.get(&cell.id).map_or(&[][..], Vec::as_slice);
        let warnings = outcomes.iter().flat_map(|outcome| &outcome.warnings);
        CellReport {
            cell: cell.id.clone(),
            axes: cell.axes.clone(),
            good: outcomes.iter().filter(|outcome| outcome.status == CellStatus::Good).count(),
            problems: outcomes.iter().filter_map(|outcome| problem(outcome)).collect(),
            warnings: counted(warnings).into_iter().map(|flag| flag.text).collect(),
            accel: self.accel.get(&cell.id).into_iter().flatten().copied().collect(),
        }
    }

    fn metric(&self, spec: MetricSpec, cells: &[CellReport]) -> MetricComparison {
        let all = |cell: &CellReport| self.samples(&cell.cell, &spec.name).iter();
        let every_instance_reports = cells.iter().flat_map(all).any(|sample| sample.instance > 1);
        let instances = |cell: &CellReport| if every_instance_reports { cell.axes.guests } else { 1 };
        let mut rows: Vec<Row> = cells
            .iter()
            .map(|cell| self.row(cell, self.samples(&cell.cell, &spec.name), &spec, instances(cell)))
            .collect();
        let comparable: BTreeMap<CellId, Summary> = rows
            .iter()
            .filter_map(|row| Some((row.cell.clone(), row.estimate.comparable()?.clone())))
            .collect();
        for row in rows.iter_mut().filter(|row| !row.is_baseline()) {
            let baseline = row.baseline.as_ref().and_then(|id| comparable.get(id));
            row.ratio = baseline.zip(row.estimate.comparable()).and_then(|(b, own)| Ratio::of(own, b));
        }
        MetricComparison { spec, rows }
    }

    /// A row without its ratio.
    fn row(&self, cell: &CellReport, samples: &[&Sample], spec: &MetricSpec, instances: u32) -> Row {
        let replicates = replicates(samples, instances);
        let baseline = self.record.plan.baseline.of(&cell.axes).id();
        Row {
            cell: cell.cell.clone(),
            axes: cell.axes.clone(),
            estimate: estimate(&replicates, instances, cell),
            total_mean: spec.unit.ends_with("/s").then(|| total_mean(&replicates)).flatten(),
            balance: balance(&replicates),
            baseline: self.cells.contains(&baseline).then_some(baseline),
            ratio: None,
            flags: counted(samples.iter().flat_map(|sample| &sample.flags)),
            replicates,
        }
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

/// Each text once, in alphabetical order, with how often it occurs.
fn counted<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<Flag> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts.into_iter().map(|(text, samples)| Flag { text: text.clone(), samples }).collect()
}

/// Gathers the samples of one metric in one cell; each replicate should have `instances` of them.
fn replicates(samples: &[&Sample], instances: u32) -> Vec<Replicate> {
    let mut values: BTreeMap<u32, BTreeMap<u32, Value>> = BTreeMap::new();
    for sample in samples {
        values.entry(sample.replicate).or_default().insert(sample.instance, finite(&sample.value));
    }
    let gather = |(replicate, values): (u32, BTreeMap<u32, Value>)| {
        let numbers: Vec<f64> = values.values().filter_map(Value::measured).collect();
        Replicate {
            replicate,
            mean: mean(&numbers).filter(|_| numbers.len() == instances.max(1) as usize),
            instances: values
                .into_iter()
                .map(|(instance, value)| InstanceValue { instance, value })
                .collect(),
        }
    };
    values.into_iter().map(gather).collect()
}

/// A number that is none is a missing value.
fn finite(value: &Value) -> Value {
    match value {
        Value::Measured(number) if !number.is_finite() => Value::Missing(format!("{number} is not a number")),
        _ => value.clone(),
    }
}

fn estimate(replicates: &[Replicate], instances: u32, cell: &CellReport) -> Estimate {
    let (mut measured, mut too_fast, mut reasons) = (0, 0, Vec::new());
    for InstanceValue { value, .. } in replicates.iter().flat_map(|replicate| &replicate.instances) {
        match value {
            Value::Measured(_) => measured += 1,
            Value::TooFast => too_fast += 1,
            Value::Missing(reason) => reasons.push(reason),
        }
    }
    let means: Vec<f64> = replicates.iter().filter_map(|replicate| replicate.mean).collect();
    match Summary::of(&means) {
        Some(summary) if means.len() == replicates.len() => Estimate::Measured { summary },
        _ if measured == 0 && too_fast == 0 => Estimate::Missing { reasons: missing_reasons(&reasons, cell) },
        _ if measured == 0 && reasons.is_empty() => Estimate::TooFast { too_fast },
        summary => {
            let expected = replicates.len() * instances.max(1) as usize;
            Estimate::Partly { summary, too_fast, missing: expected.saturating_sub(measured + too_fast) }
        }
    }
}

/// Why there is no value: what the samples say, else what the cell says.
fn missing_reasons(samples: &[&String], cell: &CellReport) -> Vec<String> {
    let mut reasons: Vec<String> =
        counted(samples.iter().copied()).into_iter().map(|flag| flag.text).collect();
    if reasons.is_empty() {
        reasons.extend(cell.problems.iter().map(|problem| problem.reason.clone()));
        reasons.dedup();
    }
    if reasons.is_empty() {
        reasons.push("the workload reported no value".to_string());
    }
    reasons
}

/// The mean over complete replicates of the sum over their instances; `None` for a single instance.
fn total_mean(replicates: &[Replicate]) -> Option<f64> {
    let total = |replicate: &Replicate| Some(replicate.mean? * replicate.instances.len() as f64);
    let several = replicates.iter().any(|replicate| replicate.instances.len() > 1);
    mean(&replicates.iter().filter_map(total).collect::<Vec<_>>()).filter(|_| several)
}

/// Over complete replicates; `None` for a single instance.
fn balance(replicates: &[Replicate]) -> Option<Balance> {
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for replicate in replicates.iter().filter(|replicate| replicate.mean.is_some()) {
        for instance in &replicate.instances {
            values.entry(instance.instance).or_default().extend(instance.value.measured());
        }
    }
    let means: Vec<f64> = values.values().filter_map(|values| mean(values)).collect();
    let of = |pick: fn(f64, f64) -> f64| means.iter().copied().reduce(pick);
    of(f64::min).zip(of(f64::max)).filter(|_| means.len() > 1).map(|(min, max)| Balance { min, max })
}
