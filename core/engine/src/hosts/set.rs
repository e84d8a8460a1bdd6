//! The hosts of a run with what the run has made on each, from the first connection to the last removal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossvisor_model::{Accel, Action, Exec, HostAddress, Name, Place};
use crossvisor_store::Journal;
use crossvisor_target::{Cancel, TargetError};

use super::{Connections, Host, NotedHost};
use crate::EngineError;
use crate::exit::judge;
use crate::steps::in_seconds;
use crate::undo::UndoLog;
use crate::work_folder::WorkFolder;

/// Where runs have their folders on a host that is reached over SSH.
const FOLDERS: &str = "/var/lib/crossvisor/live";
/// Each single removal may take this long.
const REMOVAL: Duration = Duration::from_secs(300);

/// A host, and what the run has made on it that outlives a visit.
struct Ground<'a> {
    host: Arc<Host>,
    undo: UndoLog<'a>,
}

/// The hosts of a run.
pub struct Hosts<'a> {
    work: &'a WorkFolder,
    journal: &'a Journal,
    connections: &'a Connections<'a>,
    cancel: &'a Cancel,
    /// Hosts that are made for the run.
    made: BTreeSet<Name>,
    notes: BTreeMap<Name, NotedHost>,
    grounds: Vec<Ground<'a>>,
}

impl<'a> Hosts<'a> {
    pub fn new(
        work: &'a WorkFolder,
        journal: &'a Journal,
        connections: &'a Connections<'a>,
        cancel: &'a Cancel,
    ) -> Self {
        let (made, notes) = (BTreeSet::new(), BTreeMap::new());
        Self { work, journal, connections, cancel, made, notes, grounds: Vec::new() }
    }

    /// Reaches a host, makes the run's folder on it and finds out what it is. `guests` tells whether it will have any;
    /// `outer` is how the host itself is executed where it is a guest of this machine.
    ///
    /// # Errors
    /// [`EngineError`] when it cannot be reached; what was made on it until then is removed, and what could not be stays in
    /// the journal.
    pub fn reach(
        &mut self,
        name: &Name,
        address: &HostAddress,
        guests: bool,
        outer: Option<Accel>,
    ) -> Result<Arc<Host>, EngineError> {
        self.notes
            .insert(name.clone(), NotedHost { address: address.clone(), made: self.made.contains(name) });
        self.work.note_hosts(&self.notes)?;
        let folder = match crossvisor_model::host::is_local(&address.uri) {
            true => self.work.path().to_path_buf(),
            false => Path::new(FOLDERS).join(self.work.unique_name()),
        };
        let mut host = Host::attach(name, address, guests, self.connections, folder)?;
        let undo = UndoLog::new(self.journal);
        if let Err(error) = self.settle(&mut host, &undo) {
            // Why the host is of no use is told; what could not be removed from it is for `clean`.
            undo.undo_all(&host, REMOVAL);
            return Err(error);
        }
        host.facts.outer_accel = outer;
        let host = Arc::new(host);
        self.grounds.push(Ground { host: Arc::clone(&host), undo });
        Ok(host)
    }

    /// Makes the run's folder on a host, puts the probe there and finds out what the host is.
    fn settle(&self, host: &mut Host, undo: &UndoLog<'_>) -> Result<(), EngineError> {
        if !host.is_here() {
            make_folder(host, undo)?;
        }
        let put = host.machine.put(crossvisor_probe::BINARY, &host.probe(), "755", in_seconds(60.0));
        put.map_err(|source| EngineError::Host { host: host.name.clone(), source })?;
        host.explore(self.connections, self.cancel)
    }

    /// Notes that a host is made for the run, before it is: what is on it goes with it.
    pub fn is_made(&mut self, name: &Name) {
        self.made.insert(name.clone());
    }

    /// What undoes the run's doings on a host that was reached.
    ///
    /// # Errors
    /// [`EngineError::NotInPlan`] for another host.
    pub fn undo(&self, name: &Name) -> Result<&UndoLog<'a>, EngineError> {
        let ground = self.grounds.iter().find(|ground| ground.host.name == *name);
        let missing = || EngineError::NotInPlan { what: "host", name: name.clone() };
        ground.map(|ground| &ground.undo).ok_or_else(missing)
    }

    /// Removes what the run has made on all hosts, on the last one first, and returns what could not be removed. What
    /// is on a host that was made for the run goes with that host.
    pub fn clear(self) -> Vec<String> {
        let (mut failures, mut on_made) = (Vec::new(), Vec::new());
        // Those that were made come after the host that they were made on.
        for Ground { host, undo } in self.grounds.into_iter().rev() {
            let failed = undo.undo_all(&host, REMOVAL);
            if self.made.contains(&host.name) { &mut on_made } else { &mut failures }.extend(failed);
        }
        match failures.is_empty() {
            true => {
                failures.extend(forget(self.work, self.journal, &self.notes).err().map(|e| e.to_string()))
            }
            false => failures.extend(on_made),
        }
        failures
    }
}

/// Notes as undone whatever was on the hosts that were made for the run, which are gone.
///
/// # Errors
/// [`EngineError`] when the journal cannot be read or written.
pub fn forget(
    work: &WorkFolder,
    journal: &Journal,
    notes: &BTreeMap<Name, NotedHost>,
) -> Result<(), EngineError> {
    let made = |name: &Name| notes.get(name).is_some_and(|host| host.made);
    for pending in crossvisor_store::journal::pending(&work.journal())? {
        if made(&pending.host) {
            journal.undone(&pending)?;
        }
    }
    Ok(())
}

/// Makes the run's own folder on a host.
fn make_folder(host: &Host, undo: &UndoLog<'_>) -> Result<(), EngineError> {
    let path = host.folder.to_string_lossy().into_owned();
    let run = |argv: &[&str]| {
        let exec = Exec::new(Place::Host, argv.iter().copied(), 60.0);
        let result = host.machine.run(&exec, &Cancel::default());
        result.and_then(|result| judge(&exec, &result))
    };
    let failed = |source| EngineError::Host { host: host.name.clone(), source };
    run(&["install", "-d", "-m", "711", "--", FOLDERS]).map_err(failed)?;
    undo.announce(host, &Action::Exec(remove_folder(&host.folder)))?;
    let made = run(&["mkdir", "-m", "711", "--", &path]);
    if matches!(made, Err(TargetError::EndedEarly { .. })) {
        // What `mkdir` has refused to make is somebody else's.
        undo.withdraw_last()?;
    }
    made.map_err(failed)
}

/// Removes a folder with all that is in it, but nothing that is mounted there.
pub fn remove_folder(path: &Path) -> Exec {
    let argv = ["rm", "-rf", "--one-file-system", "--", &path.to_string_lossy()];
    Exec::new(Place::Host, argv, 120.0)
}
