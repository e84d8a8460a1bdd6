//! How values spread: what a report of repetitions or copies says of them.
//!
//! Owns the formulas. It must never leave a value out.

/// The spread of some values, in their unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub mean: f64,
    /// Of the sample, with n - 1; `None` for one value.
    pub deviation: Option<f64>,
    pub min: f64,
    /// The mean of the middle two where their number is even.
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// `None` for no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        let deviation = (sorted.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        Some(Self { mean, deviation, min, median, max })
    }

    /// SD/E in per cent.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        self.deviation.filter(|_| self.mean != 0.0).map(|deviation| 100.0 * deviation / self.mean)
    }
}

/// The geometric mean, exp(mean of the logarithms); `None` unless all values are above 0 and there is one.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    weighted_geometric_mean(values.iter().map(|value| (*value, 1.0)))
}

/// The geometric mean of values with weights: exp(sum(w ln x) / sum(w)). `None` unless all values and the sum of the
/// weights are above 0.
#[must_use]
pub fn weighted_geometric_mean(values: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in values {
        if value.is_nan() || value <= 0.0 {
            return None;
        }
        sum += weight * value.ln();
        weights += weight;
    }
    (weights > 0.0).then(|| (sum / weights).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_are_those_of_a_sample() {
        let spread = Spread::of(&[4.0, 2.0, 9.0, 5.0]).expect("values");
        assert_eq!((spread.mean, spread.min, spread.median, spread.max), (5.0, 2.0, 4.5, 9.0));
        assert!((spread.deviation.expect("four") - (26.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((spread.relative().expect("four") - 58.878_405_775_5).abs() < 1e-9);
        let one = Spread::of(&[7.0]).expect("a value");
        assert_eq!((one.median, one.deviation, one.relative()), (7.0, None, None));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn geometric_means_need_values_above_nothing() {
        assert!((geometric_mean(&[2.0, 8.0]).expect("mean") - 4.0).abs() < 1e-12);
        assert!((weighted_geometric_mean([(2.0, 3.0), (32.0, 1.0)]).expect("mean") - 4.0).abs() < 1e-12);
        for bad in [&[1.0, 0.0][..], &[-1.0], &[f64::NAN], &[]] {
            assert_eq!(geometric_mean(bad), None);
        }
    }
}
