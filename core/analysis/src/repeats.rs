//! How many replicates a precision takes, and which cells of a run still need one.
//!
//! Owns the rule of adaptive repeats. It is a function of the plan and the samples of earlier blocks alone, so that a
//! run that is taken up again decides as it would have before.

use std::collections::BTreeSet;

use crossvisor_model::RunRecord;

use crate::compare::compare_until;
use crate::summary::t_975;
use crate::{Comparison, Ratio, Row, Summary};

/// More are never asked for.
const MOST: u32 = 100_000;

/// Either half of the 95 % interval of a mean, as a share of it; `None` where the mean has no interval or is not above 0.
#[must_use]
pub fn half_width(summary: &Summary) -> Option<f64> {
    let interval = summary.interval.filter(|_| summary.mean > 0.0)?;
    Some((interval.high - interval.low) / 2.0 / summary.mean)
}

/// The upper half of the 95 % interval of a ratio, which is the wider one, as a share of the ratio.
#[must_use]
pub fn half_width_of_ratio(ratio: Ratio) -> Option<f64> {
    ratio.interval.map(|interval| interval.high / ratio.value - 1.0)
}

/// How many replicates of the same spread bring [`half_width`] to `target`.
#[must_use]
pub fn replicates_for(pilot: &Summary, target: f64) -> Option<u32> {
    let spread = pilot.relative_sd.filter(|_| pilot.mean > 0.0)?;
    fewest(|n| Some(t_975(n - 1.0)? * spread / n.sqrt() <= target))
}

/// How many replicates of each of two cells, of the same spreads, bring [`half_width_of_ratio`] to `target`.
#[must_use]
pub fn replicates_for_ratio(own: &Summary, base: &Summary, target: f64) -> Option<u32> {
    let square = |summary: &Summary| Some(summary.relative_sd.filter(|_| summary.mean > 0.0)?.powi(2));
    let (a, b) = (square(own)?, square(base)?);
    if a + b == 0.0 {
        return Some(2);
    }
    let share = (a + b).powi(2) / (a * a + b * b);
    fewest(|n| Some((t_975(share * (n - 1.0))? * ((a + b) / n).sqrt()).exp_m1() <= target))
}

/// The least number from 2 that is enough, where every greater one is enough too; at most [`MOST`].
fn fewest(enough: impl Fn(f64) -> Option<bool>) -> Option<u32> {
    let (mut least, mut most) = (2, MOST);
    while least < most {
        let middle = least + (most - least) / 2;
        if enough(f64::from(middle))? {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    Some(least)
}

/// The cells (as indices into the plan's) that get replicate number `replicate`: all up to the plan's `repeat`; beyond
/// it those with a headline metric that the replicates before do not tell precisely enough, and the baselines of these.
/// Samples of this block and of later ones are not looked at.
#[must_use]
pub fn due(record: &RunRecord, replicate: u32) -> BTreeSet<usize> {
    let plan = &record.plan;
    if replicate <= plan.repeat {
        return (0..plan.cells.len()).collect();
    }
    let Some(adaptive) = plan.adaptive.filter(|adaptive| replicate <= adaptive.max) else {
        return BTreeSet::new();
    };
    let ids = imprecise(&compare_until(record, replicate - 1), adaptive.until.0);
    (0..plan.cells.len()).filter(|&index| ids.contains(&*plan.cells[index].id.0)).collect()
}

/// The cells whose headline metrics are not within `target`, and their baselines.
fn imprecise(comparison: &Comparison, target: f64) -> BTreeSet<String> {
    let metrics = comparison.workloads.iter().flat_map(|workload| &workload.metrics);
    let rows = metrics.filter(|metric| metric.spec.headline).flat_map(|metric| &metric.rows);
    let mut cells = BTreeSet::new();
    for row in rows.filter(|row| is_imprecise(row, target)) {
        cells.insert(row.cell.0.to_string());
        cells.extend(row.ratio.and(row.baseline.as_ref()).map(|baseline| baseline.0.to_string()));
    }
    cells
}

/// A single replicate is never precise; what has no number is not made better by one more.
fn is_imprecise(row: &Row, target: f64) -> bool {
    let Some(summary) = row.estimate.comparable() else { return false };
    let width = match row.ratio {
        Some(ratio) => half_width_of_ratio(ratio),
        None => half_width(summary),
    };
    width.map_or(summary.n < 2, |width| width > target)
}

/// How many replicates a row needs for its ratio to `base` or, without one, its mean to be within `target`; `None` where
/// it has as many already, or where its spread is not known.
pub(crate) fn needed(own: &Row, base: Option<&Row>, target: f64) -> Option<u32> {
    let summary = own.estimate.comparable()?;
    let needed = match base.and_then(|base| base.estimate.comparable()) {
        Some(base) => replicates_for_ratio(summary, base, target),
        None => replicates_for(summary, target),
    };
    needed.filter(|&needed| needed as usize > summary.n && target > 0.0)
}
