//! The work folder of one run on this machine: its volumes, seeds, keys, and the journal of what it created.
//!
//! Owns the lock that tells a living run from a dead one.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crossvisor_model::Name;
use ssh_key::rand_core::{OsRng, RngCore};

use crate::EngineError;
use crate::hosts::NotedHost;

const HOSTS: &str = "hosts.json";
const LOCK: &str = "lock";
const ID: &str = "id";

/// A work folder that this process holds.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    /// Eight random hexadecimal digits: what tells this run from one of the same name elsewhere.
    id: String,
    /// Locked as long as it is open.
    _lock: File,
}

impl WorkFolder {
    /// Makes the work folder of a new run below `parent`. Others may pass through it, to reach what is theirs.
    ///
    /// # Errors
    /// [`EngineError::Folder`] when it exists or cannot be made.
    pub fn create(parent: &Path, run: &str) -> Result<Self, EngineError> {
        DirBuilder::new().recursive(true).mode(0o711).create(parent).map_err(folder_error("make", parent))?;
        let path = parent.join(run);
        match DirBuilder::new().mode(0o711).create(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(EngineError::NameTaken(run.into())),
            made => made.map_err(folder_error("make", &path))?,
        }
        let lock = lock(&path)?.ok_or_else(|| EngineError::Busy(path.clone()))?;
        let id = format!("{:08x}", OsRng.next_u32());
        fs::write(path.join(ID), &id).map_err(folder_error("write", &path.join(ID)))?;
        Ok(Self { path, id, _lock: lock })
    }

    /// Takes over the work folder of a dead run; `None` when its run is alive.
    ///
    /// # Errors
    /// [`EngineError::Folder`] when its lock cannot be opened.
    pub fn adopt(path: &Path) -> Result<Option<Self>, EngineError> {
        let Some(lock) = lock(path)? else { return Ok(None) };
        // A run that died before it had one has made nothing.
        let id = fs::read_to_string(path.join(ID)).unwrap_or_default();
        Ok(Some(Self { path: path.to_path_buf(), id, _lock: lock }))
    }

    /// Whether a path is a work folder of this user: a folder, no link, with the lock that every run makes first, or
    /// with nothing, where a run died before it had it. What is in the journal of anybody else's folder would be done
    /// with this user's rights.
    pub fn is_one(path: &Path) -> bool {
        let user = rustix::process::geteuid().as_raw();
        let own = |path: &Path| path.symlink_metadata().ok().filter(|found| found.uid() == user);
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        own(path).is_some_and(|found| found.is_dir())
            && (own(&path.join(LOCK)).is_some_and(|found| found.is_file()) || is_empty())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The run's name and id: `quickstart-1-1a2b3c4d`.
    pub fn unique_name(&self) -> String {
        format!("{}-{}", self.path.file_name().unwrap_or_default().to_string_lossy(), self.id)
    }

    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Notes the run's hosts, so that whoever cleans up can reach them.
    ///
    /// # Errors
    /// [`EngineError::Folder`] when it cannot be written.
    pub fn note_hosts(&self, hosts: &BTreeMap<Name, NotedHost>) -> Result<(), EngineError> {
        let path = self.path.join(HOSTS);
        let text = serde_json::to_vec(hosts).map_err(|e| folder_error("write", &path)(e.into()))?;
        fs::write(&path, text).map_err(folder_error("write", &path))
    }

    /// The hosts of the run; none when it died before it noted them.
    ///
    /// # Errors
    /// [`EngineError::Folder`] when the note cannot be read.
    pub fn hosts(&self) -> Result<BTreeMap<Name, NotedHost>, EngineError> {
        let path = self.path.join(HOSTS);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(e) => return Err(folder_error("read", &path)(e)),
        };
        serde_json::from_slice(&text).map_err(|e| folder_error("read", &path)(e.into()))
    }

    /// Removes the folder with all that is in it.
    ///
    /// # Errors
    /// [`EngineError::Folder`] when something cannot be removed.
    pub fn remove(self) -> Result<(), EngineError> {
        fs::remove_dir_all(&self.path).map_err(folder_error("remove", &self.path))
    }
}

/// The folder's lock; `None` when another process holds it.
fn lock(folder: &Path) -> Result<Option<File>, EngineError> {
    let path = folder.join(LOCK);
    crossvisor_target::lock::take(&path).map_err(folder_error("lock", &path))
}

pub fn folder_error(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> EngineError {
    let path = path.to_path_buf();
    move |source| EngineError::Folder { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_can_be_adopted_only_when_its_run_is_dead() {
        let parent = tempfile::tempdir().expect("folder");
        let alive = WorkFolder::create(parent.path(), "run-1").expect("create");
        assert!(WorkFolder::adopt(&parent.path().join("run-1")).expect("adopt").is_none());
        assert!(WorkFolder::create(parent.path(), "run-1").is_err());
        drop(alive);
        let adopted = WorkFolder::adopt(&parent.path().join("run-1")).expect("adopt").expect("dead");
        assert!(WorkFolder::is_one(&parent.path().join("run-1")));
        adopted.remove().expect("remove");
        assert!(!parent.path().join("run-1").exists());
    }

    #[test]
    fn a_folder_of_somebody_else_or_a_link_is_no_work_folder() {
        let parent = tempfile::tempdir().expect("folder");
        let (theirs, link) = (parent.path().join("theirs"), parent.path().join("link"));
        fs::create_dir(&theirs).expect("folder");
        assert!(WorkFolder::is_one(&theirs), "a run may have died before it had its lock");
        fs::write(theirs.join("a.raw"), "theirs").expect("file");
        assert!(!WorkFolder::is_one(&theirs));
        fs::write(theirs.join(LOCK), "").expect("file");
        std::os::unix::fs::symlink(&theirs, &link).expect("link");
        assert!(WorkFolder::is_one(&theirs) && !WorkFolder::is_one(&link));
    }
}
