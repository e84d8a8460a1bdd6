//! The interval of a mean from the values themselves, without a distribution assumed.
//!
//! Owns the resampling, which is the same for the same seed on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::summary::{Interval, mean};

/// Below this the resampled means are too few and too alike for an interval.
pub const LEAST: usize = 8;
const RESAMPLES: usize = 1999;

/// The 95 % interval of the mean by the bootstrap, bias-corrected and accelerated (B. Efron, J. Am. Stat. Assoc.
/// 82:171, 1987), from 1999 resamples. `None` for fewer than [`LEAST`] values or values that are all the same.
#[must_use]
pub fn mean_interval(values: &[f64], seed: u64) -> Option<Interval> {
    if values.len() < LEAST {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean(values, &mut rng)).collect();
    bca(values, means)
}

fn resampled_mean(values: &[f64], rng: &mut ChaCha8Rng) -> f64 {
    let n = values.len() as u64;
    let mut pick = || values[((u64::from(rng.next_u32()) * n) >> 32) as usize];
    (0..n).map(|_| pick()).sum::<f64>() / n as f64
}

/// The interval that these resampled means give. With z₀ the normal quantile of the share of them below the mean and
/// a = Σd³ / (6 (Σd²)^1.5) of the distances d of the values from their mean (by which the jackknife's are scaled), the
/// ends are the quantiles Φ(z₀ + (z₀ ± z) / (1 - a (z₀ ± z))), z = 1.96.
#[must_use]
pub fn bca(values: &[f64], mut means: Vec<f64>) -> Option<Interval> {
    let normal = Normal::standard();
    let centre = mean(values)?;
    means.sort_by(f64::total_cmp);
    let below = means.partition_point(|&mean| mean < centre);
    let until = means.partition_point(|&mean| mean <= centre);
    let z0 = normal.inverse_cdf((below + until) as f64 / (2 * means.len()) as f64);
    let moment = |power: i32| values.iter().map(|value| (value - centre).powi(power)).sum::<f64>();
    let acceleration = moment(3) / (6.0 * moment(2).powf(1.5));
    let z = normal.inverse_cdf(0.975);
    let end = |z: f64| {
        let share = normal.cdf(z0 + (z0 + z) / (1.0 - acceleration * (z0 + z)));
        share.is_finite().then(|| quantile(&means, share))
    };
    Some(Interval { low: end(-z)?, high: end(z)? })
}

/// Between the two nearest of the sorted values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}
