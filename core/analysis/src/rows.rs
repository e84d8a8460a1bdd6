//! Samples gathered into replicates, and replicates into one row of a metric.
//!
//! Owns what counts as a complete replicate. It must never average in a value that is not a number, nor count a
//! replicate in which an instance gave none.

use std::collections::BTreeMap;

use crossvisor_model::{MetricSpec, Sample, Value};

use crate::index::counted;
use crate::summary::mean;
use crate::{
    Balance, CellReport, Estimate, Flag, InstanceValue, Replicate, Row, Summary, bootstrap, is_outlier,
};

const FAR_OUT: &str = "a replicate lies far from the others";

/// A row before it is compared with another. Each replicate should have a value of each of the `instances`; `seed` is
/// that of the bootstrap.
pub(crate) fn row(
    cell: &CellReport,
    samples: &[&Sample],
    spec: &MetricSpec,
    instances: u32,
    seed: u64,
) -> Row {
    let mut replicates = replicates(samples, instances);
    let estimate = estimate(&replicates, instances, cell);
    if let Some(summary) = estimate.summary() {
        for replicate in &mut replicates {
            replicate.outlier = replicate.mean.is_some_and(|mean| is_outlier(mean, summary));
        }
    }
    let is_rate = spec.unit.ends_with("/s");
    let means: Vec<f64> = replicates.iter().filter_map(|replicate| replicate.mean).collect();
    let doubtful = replicates.iter().any(|replicate| replicate.outlier);
    Row {
        cell: cell.cell.clone(),
        axes: cell.axes.clone(),
        estimate,
        total_mean: total_mean(&replicates).filter(|_| is_rate),
        harmonic_mean: harmonic_mean(&means).filter(|_| is_rate),
        bootstrap: doubtful.then(|| bootstrap::mean_interval(&means, seed)).flatten(),
        balance: Balance::of(&replicates),
        baseline: None,
        ratio: None,
        tests: None,
        verdict: None,
        needed: None,
        flags: flags(samples, &replicates),
        replicates,
    }
}

/// What the samples say, and that some of them lie far out.
fn flags(samples: &[&Sample], replicates: &[Replicate]) -> Vec<Flag> {
    let flags = counted(samples.iter().flat_map(|sample| &sample.flags)).into_iter();
    let outliers = replicates.iter().filter(|replicate| replicate.outlier);
    let outliers: usize = outliers.map(|replicate| replicate.instances.len()).sum();
    let own = (outliers > 0).then(|| Flag { text: FAR_OUT.to_string(), samples: outliers });
    flags.map(|(text, samples)| Flag { text: text.clone(), samples }).chain(own).collect()
}

fn replicates(samples: &[&Sample], instances: u32) -> Vec<Replicate> {
    let mut values: BTreeMap<u32, BTreeMap<u32, Value>> = BTreeMap::new();
    for sample in samples {
        values.entry(sample.replicate).or_default().insert(sample.instance, finite(&sample.value));
    }
    let gather = |(replicate, values): (u32, BTreeMap<u32, Value>)| {
        let numbers: Vec<f64> = values.values().filter_map(Value::measured).collect();
        let expected = instances.max(1) as usize;
        Replicate {
            replicate,
            mean: mean(&numbers).filter(|_| numbers.len() == expected),
            too_fast: values.len() == expected && values.values().all(|value| *value == Value::TooFast),
            outlier: false,
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
    let mut reasons: Vec<String> = counted(samples.iter().copied()).into_keys().cloned().collect();
    if reasons.is_empty() {
        reasons.extend(cell.problems.iter().map(|problem| problem.reason.clone()));
        reasons.dedup();
    }
    if reasons.is_empty() {
        let told = if cell.good == 0 { "it was not tried" } else { "the workload reported no value" };
        reasons.push(told.to_string());
    }
    reasons
}

/// The mean over complete replicates of the sum over their instances; `None` for a single instance.
fn total_mean(replicates: &[Replicate]) -> Option<f64> {
    let total = |replicate: &Replicate| Some(replicate.mean? * replicate.instances.len() as f64);
    let several = replicates.iter().any(|replicate| replicate.instances.len() > 1);
    mean(&replicates.iter().filter_map(total).collect::<Vec<_>>()).filter(|_| several)
}

/// `None` unless all values are above 0.
fn harmonic_mean(values: &[f64]) -> Option<f64> {
    let inverse = mean(&values.iter().map(|value| 1.0 / value).collect::<Vec<_>>())?;
    values.iter().all(|&value| value > 0.0).then_some(1.0 / inverse)
}
