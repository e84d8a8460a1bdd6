//! Whether the machine changed while the run went on.
//!
//! Owns the test of a metric's values against the order of the blocks. The order within a block is random, so a drift
//! favours no setup; but it widens every interval, and whoever reads the figures should know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::Row;
use crate::summary::mean;

/// As many values as Kendall's exact distribution is used for.
const EXACT: usize = 33;
/// Four blocks in a row rise by chance too often.
const LEAST_BLOCKS: usize = 5;

/// How a metric went with the blocks of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drift {
    pub blocks: usize,
    /// Kendall's tau-b of the number of the block and its mean deviation: -1 (falls all the time) to 1.
    pub tau: f64,
    /// Two-sided: the probability of a `tau` at least this far from 0 without a drift.
    pub p: f64,
    /// `p` after Holm's correction over the metrics of the run.
    pub p_holm: f64,
    /// By how much of its value the metric changed from the first block to the last: the median of the slopes between
    /// any two blocks (P. K. Sen, J. Am. Stat. Assoc. 63:1379, 1968).
    pub change: f64,
}

impl Drift {
    /// Of the rows of one metric. Each value counts as its relative distance from its row's mean, each block as the
    /// mean over its rows. `None` for fewer than five blocks. `p_holm` is still `p`.
    #[must_use]
    pub fn of(rows: &[Row]) -> Option<Self> {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for row in rows {
            let Some(summary) = row.estimate.comparable().filter(|summary| summary.mean > 0.0) else {
                continue;
            };
            for replicate in &row.replicates {
                let deviation = replicate.mean.map(|value| value / summary.mean - 1.0);
                blocks.entry(replicate.replicate).or_default().extend(deviation);
            }
        }
        let points: Vec<(f64, f64)> = blocks
            .into_iter()
            .filter_map(|(block, deviations)| Some((f64::from(block), mean(&deviations)?)))
            .collect();
        if points.len() < LEAST_BLOCKS {
            return None;
        }
        let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        let (tau, p) = kendall(&values)?;
        let span = points[points.len() - 1].0 - points[0].0;
        Some(Self { blocks: points.len(), tau, p, p_holm: p, change: slope(&points) * span })
    }
}

/// Kendall's tau-b of the values and their order, and its two-sided p (M. G. Kendall, Biometrika 30:81, 1938): exact
/// without ties, else by the normal approximation. `None` when all values are the same.
#[must_use]
pub fn kendall(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let (mut rising, mut falling) = (0_usize, 0_usize);
    for (index, early) in values.iter().enumerate() {
        rising += values[index + 1..].iter().filter(|&late| late > early).count();
        falling += values[index + 1..].iter().filter(|&late| late < early).count();
    }
    let pairs = n * n.saturating_sub(1) / 2;
    let untied = (rising + falling) as f64;
    let difference = rising as f64 - falling as f64;
    let tau = difference / (untied.sqrt() * (pairs as f64).sqrt());
    let p = match rising + falling == pairs && n <= EXACT {
        true => exact(n, rising.min(falling)),
        false => (2.0 * Normal::standard().sf(difference.abs() / variance(values).sqrt())).min(1.0),
    };
    (untied > 0.0).then_some((tau, p))
}

/// Twice the share of the orders of `n` values that have at most `least` inversions.
fn exact(n: usize, least: usize) -> f64 {
    let mut shares = vec![1.0];
    for length in 2..=n {
        let mut longer = vec![0.0; shares.len() + length - 1];
        for (inversions, share) in shares.iter().enumerate() {
            for more in &mut longer[inversions..inversions + length] {
                *more += share / length as f64;
            }
        }
        shares = longer;
    }
    (2.0 * shares[..=least].iter().sum::<f64>()).min(1.0)
}

/// The variance of the difference between rising and falling pairs.
fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties = sorted.chunk_by(|a, b| a == b).map(|same| same.len() as f64);
    let tied: f64 = ties.map(|t| t * (t - 1.0) * (2.0 * t + 5.0)).sum();
    (n * (n - 1.0) * (2.0 * n + 5.0) - tied) / 18.0
}

/// The median slope between any two of at least two points.
#[must_use]
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let mut slopes: Vec<f64> = points
        .iter()
        .enumerate()
        .flat_map(|(index, (x1, y1))| points[index + 1..].iter().map(move |(x2, y2)| (y2 - y1) / (x2 - x1)))
        .collect();
    slopes.sort_by(f64::total_cmp);
    let n = slopes.len();
    f64::midpoint(slopes[(n - 1) / 2], slopes[n / 2])
}
