//! One operation from its first turn to its last, with made-up results in place of a machine.

use crossvisor_model::{Action, ExecResult, Offer, Options, Step, StepResult};
use crossvisor_plugin::Call;
use crossvisor_plugin::limits::TURNS;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::envelope::ask_twice;
use crate::inputs;
use crate::session::Session;

/// A state goes to the plugin and back with every turn; bytes of JSON.
const LARGE_STATE: usize = 64 << 10;

/// An operation that came to its end.
pub(crate) struct Ended {
    pub steps: Vec<Step>,
    pub output: Value,
}

/// What the made-up machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// Every program succeeds and prints nothing; domains run.
    Quiet,
    /// Every program succeeds with this text on both outputs; domains do not run.
    Babbling(&'static str),
}

impl Machine {
    fn result(self, action: &Action) -> StepResult {
        match (action, self) {
            (Action::Exec(exec), _) => {
                let text = if let Self::Babbling(text) = self { text } else { "" };
                StepResult::Exec(ExecResult {
                    exit: exec.ok_exit.first().copied(),
                    stdout: text.into(),
                    stderr: text.into(),
                    wall_s: 0.5,
                })
            }
            (Action::DomainState { .. }, _) => StepResult::Domain { active: self == Self::Quiet },
            _ => StepResult::Done,
        }
    }
}

/// Carries an operation to its end. `None` where it does not come to one: a refusal is noted only where the
/// plugin has no reason for one, which is when `must_succeed`.
pub(crate) fn run(
    session: &mut Session<'_>,
    (offer, options): (&Offer, &Options),
    call: Call,
    machine: Machine,
    must_succeed: bool,
) -> Option<Ended> {
    let mut request = inputs::request(offer, options, call);
    let mut steps = Vec::new();
    for _ in 0..TURNS {
        let turn = match ask_twice(session, &request)? {
            Ok(turn) => turn,
            Err(failure) => {
                if must_succeed {
                    session.error(format!("refused: {}", failure.message));
                }
                return None;
            }
        };
        request.results = turn.steps.iter().map(|step| machine.result(&step.action)).collect();
        steps.extend(turn.steps);
        if turn.done {
            return Some(Ended { steps, output: turn.output });
        }
        if turn.state.to_string().len() > LARGE_STATE {
            session.warning(format!("its state is longer than {LARGE_STATE} bytes"));
        }
        request.state = turn.state;
    }
    session.error(format!("it is not done after {TURNS} turns"));
    None
}

/// The output in its own type; another form is an error.
pub(crate) fn output<T: DeserializeOwned>(session: &mut Session<'_>, output: Value) -> Option<T> {
    serde_json::from_value(output)
        .map_err(|e| session.error(format!("its output is not understood: {e}")))
        .ok()
}
