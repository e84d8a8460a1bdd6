//! The processor job: two nested loops that add their counters.
//!
//! Owns the loop, its measurement and its check. It must never touch more memory than its own stack.

use std::hint::black_box;

use crate::cost::{self, Cost, timed};
use crate::words::within;

const MAX_LIMIT: u64 = 1_000_000;
const MAX_REPEAT: u64 = 10_000;

/// What to compute: `limit` times `limit` additions, `repeat` times.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    limit: u32,
    repeat: u64,
}

impl Job {
    /// Reads `--limit N --repeat R`; `None` when that is not what the words say.
    pub fn from_options(options: &[&str]) -> Option<Self> {
        let ["--limit", limit, "--repeat", repeat] = options else { return None };
        let limit = u32::try_from(within(limit, 1, MAX_LIMIT)?).ok()?;
        Some(Self { limit, repeat: within(repeat, 1, MAX_REPEAT)? })
    }

    /// One line of JSON, as the library's documentation describes it.
    pub fn run(&self) -> String {
        let runs: Vec<(u32, Cost)> = (0..self.repeat).map(|_| timed(|| sum(self.limit))).collect();
        let ok = runs.iter().all(|(sum, _)| *sum == expected(self.limit));
        let each: Vec<Cost> = runs.into_iter().map(|(_, cost)| cost).collect();
        format!(r#"{{"job":"cpu","limit":{},{},"ok":{ok}}}"#, self.limit, cost::json(&each))
    }
}

/// The sum of i + j for all i and j below `limit`, modulo 2^32. The compiler knows a formula for it and must not see
/// that it is asked for.
fn sum(limit: u32) -> u32 {
    let mut sum = 0_u32;
    for i in 0..limit {
        for j in 0..limit {
            sum = sum.wrapping_add(black_box(i.wrapping_add(j)));
        }
    }
    sum
}

/// The formula: limit^2 (limit - 1).
fn expected(limit: u32) -> u32 {
    limit.wrapping_mul(limit).wrapping_mul(limit - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loops_agree_with_the_formula() {
        for limit in [1, 2, 3, 1000, 3001] {
            assert_eq!(sum(limit), expected(limit), "{limit}");
        }
        assert_eq!(sum(3), 18);
    }

    #[test]
    fn the_line_has_every_repetition() {
        let line = Job { limit: 10, repeat: 3 }.run();
        assert!(line.starts_with(r#"{"job":"cpu","limit":10,"repeat":3,"cycles":"#), "{line}");
        assert!(line.ends_with(r#""ok":true}"#) && line.matches("wall_s").count() == 4, "{line}");
    }

    #[test]
    fn options_are_read_or_refused() {
        let job = Job { limit: 7, repeat: 3 };
        assert_eq!(Job::from_options(&["--limit", "7", "--repeat", "3"]), Some(job));
        for (limit, repeat) in [("0", "1"), ("1", "0"), ("1000001", "1"), ("x", "1"), ("-1", "1")] {
            assert_eq!(Job::from_options(&["--limit", limit, "--repeat", repeat]), None);
        }
        assert_eq!(Job::from_options(&["--limit", "7"]), None);
    }
}
