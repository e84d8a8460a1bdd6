//! Files for readers that take a path.
//!
//! Owns a folder of the process's own, and the run directory that the targets of the store begin with.

use std::fs;
use std::path::{Path, PathBuf};

use crossvisor_model::{Better, MetricSpec, Name, Plan};
use crossvisor_store::RunDirectory;
use serde_json::json;

/// A folder that is removed with this; in memory where `TMPDIR` is.
pub struct Folder(tempfile::TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a folder for files"))
    }
}

impl Folder {
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file with this content, in place of what was there.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, file: &str, content: &[u8]) -> PathBuf {
        let path = self.path().join(file);
        fs::write(&path, content).expect("a file");
        path
    }
}

/// A new run directory `name` in `folder`, of two cells and nothing measured yet.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn run(folder: &Folder, name: &str) -> (PathBuf, RunDirectory) {
    let cell = |guests: u32| {
        json!({"id": format!("here/bare/-/{guests}/disk"), "host": "here", "hypervisor": "bare", "storage": null,
               "guests": guests, "workload": "disk"})
    };
    let time = "1s";
    let plan: Plan = serde_json::from_value(json!({
        "scenario": "s", "seed": 1, "repeat": 1, "hosts": {}, "guest": {"image": "i", "memory": "1MiB", "vcpus": 1},
        "hypervisors": {}, "storages": {}, "workloads": {}, "cells": [cell(1), cell(2)], "order": [], "baseline": {},
        "deadlines": {"create": time, "boot": time, "prepare": time, "run": time, "collect": time, "destroy": time},
    }))
    .expect("a plan");
    let write = MetricSpec::new("write", "write", "KiB/s", Better::Higher);
    let metrics = [(Name::new("disk").expect("a name"), vec![write])].into();
    let path = folder.path().join(name);
    let directory = RunDirectory::create(&path, name, "", &plan, metrics).expect("a run directory");
    (path, directory)
}
