//! Values that lie far from their like.
//!
//! Owns the rule by which they are pointed out. They are never removed.

use crate::Summary;

/// Fewer values have no middle to be far from.
const LEAST: usize = 5;
/// The limit of Iglewicz and Hoaglin (How to Detect and Handle Outliers, ASQC 1993) for 0.6745 (value - median) / MAD.
const LIMIT: f64 = 3.5;
const SCALE: f64 = 0.6745;

/// True where a value of the summary's list lies far out. Where more than half of the values are the same, none does.
#[must_use]
pub fn is_outlier(value: f64, summary: &Summary) -> bool {
    let distance = SCALE * (value - summary.median).abs();
    summary.n >= LEAST && summary.mad > 0.0 && distance > LIMIT * summary.mad
}
