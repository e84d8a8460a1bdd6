//! A verdict: whether a reader found what a claim says.
//!
//! Owns when two numbers are the same one. It must never round what was found before it compares.

use crate::{Claim, Row, claims};

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// What was found instead.
    Wrong(String),
    /// Why no reader of ours could tell.
    Cannot(&'static str),
}

/// A kind of file: how it is read, and what the words of its claims mean.
pub trait Kind {
    type Found;
    /// Reads a file as the product does.
    fn read(row: &Row, content: &[u8]) -> Self::Found;
    fn check(claim: &Claim, found: &Self::Found, row: &Row) -> Verdict;
}

/// Every claim of a row with its verdict.
pub type Judge = fn(&Row, &[u8]) -> Vec<(Claim, Verdict)>;

/// The [`Judge`] of a kind.
#[must_use]
pub fn judge<K: Kind>(row: &Row, content: &[u8]) -> Vec<(Claim, Verdict)> {
    let found = K::read(row, content);
    let verdict = |claim: Claim| {
        let verdict = K::check(&claim, &found, row);
        (claim, verdict)
    };
    claims(&row.expected).into_iter().map(verdict).collect()
}

impl Verdict {
    /// Right where `is_right`, else wrong with what was found.
    pub fn of(is_right: bool, found: impl ToString) -> Self {
        if is_right { Self::Right } else { Self::Wrong(found.to_string()) }
    }

    /// Whether `found` is the number that a person wrote as `written`: no further from it than half of its last digit.
    #[must_use]
    pub fn number(written: &str, found: Option<f64>) -> Self {
        let Some(found) = found else {
            return Self::Wrong("no number".into());
        };
        let digits = written.split(['e', 'E']).next().unwrap_or(written);
        let after_point = digits.split_once('.').map_or(0, |(_, after)| after.len());
        let half = 0.5 / 10_f64.powi(i32::try_from(after_point).unwrap_or(i32::MAX));
        let is_right =
            written.parse::<f64>().is_ok_and(|wanted| (found - wanted).abs() <= half * (1.0 + 1e-9));
        Self::of(is_right, found)
    }

    /// Whether `found` is this text.
    #[must_use]
    pub fn text(wanted: &str, found: Option<&str>) -> Self {
        Self::of(found == Some(wanted), found.unwrap_or("nothing"))
    }

    /// Right only where both are; else the first that is not.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == Self::Right { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_one_written_as_far_as_it_is_written() {
        for (written, found, right) in [
            ("20.1", 20.1, true),
            ("20.1", 20.149, true),
            ("20.1", 20.16, false),
            ("567", 56.7, false),
            ("18", 18.4, true),
            ("18", 18.6, false),
            ("x", 1.0, false),
        ] {
            assert_eq!(Verdict::number(written, Some(found)) == Verdict::Right, right, "{written} {found}");
        }
        assert_eq!(Verdict::number("1", None), Verdict::Wrong("no number".into()));
    }
}
