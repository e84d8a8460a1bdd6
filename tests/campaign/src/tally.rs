//! The table: points, leaks, losses and wrong touches by kind of point and by what was done after it.

use std::collections::BTreeMap;
use std::fmt;

use crate::trial::Found;
use crate::{After, Point};

/// Numbers of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    points: usize,
    killed: usize,
    leaks: usize,
    losses: usize,
    touches: usize,
}

impl Row {
    fn add(&mut self, other: Self) {
        self.points += other.points;
        self.killed += other.killed;
        self.leaks += other.leaks;
        self.losses += other.losses;
        self.touches += other.touches;
    }
}

impl From<&Found> for Row {
    fn from(found: &Found) -> Self {
        Self {
            points: 1,
            killed: usize::from(found.killed),
            leaks: found.leaks.len(),
            losses: found.losses.len(),
            touches: found.touches.len(),
        }
    }
}

/// All trials so far.
#[derive(Clone, Debug, Default)]
pub struct Tally(BTreeMap<(&'static str, After), Row>);

impl Tally {
    pub fn add(&mut self, point: Point, after: After, found: &Found) {
        self.0.entry((point.kind(), after)).or_default().add(found.into());
    }

    fn total(&self) -> Row {
        let mut total = Row::default();
        self.0.values().for_each(|row| total.add(*row));
        total
    }

    /// Nothing leaked, was lost or wrongly touched, and something was tried.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let Row { killed, leaks, losses, touches, .. } = self.total();
        killed > 0 && leaks + losses + touches == 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, kind: &str, after: &dyn fmt::Display, row: &Row| {
            let Row { points, killed, leaks, losses, touches } = row;
            writeln!(f, "{kind:<13} {after:<24} {points:>6} {killed:>6} {leaks:>6} {losses:>7} {touches:>14}")
        };
        let (after, head) = ("then", ["points", "killed", "leaks", "losses", "wrong touches"]);
        let [points, killed, leaks, losses, touches] = head;
        writeln!(
            f,
            "{:<13} {after:<24} {points:>6} {killed:>6} {leaks:>6} {losses:>7} {touches:>14}",
            "killed at"
        )?;
        for ((kind, after), row) in &self.0 {
            line(f, kind, after, row)?;
        }
        line(f, "all", &"", &self.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_leak_is_one_too_many_and_so_is_nothing_tried() {
        let mut tally = Tally::default();
        assert!(!tally.is_good());
        let good = Found { killed: true, ..Found::default() };
        tally.add(Point::Journal(1), After::Clean, &good);
        assert!(tally.is_good());
        tally.add(Point::Event(1), After::Resume, &Found { leaks: vec!["file x".into()], ..good });
        assert!(!tally.is_good());
        assert!(tally.to_string().ends_with("      2      2      1       0              0\n"), "{tally}");
    }
}
