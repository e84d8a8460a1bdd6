//! Reasons to doubt what one instance measured, as the round itself shows them.
//!
//! Owns the limits and the wording. It must never change a value.

use crate::measure::InstanceResult;

/// Below this share of common time, guests did not work "at once".
const GOOD_OVERLAP: f64 = 0.9;
/// Share of the time by which a clock may be off, and seconds that the way to a guest may take.
const GOOD_DRIFT: f64 = 0.01;
const WAY_S: f64 = 0.05;
/// Seconds by which a time of day may be set: a clock that is steered does that.
const STEERED_S: f64 = 0.05;

/// The flag of a sample of guests that did not work at once; how much it is, the sample's `overlap` says.
const ALONE: &str = "another guest (or copy of the work) was idle for more than 10 % of the time";
const LOST: &str =
    "another guest (or copy of the work) failed meanwhile: how long it was at work is not known";

/// What makes an instance's values doubtful: `overlap` is the share of its time that the others were at work too, and
/// `lost` tells that one of them failed.
pub fn doubts(instance: &InstanceResult, overlap: f64, lost: bool) -> Vec<String> {
    let mut doubts = Vec::new();
    if lost {
        doubts.push(LOST.into());
    } else if overlap < GOOD_OVERLAP {
        doubts.push(ALONE.into());
    }
    let wall_s = instance.result.wall_s;
    let drift_s = instance.drift_s;
    if drift_s.abs() > WAY_S + GOOD_DRIFT * wall_s {
        let way = if drift_s > 0.0 { "gained" } else { "lost" };
        doubts.push(format!(
            "the machine's clock {way} more than 1 % against the controller's: times and rates that it tells are wrong"
        ));
    }
    if instance.set_s.abs() > STEERED_S.max(GOOD_DRIFT / 10.0 * wall_s) {
        doubts.push(
            "the machine's time of day was set while it worked: programs that use it tell wrong times".into(),
        );
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_model::{ExecResult, Window};

    fn instance(wall_s: f64, drift_s: f64, set_s: f64) -> InstanceResult {
        let window = Window { start_s: 0.0, end_s: wall_s };
        let result = ExecResult { exit: Some(0), stdout: String::new(), stderr: String::new(), wall_s };
        InstanceResult { result, window, busy: window, drift_s, set_s }
    }

    #[test]
    fn each_reason_has_its_words() {
        for (of, overlap, lost, words) in [
            (instance(100.0, 0.5, 0.0), 1.0, false, ""),
            (instance(1.0, -0.04, 0.04), 0.95, false, ""),
            (instance(100.0, 1.2, 0.0), 1.0, false, "clock gained more than 1 %"),
            (instance(100.0, -3.0, 0.0), 1.0, false, "clock lost more than 1 %"),
            (instance(10.0, 0.0, -1.0), 1.0, false, "time of day was set"),
            (instance(10.0, 0.0, 0.0), 0.8, false, "was idle"),
            (instance(10.0, 0.0, 0.0), 0.8, true, "failed meanwhile"),
        ] {
            let doubts = doubts(&of, overlap, lost);
            match words {
                "" => assert!(doubts.is_empty(), "{doubts:?}"),
                words => assert!(doubts.len() == 1 && doubts[0].contains(words), "{doubts:?}"),
            }
        }
    }
}
