//! The journal of a run: what it is about to create, written before it is created, with what undoes it.
//!
//! Owns the file `journal.jsonl` in the run's work folder, and the rule that an entry is on the disk before the
//! action it announces is tried.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crossvisor_model::{Action, Name};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::lines::{Lines, read};

/// An action that undoes something which exists or may exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub number: u64,
    /// The host that the action is for.
    pub host: Name,
    pub undo: Action,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
enum Entry {
    /// Something is about to be created.
    Begin(Pending),
    /// What this number announced is gone.
    Undone { number: u64 },
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    lines: Lines,
    next: u64,
}

impl Journal {
    /// Opens the journal of a work folder and goes on with its numbers.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read or opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let next = read::<Entry>(path)?.iter().filter_map(Entry::begun).max().map_or(1, |last| last + 1);
        Ok(Self { state: Mutex::new(State { lines: Lines::open(path)?, next }) })
    }

    /// Announces something; returns its number once the entry is on the disk.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it: the action must then not be tried.
    pub fn begin(&self, host: &Name, undo: &Action) -> Result<Pending, StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = Pending { number: state.next, host: host.clone(), undo: undo.clone() };
        state.lines.append(&Entry::Begin(pending.clone()))?;
        state.lines.sync()?;
        state.next += 1;
        Ok(pending)
    }

    /// Notes that what was announced is gone.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it; undoing once more does no harm.
    pub fn undone(&self, pending: &Pending) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lines.append(&Entry::Undone { number: pending.number })
    }
}

impl Entry {
    fn begun(&self) -> Option<u64> {
        match self {
            Self::Begin(pending) => Some(pending.number),
            Self::Undone { .. } => None,
        }
    }
}

/// What may still exist, the newest first: the order in which it is to be undone.
///
/// # Errors
/// [`StoreError`] when the journal cannot be read.
pub fn pending(path: &Path) -> Result<Vec<Pending>, StoreError> {
    let mut open = Vec::new();
    for entry in read::<Entry>(path)? {
        match entry {
            Entry::Begin(pending) => open.push(pending),
            Entry::Undone { number } => open.retain(|pending: &Pending| pending.number != number),
        }
    }
    open.reverse();
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_model::Place;

    #[test]
    fn what_was_begun_and_not_undone_is_pending_newest_first_even_after_reopening() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("journal.jsonl");
        let host = Name::new("here").expect("name");
        let remove = |file: &str| Action::RemoveFile { on: Place::Host, path: file.into() };
        let journal = Journal::open(&path).expect("open");
        let first = journal.begin(&host, &remove("a")).expect("begin");
        journal.begin(&host, &remove("b")).expect("begin");
        drop(journal);
        let journal = Journal::open(&path).expect("reopen");
        let third = journal.begin(&host, &remove("c")).expect("begin");
        assert_eq!(third.number, 3);
        journal.undone(&first).expect("undone");
        let undo: Vec<_> = pending(&path).expect("pending").into_iter().map(|pending| pending.undo).collect();
        assert_eq!(undo, [remove("c"), remove("b")]);
    }
}
