//! What a piece of work took, once and over repetitions.
//!
//! Owns the two clocks of the jobs, wall-clock time and the time-stamp counter, and their form in JSON. It must never
//! decide what is worth measuring.

use std::time::Instant;

use crate::tsc;

/// What one execution took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub cycles: u64,
    pub wall_s: f64,
}

/// Does the work and says what it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let (start, ticks) = (Instant::now(), tsc::now());
    let result = work();
    let cycles = tsc::now().saturating_sub(ticks);
    (result, Cost { cycles, wall_s: start.elapsed().as_secs_f64() })
}

/// The members `repeat`, `cycles`, `wall_s` (both summed) and `each` of a job's line.
pub fn json(each: &[Cost]) -> String {
    let one = |cost: &Cost| format!(r#""cycles":{},"wall_s":{}"#, cost.cycles, cost.wall_s);
    let list: Vec<String> = each.iter().map(|cost| format!("{{{}}}", one(cost))).collect();
    let total = Cost {
        cycles: each.iter().map(|cost| cost.cycles).sum(),
        wall_s: each.iter().map(|cost| cost.wall_s).sum(),
    };
    format!(r#""repeat":{},{},"each":[{}]"#, each.len(), one(&total), list.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_sum_what_each_repetition_took() {
        let each = [Cost { cycles: 3, wall_s: 0.5 }, Cost { cycles: 4, wall_s: 0.25 }];
        assert_eq!(
            json(&each),
            r#""repeat":2,"cycles":7,"wall_s":0.75,"each":[{"cycles":3,"wall_s":0.5},{"cycles":4,"wall_s":0.25}]"#
        );
    }

    #[test]
    fn time_passes_on_both_clocks() {
        let (result, cost) = timed(|| (0..100_000_u64).map(std::hint::black_box).sum::<u64>());
        assert_eq!(result, 4_999_950_000);
        assert!(cost.cycles > 0 && cost.wall_s > 0.0);
    }
}
