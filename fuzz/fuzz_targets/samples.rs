//! The samples of a run directory: what is read is read back after it was written, and repairing mends every finding.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use crossvisor_fuzz::{Folder, run};
use crossvisor_store::{RunDirectory, check};
use libfuzzer_sys::fuzz_target;

type Run = (PathBuf, RunDirectory);
static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::default);
static READ: LazyLock<Run> = LazyLock::new(|| run(&FOLDER, "read"));
static WRITTEN: LazyLock<Run> = LazyLock::new(|| run(&FOLDER, "written"));

fuzz_target!(|data: &[u8]| {
    let path = &READ.0;
    fs::write(path.join("samples.jsonl"), data).expect("a file");
    let samples = RunDirectory::read(path).expect("a run").samples;
    assert!(samples.iter().all(|sample| sample.value.measured().is_none_or(f64::is_finite)));

    let (path, written) = &*WRITTEN;
    fs::write(path.join("samples.jsonl"), "").expect("a file");
    written.samples(&samples).expect("written");
    let back = RunDirectory::read(path).expect("a run");
    assert_eq!((back.samples, check(path, false).expect("checked").findings), (samples, vec![]));

    let path = &READ.0;
    check(path, true).expect("repaired");
    assert_eq!(check(path, false).expect("checked").findings, []);
});
