//! Correction for many comparisons.

/// The p values adjusted by Holm's method (S. Holm, Scand. J. Stat. 6:65, 1979): where all that are at most α are
/// called real, the chance of any false call is at most α, however the tests depend on each other.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let (mut adjusted, mut greatest) = (vec![0.0; p.len()], 0.0_f64);
    for (done, index) in order.into_iter().enumerate() {
        greatest = greatest.max((p[index] * (p.len() - done) as f64).min(1.0));
        adjusted[index] = greatest;
    }
    adjusted
}
