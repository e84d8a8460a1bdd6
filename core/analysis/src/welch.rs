//! Whether two means differ by more than their spread explains, and by how many standard deviations.
//!
//! Owns Welch's t test and Hedges' g. It must never pass a verdict.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::ln_gamma;

use crate::Summary;

/// Welch's t test of two means (B. L. Welch, Biometrika 34:28, 1947), two-sided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Welch {
    /// (mean₁ - mean₂) / √(s₁²/n₁ + s₂²/n₂)
    pub t: f64,
    /// Degrees of freedom after Satterthwaite.
    pub freedom: f64,
    /// The probability of a `t` at least this large where the means are the same.
    pub p: f64,
}

impl Welch {
    /// `None` when either side has fewer than two values, or neither has any spread.
    #[must_use]
    pub fn of(a: &Summary, b: &Summary) -> Option<Self> {
        let square = |summary: &Summary| Some(summary.sd?.powi(2) / summary.n as f64);
        let (va, vb) = (square(a)?, square(b)?);
        let variance = va + vb;
        let freedom = variance.powi(2) / (va.powi(2) / (a.n - 1) as f64 + vb.powi(2) / (b.n - 1) as f64);
        let t = (a.mean - b.mean) / variance.sqrt();
        let p = 2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t.abs());
        Some(Self { t, freedom, p }).filter(|_| variance > 0.0)
    }
}

/// Hedges' g: the difference of the means in pooled standard deviations, corrected for small samples by the exact
/// factor Γ(m/2) / (√(m/2) Γ((m-1)/2)), m = n₁ + n₂ - 2 (L. V. Hedges, J. Educ. Stat. 6:107, 1981).
///
/// `None` when either side has fewer than two values, or neither has any spread.
#[must_use]
pub fn hedges_g(a: &Summary, b: &Summary) -> Option<f64> {
    let squares = |summary: &Summary| Some(summary.sd?.powi(2) * (summary.n - 1) as f64);
    let freedom = (a.n + b.n).checked_sub(2)? as f64;
    let pooled = ((squares(a)? + squares(b)?) / freedom).sqrt();
    let factor = (ln_gamma(freedom / 2.0) - ln_gamma((freedom - 1.0) / 2.0)).exp() / (freedom / 2.0).sqrt();
    Some(factor * (a.mean - b.mean) / pooled).filter(|_| pooled > 0.0)
}
