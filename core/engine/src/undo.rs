//! Does the actions that undo things: at the end of a visit or a run, and when a dead run is cleaned up.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossvisor_model::{Action, Exec, Place};
use crossvisor_store::{Journal, Pending};
use crossvisor_target::{Cancel, Local, Machine, TargetError};

use crate::hosts::Host;
use crate::{EngineError, exit};

/// What has been created so far on one host, by a visit or for the whole run.
pub struct UndoLog<'a> {
    journal: &'a Journal,
    pending: Mutex<Vec<Pending>>,
}

impl<'a> UndoLog<'a> {
    pub fn new(journal: &'a Journal) -> Self {
        Self { journal, pending: Mutex::default() }
    }

    /// Announces what is about to be created. The entry is on the disk when this returns.
    ///
    /// # Errors
    /// [`EngineError::Store`]: the action must then not be tried.
    pub fn announce(&self, host: &Host, undo: &Action) -> Result<(), EngineError> {
        let pending = self.journal.begin(&host.name, undo)?;
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).push(pending);
        Ok(())
    }

    /// Undoes everything, the newest first. Goes on after a failure, as long as the host answers; what failed stays in
    /// the journal, and its reasons are returned.
    pub fn undo_all(&self, host: &Host, limit: Duration) -> Vec<String> {
        let deadline = Instant::now() + limit;
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let mut failures = Vec::new();
        for (done, one) in pending.iter().rev().enumerate() {
            let undone = undo(&one.undo, host, deadline).map_err(|e| e.to_string());
            let noted = undone.and_then(|()| self.journal.undone(one).map_err(|e| e.to_string()));
            let Err(reason) = noted else { continue };
            if !host.answers() {
                let left = pending.len() - done;
                failures
                    .push(format!("host {} does not answer, {left} things stay on it: {reason}", host.name));
                break;
            }
            failures.push(reason);
        }
        failures
    }
}

/// Does one undo action.
///
/// # Errors
/// [`TargetError`] when what it removes may still be there.
pub fn undo(action: &Action, host: &Host, deadline: Instant) -> Result<(), TargetError> {
    match action {
        Action::DomainStop { name } => host.domains()?.stop(name),
        Action::DomainUndefine { name } => host.domains()?.undefine(name),
        Action::RemoveFile { on, path } => run(&remove_file(*on, path), host, deadline),
        Action::Exec(exec) => run(exec, host, deadline),
        other => {
            let tail = "this action undoes nothing".into();
            Err(TargetError::EndedEarly { what: format!("undo {other:?}"), tail })
        }
    }
}

/// Removes one file; one that is not there is no error.
pub fn remove_file(on: Place, path: &Path) -> Exec {
    Exec::new(on, ["rm", "-f", "--", &path.to_string_lossy()], 60.0)
}

fn run(exec: &Exec, host: &Host, deadline: Instant) -> Result<(), TargetError> {
    let machine: &dyn Machine = match exec.on {
        Place::Controller => &Local,
        Place::Host => &*host.machine,
        // A guest is gone by the time its things are undone, and what was to be done in it with it.
        Place::Guest(_) => return Ok(()),
    };
    let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
    let exec = Exec { timeout_s: exec.timeout_s.min(left.max(1.0)), ..exec.clone() };
    let result = machine.run(&exec, &Cancel::default())?;
    exit::judge(&exec, &result)
}
