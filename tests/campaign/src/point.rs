//! Where a run is killed.

use std::fmt;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// One point of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// As soon as the journal has so many lines.
    Journal(usize),
    /// As soon as the run's events have so many lines: at the border of two actions.
    Event(usize),
    /// So long after its start.
    After(Duration),
}

impl Point {
    /// The kind, for the table.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Journal(_) => "journal line",
            Self::Event(_) => "event",
            Self::After(_) => "random time",
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(line) | Self::Event(line) => write!(f, "{} {line}", self.kind()),
            Self::After(time) => write!(f, "{:.3} s", time.as_secs_f64()),
        }
    }
}

/// How long a whole run is.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub journal: usize,
    pub events: usize,
    pub time: Duration,
}

/// Every line of the journal, every line of the events, and random times that fill up to `least` points.
#[must_use]
pub fn all(extent: Extent, least: usize, seed: u64) -> Vec<Point> {
    let mut points: Vec<Point> = (1..=extent.journal).map(Point::Journal).collect();
    points.extend((1..=extent.events).map(Point::Event));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    while points.len() < least {
        let share = f64::from(random.next_u32()) / f64::from(u32::MAX);
        points.push(Point::After(extent.time.mul_f64(share)));
    }
    points
}

/// Every so manieth point, so that about `most` are left.
#[must_use]
pub fn thinned(points: Vec<Point>, most: usize) -> Vec<Point> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_point_and_the_same_seed_gives_the_same_times() {
        let extent = Extent { journal: 2, events: 3, time: Duration::from_secs(4) };
        let points = all(extent, 9, 7);
        assert_eq!(points.len(), 9);
        assert_eq!(points[..2], [Point::Journal(1), Point::Journal(2)]);
        assert_eq!(points[4], Point::Event(3));
        assert!(points[5..].iter().all(|point| matches!(point, Point::After(time) if *time <= extent.time)));
        assert_eq!(points, all(extent, 9, 7));
        assert_ne!(points, all(extent, 9, 8));
        assert_eq!(thinned(points, 4).len(), 3);
    }
}
