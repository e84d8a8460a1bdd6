//! One figure for a setup over all its workloads.
//!
//! Owns the geometric means. A figure is never made of other workloads than its baseline's.

use std::collections::BTreeMap;

use crossvisor_model::{Axes, Baseline, Better, Name};
use serde::{Deserialize, Serialize};

use crate::ratio::half_width;
use crate::{Interval, MetricComparison, Ratio, Row, Summary, WorkloadComparison};

/// How a setup does beside its baseline over several workloads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overall {
    /// Those of the setup; the workload is the first of `workloads`.
    pub axes: Axes,
    /// Those that count: with every headline metric measured in all replicates, here and at the baseline.
    pub workloads: Vec<Name>,
    /// The geometric mean over these workloads of the geometric means over their headline metrics of the ratio to the
    /// baseline, turned over where lower is better: above 1 is better. Ratios have no other mean that does not depend on
    /// what they are ratios to (P. J. Fleming and J. J. Wallace, Commun. ACM 29:218, 1986). The interval is of the
    /// replicates' own geometric means, so that it holds however the metrics of a replicate depend on each other.
    pub ratio: Ratio,
}

/// The score of each replicate (its logarithm) in one workload of one setup.
type Scores = BTreeMap<u32, f64>;
type Setup<'a> = (&'a Name, &'a Name, Option<&'a Name>, u32);

fn setup(axes: &Axes) -> Setup<'_> {
    (&axes.host, &axes.hypervisor, axes.storage.as_ref(), axes.guests)
}

/// For every setup that has another one as its baseline and two or more workloads to compare.
pub(crate) fn overall(workloads: &[WorkloadComparison], baseline: &Baseline) -> Vec<Overall> {
    let mut setups: BTreeMap<Setup<'_>, (&Axes, BTreeMap<&Name, Scores>)> = BTreeMap::new();
    for workload in workloads {
        for (index, cell) in workload.cells.iter().enumerate() {
            let Some(scores) = scores(workload, index) else { continue };
            let (_, own) = setups.entry(setup(&cell.axes)).or_insert((&cell.axes, BTreeMap::new()));
            own.insert(&workload.workload, scores);
        }
    }
    let of_setup = |(axes, own): &(&Axes, BTreeMap<&Name, Scores>)| {
        let other = baseline.of(axes);
        let (_, base) = setups.get(&setup(&other)).filter(|_| !axes.same_setup(&other))?;
        let shared: Vec<&Name> = own.keys().copied().filter(|name| base.contains_key(name)).collect();
        let ratio = ratio(&joined(own, &shared), &joined(base, &shared)).filter(|_| shared.len() > 1)?;
        Some(Overall {
            axes: Axes { workload: (*shared.first()?).clone(), ..(*axes).clone() },
            workloads: shared.into_iter().cloned().collect(),
            ratio,
        })
    };
    setups.values().filter_map(of_setup).collect()
}

/// The mean logarithm of the headline metrics in each replicate, turned over where lower is better; `None` unless all of
/// them are above 0 in the same replicates.
fn scores(workload: &WorkloadComparison, index: usize) -> Option<Scores> {
    let counts = |metric: &&MetricComparison| metric.spec.headline && metric.spec.better != Better::Neither;
    let metrics: Vec<&MetricComparison> = workload.metrics.iter().filter(counts).collect();
    let mut sums: BTreeMap<u32, (f64, usize)> = BTreeMap::new();
    for metric in &metrics {
        let row = &metric.rows[index];
        row.estimate.comparable()?;
        let sign = if metric.spec.better == Better::Higher { 1.0 } else { -1.0 };
        for (replicate, value) in values(row) {
            let sum = sums.entry(replicate).or_default();
            *sum = (sum.0 + sign * value.ln(), sum.1 + 1);
        }
    }
    let complete = sums.values().all(|(sum, count)| sum.is_finite() && *count == metrics.len());
    let scores: Scores = sums.into_iter().map(|(replicate, (sum, n))| (replicate, sum / n as f64)).collect();
    (complete && !scores.is_empty()).then_some(scores)
}

fn values(row: &Row) -> impl Iterator<Item = (u32, f64)> {
    row.replicates.iter().filter_map(|replicate| Some((replicate.replicate, replicate.mean?)))
}

/// The mean over the workloads in each replicate that all of them have.
fn joined(scores: &BTreeMap<&Name, Scores>, workloads: &[&Name]) -> Vec<f64> {
    let own: Vec<&Scores> = workloads.iter().filter_map(|name| scores.get(name)).collect();
    let Some((first, others)) = own.split_first() else { return Vec::new() };
    let score = |(replicate, score): (&u32, &f64)| {
        let rest: Option<f64> = others.iter().map(|scores| scores.get(replicate)).sum();
        Some((score + rest?) / own.len() as f64)
    };
    first.iter().filter_map(score).collect()
}

/// Of the geometric means: the difference of the means of the logarithms, and its interval by Welch's t.
fn ratio(own: &[f64], base: &[f64]) -> Option<Ratio> {
    let (own, base) = (Summary::of(own)?, Summary::of(base)?);
    let square = |summary: &Summary| Some((summary.sd?.powi(2) / summary.n as f64, summary.n));
    let difference = own.mean - base.mean;
    let half = square(&own).zip(square(&base)).and_then(|(own, base)| half_width(own, base));
    let interval =
        half.map(|half| Interval { low: (difference - half).exp(), high: (difference + half).exp() });
    Some(Ratio { value: difference.exp(), interval })
}
