//! A run directory that is made of results which were measured elsewhere.
//!
//! Owns the order in which it is written: `run.json` comes last, so that one that was cut short is no run directory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crossvisor_model::{MetricSpec, Name, Plan, Provenance, Stamped};

use crate::lines::Lines;
use crate::run_directory::{Header, write_json};
use crate::{Round, StoreError};

/// An open directory; dropped before it is finished, it is removed.
#[derive(Debug)]
pub struct ImportDirectory {
    path: PathBuf,
    events: Lines,
    samples: Lines,
    finished: bool,
}

impl ImportDirectory {
    /// Where the imported files are kept, relative to the run directory.
    pub const FILES: &str = "raw/imported";

    /// Makes a new run directory at `path`, which must not exist.
    ///
    /// # Errors
    /// [`StoreError`] when it exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("make", parent))?;
        }
        fs::create_dir(path).map_err(StoreError::io("make", path))?;
        let files = path.join(Self::FILES);
        fs::create_dir_all(&files).map_err(StoreError::io("make", &files))?;
        let lines = |file: &str| Lines::open(&path.join(file));
        let (events, samples) = (lines("events.jsonl")?, lines("samples.jsonl")?);
        Ok(Self { path: path.to_path_buf(), events, samples, finished: false })
    }

    /// A new file to keep a copy of an imported one in, and its path relative to the directory.
    ///
    /// # Errors
    /// [`StoreError`] when it exists or cannot be written.
    pub fn keep(&self, name: &Name) -> Result<(File, String), StoreError> {
        let kept = format!("{}/{name}", Self::FILES);
        let path = self.path.join(&kept);
        let file = File::create_new(&path).map_err(StoreError::io("write", &path))?;
        Ok((file, kept))
    }

    /// # Errors
    /// [`StoreError`] when the disk does not take them.
    pub fn rounds(&mut self, rounds: &[Round]) -> Result<(), StoreError> {
        self.samples.append_all(rounds)
    }

    /// # Errors
    /// [`StoreError`] when the disk does not take them.
    pub fn events(&mut self, events: &[Stamped]) -> Result<(), StoreError> {
        self.events.append_all(events)
    }

    /// Makes it a run directory.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn finish(
        mut self,
        name: &str,
        plan: &Plan,
        metrics: BTreeMap<Name, Vec<MetricSpec>>,
        provenance: &Provenance,
    ) -> Result<(), StoreError> {
        write_json(&self.path.join("plan.json"), plan)?;
        write_json(&self.path.join("provenance.json"), provenance)?;
        write_json(&self.path.join("run.json"), &Header::new(name, metrics))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for ImportDirectory {
    fn drop(&mut self) {
        if !self.finished {
            // It was made by this process, and nothing but copies is in it.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
