//! A run directory that outlives its run: it goes on after a death, and tells what is no longer as it was written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crossvisor_model::{
    Accel, Better, CellId, CellStatus, Event, ExecResult, MetricSpec, Name, Outcome, Plan, Sample, Stamped,
    Value, Window,
};
use crossvisor_store::{Raw, RunDirectory, StoreError, check, is_written};
use serde_json::json;

const CELL: &str = "here/bare/-/1/disk";

fn plan() -> Plan {
    let cell = json!({"id": CELL, "host": "here", "hypervisor": "bare", "storage": null, "guests": 1, "workload": "disk"});
    let limit = "1s";
    serde_json::from_value(json!({
        "scenario": "s", "seed": 1, "repeat": 3, "hosts": {}, "guest": {"image": "i", "memory": "1MiB", "vcpus": 1},
        "hypervisors": {}, "storages": {}, "workloads": {}, "cells": [cell], "order": [], "baseline": {},
        "deadlines": {"create": limit, "boot": limit, "prepare": limit, "run": limit, "collect": limit, "destroy": limit},
    }))
    .expect("plan")
}

fn sample(replicate: u32, value: f64) -> Sample {
    Sample {
        cell: CellId(CELL.into()),
        replicate,
        instance: 1,
        metric: "write".into(),
        unit: "KiB/s".into(),
        better: Better::Higher,
        value: Value::Measured(value),
        window: Some(Window { start_s: 1.0, end_s: 2.0 }),
        overlap: Some(1.0),
        accel: Accel::None,
        flags: Vec::new(),
    }
}

fn ended(replicate: u32, status: CellStatus, at_s: f64) -> Stamped {
    let outcome = Outcome { cell: CellId(CELL.into()), replicate, status, warnings: Vec::new() };
    Stamped { at_s, event: Event::CellEnded { visit: 1, outcome } }
}

fn create(path: &Path) -> RunDirectory {
    let write = MetricSpec::new("write", "write", "KiB/s", Better::Higher);
    let metrics = BTreeMap::from([(Name::new("disk").expect("name"), vec![write])]);
    RunDirectory::create(path, "r", "name: s\n", &plan(), metrics).expect("create")
}

#[test]
fn a_run_that_goes_on_has_each_replicate_once_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("r");
    let directory = create(&path);
    directory.samples(&[sample(1, 10.0)]).expect("keep");
    directory.event(&ended(1, CellStatus::Good, 5.0)).expect("event");
    directory.samples(&[sample(2, 20.0)]).expect("keep");
    directory.event(&ended(2, CellStatus::Skipped { reason: "interrupted".into() }, 6.0)).expect("event");
    directory.samples(&[sample(3, 30.0)]).expect("keep");
    drop(directory);
    let whole = fs::read_to_string(path.join("samples.jsonl")).expect("samples");
    fs::write(path.join("samples.jsonl"), format!("{whole}{{\"cell\":\"he")).expect("cut short");

    let (directory, history) = RunDirectory::reopen(&path).expect("reopen");
    assert_eq!(history.finished().into_iter().collect::<Vec<_>>(), [(CellId(CELL.into()), 1)]);
    assert!((history.at_s - 6.0).abs() < 1e-9 && !history.complete);
    directory
        .event(&Stamped { at_s: 7.0, event: Event::RunResumed { run: "r".into(), visits: 2 } })
        .expect("event");
    for (replicate, value) in [(2, 21.0), (3, 31.0)] {
        directory.samples(&[sample(replicate, value)]).expect("keep");
        directory.event(&ended(replicate, CellStatus::Good, 8.0)).expect("event");
    }
    directory.event(&Stamped { at_s: 9.0, event: Event::RunEnded { failed: 0 } }).expect("event");

    let record = RunDirectory::read(&path).expect("read");
    let values: Vec<_> = record.samples.iter().filter_map(|sample| sample.value.measured()).collect();
    assert_eq!(values, [10.0, 21.0, 31.0]);
    assert!(record.complete && record.outcomes.iter().all(|outcome| outcome.status == CellStatus::Good));
    assert_eq!(record.outcomes.len(), 3);
    let undone = fs::read_to_string(path.join("undone.jsonl")).expect("undone");
    assert!(undone.contains("20.0") && undone.contains("30.0"), "{undone}");
    let checked = check(&path, false).expect("check");
    assert_eq!((checked.findings, checked.unsealed), (Vec::new(), 0));
}

#[test]
fn what_was_changed_is_found_mended_and_kept() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("r");
    let directory = create(&path);
    let cell = CellId(CELL.into());
    let result = ExecResult { exit: Some(0), stdout: "fast\n".into(), stderr: String::new(), wall_s: 1.0 };
    directory
        .raw(Raw { cell: &cell, replicate: 1, instance: 1, round: "disk", result: &result })
        .expect("raw");
    directory.samples(&[sample(1, 10.0)]).expect("keep");
    directory.samples(&[sample(2, 20.0)]).expect("keep");
    directory.event(&ended(1, CellStatus::Good, 5.0)).expect("event");
    assert_eq!(check(&path, false).expect("check").findings, Vec::new());
    assert_eq!(check(&path, false).expect("check").raw, 2);

    let samples = path.join("samples.jsonl");
    let text = fs::read_to_string(&samples).expect("samples");
    fs::write(&samples, text.replace("20.0", "90.0") + "{\"cell\":").expect("change");
    fs::write(path.join("raw").join(CELL).join("1/1/disk.stdout"), "slow\n").expect("change");
    let found = check(&path, true).expect("check").findings;
    let told: Vec<_> = found.iter().map(|one| (one.file.to_string_lossy().into_owned(), one.line)).collect();
    let raw = format!("raw/{CELL}/1/1/disk.stdout");
    assert_eq!(told, [("samples.jsonl".into(), Some(2)), ("samples.jsonl".into(), Some(3)), (raw, None)]);
    assert!(fs::read_to_string(path.join("damaged.jsonl")).expect("kept").contains("90.0"));
    assert_eq!(check(&path, false).expect("check").findings.len(), 1, "what cannot be mended stays told");
    let record = RunDirectory::read(&path).expect("read");
    assert_eq!(record.samples, [sample(1, 10.0)]);
    assert_eq!(record.notices.len(), 1, "{:?}", record.notices);
}

#[test]
fn a_directory_that_is_no_run_is_told_of() {
    let folder = tempfile::tempdir().expect("folder");
    for error in [RunDirectory::read(folder.path()).err(), check(folder.path(), true).err()] {
        assert!(matches!(error, Some(StoreError::NotARun(_))), "{error:?}");
    }
}

#[test]
fn a_run_is_written_as_long_as_its_directory_is_open_and_by_one_process() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("run");
    assert!(!is_written(&path).expect("no run"));
    let directory = create(&path);
    assert!(is_written(&path).expect("open"));
    assert!(matches!(RunDirectory::reopen(&path), Err(StoreError::Busy(_))));
    drop(directory);
    assert!(!is_written(&path).expect("closed"));
    RunDirectory::reopen(&path).expect("reopen");
}
