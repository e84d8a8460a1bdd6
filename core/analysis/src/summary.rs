//! Descriptive statistics of one list of numbers.
//!
//! Owns mean, spread and the interval of a mean. It must never see a value that was not measured.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A two-sided 95 % confidence interval, in the unit of what it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// What a list of replicates says; every value but `n` and `relative_sd` is in the unit of the metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Replicates, at least 1.
    pub n: usize,
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); `None` for n < 2.
    pub sd: Option<f64>,
    /// SD/E: `sd` as a share of the mean's size (1 is 100 %); `None` for n < 2 or a mean of 0.
    pub relative_sd: Option<f64>,
    /// mean ± t(0.975, n - 1) · sd / √n; `None` for n < 2.
    pub interval: Option<Interval>,
    pub median: f64,
    /// The median of the distances from the median, not scaled to a standard deviation.
    pub mad: f64,
    pub min: f64,
    pub max: f64,
}

impl Summary {
    /// `None` for an empty list. All values must be finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let n = sorted.len();
        let mean = mean(&sorted)?;
        let sd = (n > 1).then(|| {
            let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (n - 1) as f64).sqrt()
        });
        let interval = sd.and_then(|sd| {
            let half = t_975((n - 1) as f64)? * sd / (n as f64).sqrt();
            Some(Interval { low: mean - half, high: mean + half })
        });
        let median = middle(&sorted);
        let mut distances: Vec<f64> = sorted.iter().map(|value| (value - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        Some(Self {
            n,
            mean,
            sd,
            relative_sd: sd.filter(|_| mean != 0.0).map(|sd| sd / mean.abs()),
            interval,
            median,
            mad: middle(&distances),
            min,
            max,
        })
    }
}

/// The median of a sorted list that is not empty.
fn middle(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// The arithmetic mean; `None` for an empty list.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom; `None` when that is not above 0.
pub(crate) fn t_975(freedom: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|t| t.inverse_cdf(0.975))
}
