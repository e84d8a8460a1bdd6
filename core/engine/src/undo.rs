//! Does the actions that undo things: at the end of a visit or a run, and when a dead run is cleaned up.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossvisor_model::{Action, Exec, Place};
use crossvisor_store::{Journal, Pending};
use crossvisor_target::{Cancel, Local, Machine, TargetError};

use crate::hosts::Host;
use crate::{EngineError, exit};

/// What is in use is tried again for so long: its last user may be about to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Before the first of these tries; each wait after it is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(8);
/// How LVM, the kernel and libvirt say that something has a user.
const IN_USE: [&str; 4] = ["in use", "busy", "being destroyed", "cannot acquire state change lock"];

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

    /// Takes back what was announced last: it was not made.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the disk does not take it.
    pub fn withdraw_last(&self) -> Result<(), EngineError> {
        match self.pending.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(last) => Ok(self.journal.undone(&last)?),
            None => Ok(()),
        }
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

/// Does one undo action; what is in use is tried again for a minute, or until the deadline.
///
/// # Errors
/// [`TargetError`] when what it removes may still be there.
pub fn undo(action: &Action, host: &Host, deadline: Instant) -> Result<(), TargetError> {
    patiently(deadline.min(Instant::now() + PATIENCE), || once(action, host, deadline))
}

fn patiently(until: Instant, act: impl Fn() -> Result<(), TargetError>) -> Result<(), TargetError> {
    let mut wait = FIRST_WAIT;
    loop {
        match act() {
            Err(error) if is_in_use(&error) && Instant::now() + wait < until => thread::sleep(wait),
            result => return result,
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn is_in_use(error: &TargetError) -> bool {
    let (TargetError::EndedEarly { tail: said, .. } | TargetError::Libvirt { message: said, .. }) = error
    else {
        return false;
    };
    let said = said.to_lowercase();
    IN_USE.iter().any(|words| said.contains(words))
}

fn once(action: &Action, host: &Host, deadline: Instant) -> Result<(), TargetError> {
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn said(tail: &str) -> TargetError {
        TargetError::EndedEarly { what: "lvremove".into(), tail: tail.into() }
    }

    /// How often something is tried that fails with `error` the first `times`, and whether it is done then.
    fn tries(error: &str, times: usize, patience: Duration) -> (usize, bool) {
        let tried = Cell::new(0);
        let done = patiently(Instant::now() + patience, || {
            tried.set(tried.get() + 1);
            if tried.get() > times { Ok(()) } else { Err(said(error)) }
        });
        (tried.get(), done.is_ok())
    }

    #[test]
    fn what_is_in_use_is_tried_again_as_long_as_there_is_time() {
        let busy = "exit code 5: Logical volume vg/cv-a-1 in use.";
        assert_eq!(tries(busy, 1, PATIENCE), (2, true));
        assert_eq!(tries(busy, 1, Duration::ZERO), (1, false));
        assert_eq!(tries("exit code 5: Volume group vg not found", 1, PATIENCE), (1, false));
    }

    #[test]
    fn what_has_a_user_is_told_from_what_fails_for_good() {
        let libvirt = |message: &str| TargetError::Libvirt { what: "stop".into(), message: message.into() };
        assert!(is_in_use(&said("losetup: /dev/loop0: detach failed: Device or resource busy")));
        assert!(is_in_use(&libvirt("operation failed: domain is being destroyed")));
        assert!(is_in_use(&libvirt("Timed out: cannot acquire state change lock")));
        assert!(!is_in_use(&libvirt("permission denied")));
        assert!(!is_in_use(&TargetError::Deadline { what: "use the busy disk".into() }));
    }
}
