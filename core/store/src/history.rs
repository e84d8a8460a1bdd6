//! What a run has come to, as its events tell: what it finished, and so what is left to do.
//!
//! Owns the rule what "finished" means: its last word on a replicate of a cell is that it was good.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crossvisor_model::{CellId, CellStatus, Event, Outcome, Stamped};
use serde::Deserialize;
use serde_json::json;

use crate::lines::{Line, Lines, each, scan};
use crate::run_directory::write_whole;
use crate::{StoreError, seal};

/// What happened in a run so far.
#[derive(Debug, Default)]
pub struct History {
    /// The last word on each replicate of a cell, in the order in which they were first spoken of.
    pub outcomes: Vec<Outcome>,
    /// Things a person should know about the whole run.
    pub notices: Vec<String>,
    /// It came to its end, and everything was tried, whatever came of it.
    pub complete: bool,
    /// The time of the last event, in seconds since the run started.
    pub at_s: f64,
    /// How often it went on after it had stopped.
    pub resumed: u32,
    /// Since it last went on it was told to stop, with visits left.
    interrupted: bool,
    places: BTreeMap<(CellId, u32), usize>,
}

fn is_skipped(outcome: &Outcome) -> bool {
    matches!(outcome.status, CellStatus::Skipped { .. })
}

/// The replicate that a line of a file belongs to.
#[derive(Deserialize)]
struct Belongs {
    cell: CellId,
    replicate: u32,
}

impl History {
    /// Reads the events of a run directory; what is wrong with its lines goes to `damages`.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn read(path: &Path, damages: &mut Vec<StoreError>) -> Result<Self, StoreError> {
        let mut history = Self::default();
        each(&path.join("events.jsonl"), damages, |stamped| history.take(stamped))?;
        Ok(history)
    }

    fn take(&mut self, Stamped { at_s, event }: Stamped) {
        self.at_s = self.at_s.max(at_s);
        match event {
            Event::CellEnded { outcome, .. } => {
                let key = (outcome.cell.clone(), outcome.replicate);
                match self.places.get(&key) {
                    Some(&place) => self.outcomes[place] = outcome,
                    None => {
                        self.places.insert(key, self.outcomes.len());
                        self.outcomes.push(outcome);
                    }
                }
            }
            Event::Notice { text } => self.notices.push(text),
            Event::RunResumed { .. } => {
                self.resumed += 1;
                (self.complete, self.interrupted) = (false, false);
            }
            Event::Interrupted { .. } => self.interrupted = true,
            Event::RunEnded { .. } => {
                self.complete = !self.interrupted && !self.outcomes.iter().any(is_skipped)
            }
            _ => {}
        }
    }

    /// The replicates of cells that are done with.
    #[must_use]
    pub fn finished(&self) -> BTreeSet<(CellId, u32)> {
        let done = |outcome: &&Outcome| outcome.status == CellStatus::Good;
        let key = |outcome: &Outcome| (outcome.cell.clone(), outcome.replicate);
        self.outcomes.iter().filter(done).map(key).collect()
    }

    /// Takes the lines of unfinished replicates out of a file of the run directory, and keeps them in `undone.jsonl`. Lines
    /// that are damaged stay.
    pub(crate) fn take_out(&self, directory: &Path, file: &str) -> Result<(), StoreError> {
        let finished = self.finished();
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        let is_finished = |text: &[u8]| {
            let line = serde_json::from_slice(text);
            line.map_or(true, |Belongs { cell, replicate }| finished.contains(&(cell, replicate)))
        };
        scan(&directory.join(file), |_, line| {
            let (text, whole) = match line {
                Line::Whole { text, .. } if !is_finished(text) => {
                    go.push(json!({"file": file, "line": String::from_utf8_lossy(text)}));
                    return;
                }
                Line::Whole { text, .. } => (text, true),
                Line::Damaged { text, .. } => (text, false),
                Line::Cut => return,
            };
            let start = stay.len();
            stay.extend_from_slice(text);
            if whole {
                seal::close(&mut stay, start);
            }
            stay.push(b'\n');
        })?;
        if go.is_empty() {
            return Ok(());
        }
        let mut undone = Lines::open(&directory.join("undone.jsonl"))?;
        undone.append_all(&go)?;
        undone.sync()?;
        write_whole(&directory.join(file), &stay)
    }
}
