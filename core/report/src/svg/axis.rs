//! A scale from zero.
//!
//! Owns the choice of round ticks. It must never draw.

/// The end of a scale and the distance of its ticks.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub end: f64,
    step: f64,
}

impl Axis {
    /// From zero to a round number that is at least `longest`.
    pub fn to(longest: f64) -> Self {
        if longest <= 0.0 || !longest.is_finite() {
            return Self { end: 1.0, step: 1.0 };
        }
        // Long tick texts need more room.
        let rough = longest / if longest >= 10_000.0 { 3.0 } else { 4.0 };
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        Self { end: (longest / step).ceil() * step, step }
    }

    /// Where a value lies, as a share (0..=1) of the scale.
    pub fn share(&self, value: f64) -> f64 {
        (value / self.end).clamp(0.0, 1.0)
    }

    /// Ticks with texts of equal decimals.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> + use<> {
        let step = self.step;
        let decimals = (0..9).find(|d| {
            let scaled = step * 10f64.powi(*d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        let place = -decimals.unwrap_or(9);
        let count = (self.end / step).round() as usize;
        (0..=count).map(move |i| i as f64 * step).map(move |v| (v, crate::number::rounded(v, place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        let ticks = |longest| Axis::to(longest).ticks().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(ticks(93.0), ["0", "25", "50", "75", "100"]);
        assert_eq!(ticks(58_590.0), ["0", "20,000", "40,000", "60,000"]);
        assert_eq!(ticks(0.7), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(ticks(0.0), ["0", "1"]);
        assert_eq!(ticks(f64::INFINITY), ["0", "1"]);
    }
}
