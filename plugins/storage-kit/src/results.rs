//! Programs of the host as steps, and what they printed.

use crossvisor_plugin::Resume;
use crossvisor_plugin::model::{Action, Exec, Place, Step, StepResult};

/// A program on the host that is killed after `timeout_s` seconds.
pub fn program<S: Into<String>>(say: &str, argv: impl IntoIterator<Item = S>, timeout_s: f64) -> Step {
    Step::new(say, Action::Exec(Exec::new(Place::Host, argv, timeout_s)))
}

/// What the step at `index` of the last turn printed. `None` where it printed nothing: a plan is made with such
/// results, and none of the programs that are asked here ends well without a word.
#[must_use]
pub fn printed(resume: &Resume, index: usize) -> Option<&str> {
    match resume.results.get(index) {
        Some(StepResult::Exec(result)) => Some(result.stdout.as_str()).filter(|text| !text.is_empty()),
        _ => None,
    }
}
