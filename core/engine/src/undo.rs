//! Does the actions that undo things: at the end of a visit, and when a dead run is cleaned up.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossvisor_model::{Action, Exec, Place};
use crossvisor_store::{Journal, Pending};
use crossvisor_target::{Cancel, TargetError};

use crate::host::Host;
use crate::{EngineError, exit};

/// What one visit has created so far.
pub struct UndoLog<'a> {
    journal: &'a Journal,
    host: &'a Host,
    pending: Mutex<Vec<Pending>>,
}

impl<'a> UndoLog<'a> {
    pub fn new(journal: &'a Journal, host: &'a Host) -> Self {
        Self { journal, host, pending: Mutex::default() }
    }

    /// Announces what is about to be created. The entry is on the disk when this returns.
    ///
    /// # Errors
    /// [`EngineError::Store`]: the action must then not be tried.
    pub fn announce(&self, undo: &Action) -> Result<(), EngineError> {
        let pending = self.journal.begin(&self.host.name, undo)?;
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).push(pending);
        Ok(())
    }

    /// Undoes everything, the newest first. Goes on after a failure; what failed stays in the journal, and its
    /// reasons are returned.
    pub fn undo_all(&self, limit: Duration) -> Vec<String> {
        let deadline = Instant::now() + limit;
        let pending = std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        let mut failures = Vec::new();
        for one in pending.iter().rev() {
            let undone = undo(&one.undo, self.host, deadline).map_err(|e| e.to_string());
            let noted = undone.and_then(|()| self.journal.undone(one).map_err(|e| e.to_string()));
            failures.extend(noted.err());
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
        Action::RemoveFile { on, path } => remove_file(*on, path, host, deadline),
        Action::Exec(exec) => run_on_host(exec, host, deadline),
        other => {
            let tail = "this action undoes nothing".into();
            Err(TargetError::EndedEarly { what: format!("undo {other:?}"), tail })
        }
    }
}

fn remove_file(on: Place, path: &Path, host: &Host, deadline: Instant) -> Result<(), TargetError> {
    run_on_host(&Exec::new(on, ["rm", "-f", "--", &path.to_string_lossy()], 60.0), host, deadline)
}

/// A guest is gone by the time its things are undone, so what was to be done in it is done with it.
fn run_on_host(exec: &Exec, host: &Host, deadline: Instant) -> Result<(), TargetError> {
    if matches!(exec.on, Place::Guest(_)) {
        return Ok(());
    }
    let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
    let exec = Exec { timeout_s: exec.timeout_s.min(left.max(1.0)), ..exec.clone() };
    let result = host.machine.run(&exec, &Cancel::default())?;
    exit::judge(&exec, &result)
}
