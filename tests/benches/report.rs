//! What the report of a run of 1,000,000 samples costs, from its directory to the HTML page; fails above the limits.
//!
//! Owns the numbers of `script/bench report`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crossvisor_analysis::compare;
use crossvisor_model::{Accel, Axes, Cell, Name, Values};
use crossvisor_report::html;
use crossvisor_store::{Round, RunDirectory, recordings};
use serde_json::json;

const MOST_SECONDS: f64 = 5.0;
const MOST_MIB: u64 = 500;
const METRICS: u32 = 20;
const REPLICATES: u32 = 50;
const GUESTS: [u32; 4] = [1, 2, 3, 4];
/// With 50 replicates of 1 to 4 guests and 20 metrics, 1,000,000 samples.
const MACHINES: u32 = 100;

fn main() {
    let folder = tempfile::tempdir().expect("folder");
    write(folder.path());
    let start = Instant::now();
    let record = RunDirectory::read(folder.path()).expect("read");
    let read = start.elapsed().as_secs_f64();
    let comparison = compare(&record);
    let compared = start.elapsed().as_secs_f64();
    let page = html(&record, &comparison, &recordings(folder.path(), &record.telemetry)).expect("HTML");
    let took = start.elapsed().as_secs_f64();
    let peak = peak_mib();
    println!(
        "{} samples of {} cells: read {read:.2} s, compared {:.2} s, page of {:.1} MiB {:.2} s; in all {took:.2} s (at most \
         {MOST_SECONDS} s), {peak} MiB at most in memory (at most {MOST_MIB} MiB)",
        record.samples.len(),
        record.plan.cells.len(),
        compared - read,
        page.len() as f64 / 1_048_576.0,
        took - compared,
    );
    assert!(took <= MOST_SECONDS && peak <= MOST_MIB, "above the limits");
}

/// The most memory this process ever had.
fn peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("kB") / 1024
}

fn cells() -> Vec<Cell> {
    let name = |text: &str| Name::new(text).expect("name");
    let machines = (0..MACHINES).flat_map(|machine| GUESTS.map(|guests| (machine, guests)));
    let axes = |(machine, guests): (u32, u32)| Axes {
        host: name("here"),
        hypervisor: name(&format!("kvm-{}", machine / 4)),
        storage: Some(name(["file", "loop", "lvm", "snapshot"][(machine % 4) as usize])),
        guests,
        workload: name("bonnie"),
    };
    machines.map(axes).map(Cell::from).collect()
}

fn write(folder: &Path) {
    let cells = cells();
    let time = "1s";
    let metric = |n| {
        let headline = n < 4;
        json!({"name": format!("metric_{n}"), "label": format!("metric {n}"), "unit": "KiB/s", "better": "higher",
            "headline": headline})
    };
    let metrics: Vec<_> = (0..METRICS).map(metric).collect();
    let plan = json!({
        "scenario": "s", "seed": 1, "repeat": REPLICATES, "hosts": {}, "hypervisors": {}, "storages": {},
        "workloads": {}, "guest": {"image": "i", "memory": "1MiB", "vcpus": 1}, "cells": cells, "order": [],
        "baseline": {"hypervisor": "kvm-0", "storage": "file"},
        "deadlines": {"create": time, "boot": time, "prepare": time, "run": time, "collect": time, "destroy": time},
    });
    let run = json!({"format": 2, "name": "s", "metrics": {"bonnie": metrics}});
    for (file, content) in [("plan.json", plan), ("run.json", run)] {
        fs::write(folder.join(file), content.to_string()).expect("write");
    }
    let mut samples = std::io::BufWriter::new(fs::File::create(folder.join("samples.jsonl")).expect("file"));
    for (number, cell) in cells.iter().enumerate() {
        for (replicate, instance) in
            (1..=REPLICATES).flat_map(|r| (1..=cell.axes.guests).map(move |instance| (r, instance)))
        {
            // A spread of a few per cent, the same in every run of the bench.
            let value = |n: u32| {
                1e5 + f64::from((number as u32 * 7919 + replicate * 104_729 + instance * 31 + n) % 9973)
            };
            let round = Round {
                cell: cell.id.clone(),
                replicate,
                instance,
                window: None,
                overlap: Some(1.0),
                accel: Accel::Kvm,
                values: Values {
                    measured: (0..METRICS).map(|n| (format!("metric_{n}"), value(n))).collect(),
                    ..Values::default()
                },
            };
            writeln!(samples, "{}", serde_json::to_string(&round).expect("JSON")).expect("write");
        }
    }
}
