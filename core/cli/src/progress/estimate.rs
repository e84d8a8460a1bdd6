//! How long a phase and the rest of a run will take, from what took how long before.
//!
//! Owns the arithmetic and the first guesses. It must never read a clock.

use std::collections::BTreeMap;

use crossvisor_model::Phase;

/// A mean that grows.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.sum += seconds;
        self.count += 1;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

/// What was learned so far.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// By phase, and by what was done in it: a workload where one ran, nothing otherwise.
    phases: BTreeMap<(Phase, String), Mean>,
    visits: Mean,
}

impl Estimate {
    /// A phase took `seconds`; `work` is the workload that ran in it, or empty.
    pub fn phase_took(&mut self, phase: Phase, work: &str, seconds: f64) {
        self.phases.entry((phase, work.into())).or_default().add(seconds);
    }

    pub fn visit_took(&mut self, seconds: f64) {
        self.visits.add(seconds);
    }

    /// Expected seconds of a phase: the mean of this phase with this work, else of this phase, else a guess.
    pub fn phase(&self, phase: Phase, work: &str) -> f64 {
        let same = self.phases.get(&(phase, work.into())).and_then(|mean| mean.get());
        let of_phase = || {
            let mut all = Mean::default();
            for (_, mean) in self.phases.iter().filter(|((other, _), _)| *other == phase) {
                all.sum += mean.sum;
                all.count += mean.count;
            }
            all.get()
        };
        same.or_else(of_phase).unwrap_or_else(|| guess(phase))
    }

    /// Expected seconds until the last visit ends; `None` before the first has ended. `left` counts the visits
    /// that have not ended, of which one has gone on for `current_s`.
    pub fn rest(&self, left: usize, current_s: f64) -> Option<f64> {
        let mean = self.visits.get()?;
        Some(match left {
            0 => 0.0,
            _ => (mean - current_s).max(0.0) + mean * (left - 1) as f64,
        })
    }
}

/// Seconds a phase takes on a middling machine with emulated guests.
fn guess(phase: Phase) -> f64 {
    match phase {
        Phase::Create => 2.0,
        Phase::Boot => 40.0,
        Phase::Prepare => 5.0,
        Phase::Run => 30.0,
        Phase::Collect => 2.0,
        Phase::Destroy => 3.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn a_phase_is_expected_to_take_what_the_nearest_ones_took() {
        let mut estimate = Estimate::default();
        close(estimate.phase(Phase::Run, "pi"), 30.0);
        estimate.phase_took(Phase::Run, "pi", 10.0);
        estimate.phase_took(Phase::Run, "pi", 20.0);
        close(estimate.phase(Phase::Run, "pi"), 15.0);
        close(estimate.phase(Phase::Run, "iperf"), 15.0);
        estimate.phase_took(Phase::Run, "iperf", 3.0);
        close(estimate.phase(Phase::Run, "iperf"), 3.0);
        close(estimate.phase(Phase::Run, "bonnie"), 11.0);
        close(estimate.phase(Phase::Boot, ""), 40.0);
    }

    #[test]
    fn the_rest_is_known_once_a_visit_has_ended() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.rest(4, 10.0), None);
        estimate.visit_took(60.0);
        close(estimate.rest(3, 10.0).expect("known"), 170.0);
        close(estimate.rest(1, 80.0).expect("known"), 0.0);
        close(estimate.rest(0, 0.0).expect("known"), 0.0);
    }
}
