//! How a mean compares with the mean of its baseline.
//!
//! Owns the ratio and its interval. It must never pass a verdict.

use serde::{Deserialize, Serialize};

use crate::summary::{Interval, Summary, t_975};

/// A mean as a share of its baseline's mean: 1 is 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    pub value: f64,
    /// `None` when either side has fewer than two replicates or a mean that is not above 0.
    pub interval: Option<Interval>,
}

impl Ratio {
    /// `None` when the baseline's mean is 0.
    ///
    /// The interval is by the delta method on the logarithm of the ratio (the log response ratio of Hedges,
    /// Gurevitch and Curtis, Ecology 80:1150, 1999), with the degrees of freedom of Welch (1947) and
    /// Satterthwaite (1946). With vᵢ = sdᵢ² / (nᵢ meanᵢ²):
    ///
    /// ratio · exp(± t(0.975, ν) · √(v₁ + v₂)), ν = (v₁ + v₂)² / (v₁²/(n₁-1) + v₂²/(n₂-1))
    ///
    /// Chosen over Fieller's interval because that one has no bounds when the baseline is noisy and n is 2 or 3.
    #[must_use]
    pub fn of(summary: &Summary, baseline: &Summary) -> Option<Self> {
        let value = summary.mean / baseline.mean;
        value.is_finite().then(|| Self { value, interval: interval(value, summary, baseline) })
    }
}

fn interval(ratio: f64, a: &Summary, b: &Summary) -> Option<Interval> {
    let half = half_width((log_variance(a)?, a.n), (log_variance(b)?, b.n))?;
    Some(Interval { low: ratio / half.exp(), high: ratio * half.exp() }).filter(|i| i.high.is_finite())
}

/// The variance of the logarithm of the mean, to first order.
fn log_variance(summary: &Summary) -> Option<f64> {
    let sd = summary.sd.filter(|_| summary.mean > 0.0)?;
    Some((sd / summary.mean).powi(2) / summary.n as f64)
}

/// Half of the 95 % interval of the difference of two estimates, of which the variance and the number of values are
/// given: by Student's t with the degrees of freedom of Welch and Satterthwaite.
pub(crate) fn half_width((va, na): (f64, usize), (vb, nb): (f64, usize)) -> Option<f64> {
    let variance = va + vb;
    if variance == 0.0 {
        return Some(0.0);
    }
    let freedom = variance.powi(2) / (va.powi(2) / (na - 1) as f64 + vb.powi(2) / (nb - 1) as f64);
    Some(t_975(freedom)? * variance.sqrt())
}
