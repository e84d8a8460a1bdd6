//! Numbers as people read them.
//!
//! Owns rounding: never more digits than the spread of the replicates supports, at most four, thousands
//! separated by commas. Full precision is for CSV and JSON.

use crossvisor_analysis::{Interval, Summary};

/// A power of ten that a whole metric is shown in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub divisor: f64,
    /// Goes before the unit: `million `.
    word: &'static str,
}

impl Scale {
    /// The scale in which the largest of these values has at most seven digits before the point.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let largest = values.map(f64::abs).fold(0.0, f64::max);
        let steps = [(1e7, 1.0, ""), (1e10, 1e6, "million "), (f64::INFINITY, 1e9, "billion ")];
        let fits = |&&(limit, _, _): &&(f64, f64, &str)| largest < limit;
        let &(_, divisor, word) = steps.iter().find(fits).unwrap_or(&steps[2]);
        Self { divisor, word }
    }

    /// `KiB/s`, `million cycles`.
    pub fn unit(self, unit: &str) -> String {
        format!("{}{unit}", self.word)
    }
}

/// The power of ten of a number's first digit; 0 for 0.
fn magnitude(value: f64) -> i32 {
    if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 }
}

/// The power of ten of the last digit worth showing of a mean: the second digit of its SD, but never less than
/// two and never more than four digits in all; three where the spread is not known. A plain 0 has one digit.
pub fn place(summary: &Summary, scale: Scale) -> i32 {
    let first = magnitude(summary.mean / scale.divisor);
    match summary.sd {
        None | Some(0.0) if summary.mean == 0.0 => 0,
        None => first - 2,
        Some(0.0) => first - 3,
        Some(sd) => (first - 3).max(magnitude(sd / scale.divisor) - 1).min(first - 1),
    }
}

/// A value rounded to the power of ten `place`, with commas.
pub fn rounded(value: f64, place: i32) -> String {
    let unit = 10f64.powi(place.max(0));
    let decimals = usize::try_from(-place).unwrap_or(0);
    let value = if place > 0 { (value / unit).round() * unit } else { value };
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, fraction) = digits.find('.').map_or((digits, ""), |dot| digits.split_at(dot));
    let zero = digits.chars().all(|c| matches!(c, '0' | '.'));
    format!("{}{}{fraction}", if zero { "" } else { sign }, with_commas(whole))
}

fn with_commas(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A value with this many significant digits.
pub fn significant(value: f64, digits: i32) -> String {
    rounded(value, magnitude(value) - digits + 1)
}

/// `56,960–59,710`
pub fn interval(interval: Interval, place: i32, scale: Scale) -> String {
    let show = |value: f64| rounded(value / scale.divisor, place);
    format!("{}–{}", show(interval.low), show(interval.high))
}

/// A share as a percentage in three digits, without its sign: `96.2`. What no picture could hold is `>9,999`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p > 9_999.0 => ">9,999".to_string(),
        p if p > 0.0 && p < 0.1 => "<0.1".to_string(),
        p => rounded(p, (magnitude(p) - 2).clamp(-2, 0)),
    }
}

/// SD/E: `1.5 %`, `0.12 %`.
pub fn relative_sd(share: f64) -> String {
    format!("{} %", rounded(share * 100.0, (magnitude(share * 100.0) - 1).clamp(-2, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_and_grouped() {
        for (value, place, expected) in [
            (58_336.25, 1, "58,340"),
            (58_336.25, -1, "58,336.2"),
            (1_234_567.0, 3, "1,235,000"),
            (999.6, 0, "1,000"),
            (-1.706, -1, "-1.7"),
            (-0.04, -1, "0.0"),
            (0.0, 0, "0"),
            (-1234.0, 0, "-1,234"),
            (0.001_234, -5, "0.00123"),
        ] {
            assert_eq!(rounded(value, place), expected);
        }
        assert_eq!(significant(0.012_345, 3), "0.0123");
        assert_eq!(significant(98_765.0, 2), "99,000");
    }

    #[test]
    fn a_mean_has_no_more_digits_than_its_spread_supports() {
        let show = |values: &[f64]| {
            let summary = Summary::of(values).expect("values");
            rounded(summary.mean, place(&summary, Scale::of(values.iter().copied())))
        };
        assert_eq!(show(&[58_412.0]), "58,400");
        assert_eq!(show(&[58_412.0, 58_411.0]), "58,410");
        assert_eq!(show(&[58_412.0, 50_000.0]), "54,200");
        assert_eq!(show(&[58_412.0, 1.0]), "29,000");
        assert_eq!(show(&[2.0, 2.0]), "2.000");
        assert_eq!([show(&[0.0, 0.0]), show(&[0.0])], ["0", "0"]);
    }

    #[test]
    fn large_metrics_are_shown_in_millions() {
        let scale = Scale::of([29_100_000.0, 31_000_000.0].into_iter());
        assert_eq!((scale.divisor, scale.unit("cycles").as_str()), (1e6, "million cycles"));
        assert_eq!(Scale::of([9_999_999.0].into_iter()).unit("KiB/s"), "KiB/s");
        assert_eq!(Scale::of([3e12].into_iter()).unit("cycles"), "billion cycles");
        assert_eq!(Scale::of(std::iter::empty()).divisor, 1.0);
    }

    #[test]
    fn shares() {
        let shown = [0.0, 0.0001, 0.0962, 0.962_44, 1.0, 1.009, 12.345, 1e6].map(percent);
        assert_eq!(shown, ["0.00", "<0.1", "9.62", "96.2", "100", "101", "1,234", ">9,999"]);
        assert_eq!(
            [0.0148, 0.0012, 0.5, 1.3, 0.0].map(relative_sd),
            ["1.5 %", "0.12 %", "50 %", "130 %", "0.0 %"]
        );
    }
}
