//! The guests' volumes: what they take of their host, and whether they can still be trusted.
//!
//! Owns the watch over volumes that the guests' own writes can spoil. It must never touch one.

use std::thread;
use std::time::{Duration, Instant};

use crossvisor_plugin::{Call, InspectInput, InspectOutput};
use crossvisor_target::Cancel;
use crossvisor_target::cancel::TICK;

use crate::context::{Setup, offer};
use crate::guest::Guest;
use crate::steps::{StepError, Steps, in_seconds, no_round};

/// Between looks: rare enough not to disturb what is measured.
const WATCH: Duration = Duration::from_secs(10);
/// A look may take this long, in seconds.
const LOOK_S: f64 = 60.0;

/// What a guest's volume takes of its host, in bytes.
///
/// # Errors
/// [`StepError::Spoiled`] where nothing on it can be trusted, else that of the step that failed.
pub fn look(
    steps: &Steps<'_>,
    setup: &Setup<'_>,
    guest: &Guest,
    deadline: Instant,
) -> Result<Option<u64>, StepError> {
    let call = Call::Inspect(InspectInput { volume: guest.volume.clone() });
    let output = steps.operate(setup.storage, call, None, deadline, &mut no_round)?;
    let output: InspectOutput = serde_json::from_value(output).map_err(|e| StepError::Contract {
        plugin: setup.storage.0.manifest.name.clone(),
        reason: format!("its output is not understood: {e}"),
    })?;
    match output.spoiled {
        Some(reason) => Err(StepError::Spoiled { guest: guest.number, reason }),
        None => Ok(output.allocated_bytes),
    }
}

/// Does `work`, and where the storage says that its volumes can be spoiled looks at them meanwhile: the first that is
/// ends the work.
///
/// # Errors
/// [`StepError::Spoiled`], or what `work` gives.
pub fn watched<T>(
    steps: &Steps<'_>,
    setup: &Setup<'_>,
    guests: &[Guest],
    work: impl FnOnce(&Steps<'_>) -> Result<T, StepError>,
) -> Result<T, StepError> {
    if !offer(setup.storage).is_some_and(|offer| offer.watched) {
        return work(steps);
    }
    let quiet = Steps { show: &|_| (), ..*steps };
    // A look that fails says nothing about the volume.
    let spoiled = || {
        let looks = guests.iter().map(|guest| look(&quiet, setup, guest, in_seconds(LOOK_S)));
        looks.filter_map(Result::err).find(StepError::is_spoiled)
    };
    let (working, watching) = (steps.cancel.child(), steps.cancel.child());
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while pause(&watching) {
                if let Some(found) = spoiled() {
                    working.raise();
                    return Some(found);
                }
            }
            None
        });
        let done = work(&Steps { cancel: &working, ..*steps });
        watching.raise();
        let found = watcher.join().ok().flatten();
        match found.or_else(|| if done.is_err() { spoiled() } else { None }) {
            Some(spoiled) => Err(spoiled),
            None => done,
        }
    })
}

/// Lets the time between two looks pass; false once `watching` is raised.
fn pause(watching: &Cancel) -> bool {
    let next = Instant::now() + WATCH;
    while Instant::now() < next && !watching.is_raised() {
        thread::sleep(TICK);
    }
    !watching.is_raised()
}
