//! What reading a run of 1,000,000 values costs.
//!
//! Owns the numbers of `script/bench read`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crossvisor_model::{Accel, Axes, Cell, Name, Values};
use crossvisor_store::{Round, RunDirectory};
use serde_json::json;

const CELLS: u32 = 50;
const METRICS: u32 = 20;
const VALUES: u32 = 1_000_000;

fn main() {
    let folder = tempfile::tempdir().expect("folder");
    write(folder.path());
    let start = Instant::now();
    let record = RunDirectory::read(folder.path()).expect("read");
    let took = start.elapsed();
    let peak = fs::read_to_string("/proc/self/status").expect("status");
    let peak = peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("{} values in {:.2} s (at most 2 s), {peak}", record.samples.len(), took.as_secs_f64());
}

fn write(folder: &Path) {
    let name = |text: &str| Name::new(text).expect("name");
    let axes = |number| Axes {
        host: name("here"),
        hypervisor: name("kvm-virtio"),
        storage: Some(name("file")),
        guests: number,
        workload: name("bonnie"),
    };
    let cells: Vec<Cell> = (1..=CELLS).map(|number| axes(number).into()).collect();
    let time = "1s";
    let metric =
        |n| json!({"name": format!("metric_{n}"), "label": "l", "unit": "KiB/s", "better": "higher"});
    let metrics: Vec<_> = (0..METRICS).map(metric).collect();
    let plan = json!({
        "scenario": "s", "seed": 1, "repeat": 1, "hosts": {}, "hypervisors": {}, "storages": {}, "workloads": {},
        "guest": {"image": "i", "memory": "1MiB", "vcpus": 1}, "cells": cells, "order": [], "baseline": {},
        "deadlines": {"create": time, "boot": time, "prepare": time, "run": time, "collect": time, "destroy": time},
    });
    let provenance = json!({"crossvisor": "0", "started": "", "hosts": {}, "plugins": {},
        "guest": {"image": "", "definition": "", "kernel": "", "memory_bytes": 0, "vcpus": 0, "versions": {}}});
    let run = json!({"format": 2, "name": "s", "metrics": {"bonnie": metrics}});
    for (file, content) in [("plan", plan), ("provenance", provenance), ("run", run)] {
        fs::write(folder.join(file).with_extension("json"), content.to_string()).expect("write");
    }
    let mut samples = std::io::BufWriter::new(fs::File::create(folder.join("samples.jsonl")).expect("file"));
    for number in 0..VALUES / METRICS {
        let measured = |n| (format!("metric_{n}"), f64::from(number * METRICS + n) / 7.0);
        let round = Round {
            cell: cells[(number % CELLS) as usize].id.clone(),
            replicate: number / CELLS + 1,
            instance: 1,
            window: None,
            overlap: Some(1.0),
            accel: Accel::Kvm,
            values: Values {
                measured: (0..METRICS).map(measured).collect::<BTreeMap<_, _>>(),
                ..Values::default()
            },
        };
        writeln!(samples, "{}", serde_json::to_string(&round).expect("JSON")).expect("write");
    }
}
