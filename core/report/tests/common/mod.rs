//! A small run made up for the tests: three hypervisors, one and two guests, three workloads, two replicates,
//! with a value that was too fast, a cell that failed, flags, and text that attacks its reader.

// Each test program uses its part of it.
#![allow(dead_code)]

use std::path::Path;

use crossvisor_model::{Axes, Cell, CellId, MetricSpec, Name, RunRecord, Sample};
use serde_json::{Value as Json, json};

/// HTML, Markdown, terminal and spreadsheet attacks in one.
pub const HOSTILE: &str = "=1+1 <script>alert('x')</script> & \"q\" | `c` \u{1b}[31m\u{202e}";

const HYPERVISORS: [(&str, f64); 3] = [("bare", 1.0), ("kvm-virtio", 0.93), ("kvm-e1000", 0.41)];
/// Workload, metric, label, unit, better, headline, value on the bare host.
const METRICS: [(&str, &str, &str, &str, &str, bool, f64); 7] = [
    ("disk", "write", "sequential write, block", "KiB/s", "higher", true, 58_412.0),
    ("disk", "seeks", "random seeks", "1/s", "higher", true, 399.0),
    ("disk", "create", "sequential create", "files/s", "higher", true, 9_968.0),
    ("disk", "write_cpu", "processor during sequential write", "%", "neither", false, 12.5),
    ("net", "out", "guest to host", "Mbit/s", "higher", true, 941.3),
    ("pi", "cycles", "processor cycles", "cycles", "lower", true, 29_120_000.0),
    ("pi", "wall", "wall time", "s", "lower", false, 0.412_7),
];

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

fn axes(hypervisor: &str, guests: u32, workload: &str) -> Axes {
    let storage = (hypervisor != "bare").then(|| name("file"));
    Axes { host: name("here"), hypervisor: name(hypervisor), storage, guests, workload: name(workload) }
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (hypervisor, _) in HYPERVISORS {
        for guests in [1, 2] {
            cells
                .extend(["disk", "net", "pi"].map(|workload| Cell::from(axes(hypervisor, guests, workload))));
        }
    }
    cells
}

/// A spread of a few per cent that depends on nothing but its arguments.
fn jitter(replicate: u32, instance: u32) -> f64 {
    1.0 + [[0.0, 0.014], [0.006, -0.011]][replicate as usize - 1][instance as usize - 1]
}

fn sample(id: &CellId, metric: usize, replicate: u32, instance: u32, value: Json) -> Sample {
    let (_, name, _, unit, better, _, _) = METRICS[metric];
    let mut sample = json!({
        "cell": id, "replicate": replicate, "instance": instance, "metric": name, "unit": unit, "better": better,
        "window": { "start_s": 10.0, "end_s": 20.0 }, "overlap": 1.0,
        "accel": if id.0.contains("bare") { "none" } else { "tcg" },
    });
    sample.as_object_mut().expect("an object").extend(value.as_object().expect("an object").clone());
    serde_json::from_value(sample).expect("a sample")
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (hypervisor, factor) in HYPERVISORS {
        for (guests, replicate, index) in [1, 2]
            .into_iter()
            .flat_map(|g| [1, 2].into_iter().flat_map(move |r| (0..7).map(move |m| (g, r, m))))
        {
            let (workload, metric, _, _, better, _, base) = METRICS[index];
            let cell = axes(hypervisor, guests, workload).id();
            let failed = hypervisor == "kvm-e1000" && guests == 2 && (workload == "net" || replicate == 2);
            for instance in (1..=guests).filter(|_| !failed) {
                let share = factor / f64::from(guests);
                let value =
                    base * jitter(replicate, instance) * if better == "lower" { 1.0 / share } else { share };
                let value = match (hypervisor, metric, replicate) {
                    ("bare", "create", _) | ("kvm-virtio", "create", 2) => json!({ "too_fast": null }),
                    _ => json!({ "measured": value }),
                };
                samples.push(sample(&cell, index, replicate, instance, value));
            }
        }
    }
    for sample in samples.iter_mut().filter(|sample| ["write", "seeks"].contains(&&*sample.metric)) {
        sample
            .flags
            .push("data set smaller than twice the memory: the page cache may have answered".to_string());
    }
    samples.last_mut().expect("samples").flags.push(HOSTILE.to_string());
    samples
}

fn outcomes() -> Json {
    let mut outcomes = Vec::new();
    for cell in cells() {
        for replicate in [1, 2] {
            let lost = cell.axes.hypervisor.as_str() == "kvm-e1000" && cell.axes.guests == 2;
            outcomes.push(if lost && replicate == 2 {
                json!({ "cell": cell.id, "replicate": 2, "status": "failed", "phase": "boot",
                    "reason": format!("guest 2 did not answer over SSH within 300 s; its console ends with:\nKernel panic - not syncing\n{HOSTILE}") })
            } else if lost && cell.axes.workload.as_str() == "net" {
                json!({ "cell": cell.id, "replicate": 1, "status": "failed", "phase": "run", "reason": "iperf3 ended with exit code 1: the server is busy" })
            } else {
                json!({ "cell": cell.id, "replicate": replicate, "status": "good" })
            });
        }
    }
    json!(outcomes)
}

fn metrics(workload: &str) -> Vec<MetricSpec> {
    let own = METRICS.iter().filter(|metric| metric.0 == workload);
    own.map(|&(_, name, label, unit, better, headline, _)| {
        let spec =
            json!({ "name": name, "label": label, "unit": unit, "better": better, "headline": headline });
        serde_json::from_value(spec).expect("a metric")
    })
    .collect()
}

fn plan() -> Json {
    let offer = |plugin: &str, offer: &str, options: Json| json!({ "plugin": plugin, "offer": offer, "options": options });
    json!({
        "scenario": "small", "description": "Bare host against KVM, for the tests of the reports.", "seed": 7, "repeat": 2,
        "hosts": { "here": { "uri": "qemu:///embed" } },
        "guest": { "image": "debian-12", "memory": "512MiB", "vcpus": 1 },
        "hypervisors": {
            "kvm-virtio": offer("hypervisor-kvm", "kvm-virtio", json!({})),
            "kvm-e1000": offer("hypervisor-kvm", "kvm-e1000", json!({})),
        },
        "storages": { "file": offer("storage-file", "file", json!({ "format": "qcow2" })) },
        "workloads": {
            "disk": offer("workload-bonnie", "bonnie", json!({ "size": 67_108_864 })),
            "net": offer("workload-iperf", "iperf", json!({ "duration": 10 })),
            "pi": offer("workload-hep", "pi", json!({ "digits": 2000 })),
        },
        "cells": cells(), "order": [], "baseline": { "hypervisor": "bare" },
        "deadlines": { "create": "1s", "boot": "1s", "prepare": "1s", "run": "1s", "collect": "1s", "destroy": "1s" },
    })
}

fn provenance() -> Json {
    json!({
        "crossvisor": "0.1.0", "started": "2026-03-14T09:26:53Z",
        "hosts": { "here": {
            "uri": "qemu:///embed", "cpu_model": "Example Processor 2000", "cpus": 2, "memory_bytes": 8_589_934_592u64,
            "kernel": "6.1.0-30-amd64", "os": "Debian GNU/Linux 12 (bookworm)", "governor": null,
            "mitigations": { "meltdown": "Mitigation: PTI", "mds": "Not affected", "tsa": "Not affected" }, "kvm": "/dev/kvm cannot be opened: no such device",
            "accel": "tcg", "versions": { "libvirt": "9.0.0", "qemu": "7.2.15" },
        } },
        "guest": { "image": "debian-12", "definition": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "kernel": "6.1.0-30-amd64", "memory_bytes": 536_870_912, "vcpus": 1, "versions": { "bonnie++": "2.00a" } },
        "plugins": { "hypervisor-kvm": { "version": "0.1.0", "origin": "linked into the program" } },
    })
}

/// What the host and both guests of one cell told.
fn telemetry() -> Json {
    let told = |place: Json, steal: f64| {
        json!({
            "cell": axes("kvm-virtio", 2, "disk").id(), "replicate": 1, "place": place, "offer": "system", "source": "system",
            "series": [
                { "name": "cpu user", "unit": "%", "mean": 41.25, "max": 97.0 },
                { "name": "cpu steal", "unit": "%", "mean": steal, "max": steal * 2.0 },
                { "name": HOSTILE, "unit": "KiB/s", "mean": 1234.5, "max": 20_000.0 },
            ],
        })
    };
    json!([told(json!("host"), 0.0), told(json!({ "guest": 1 }), 6.5), told(json!({ "guest": 2 }), 0.25)])
}

/// The run, always the same.
pub fn record() -> RunRecord {
    let volume = json!({ "source": { "file": "/var/lib/x/root.qcow2" }, "format": "qcow2", "cache": "none" });
    let setup = json!({
        "cell": axes("kvm-virtio", 1, "disk").id(), "replicate": 1, "accel": "tcg", "provision_s": 21.34,
        "volumes": [volume], "allocated_bytes": [73_400_320], "skew_s": { "main": 0.0021 }, "drift_s": { "main": [0.0004] },
    });
    serde_json::from_value(json!({
        "name": "small-20260314-092653", "plan": plan(), "provenance": provenance(),
        "metrics": { "disk": metrics("disk"), "net": metrics("net"), "pi": metrics("pi") },
        "outcomes": outcomes(), "setups": [setup], "samples": samples(), "telemetry": telemetry(),
        "notices": ["no usable KVM on here: emulating"], "complete": true,
    }))
    .expect("a record")
}

/// Compares with a file of `tests/golden`, or with `UPDATE_GOLDEN=1` writes it.
pub fn golden(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).expect("a writable file");
    }
    let expected = std::fs::read_to_string(&path).expect("a golden file");
    let differs = expected.lines().zip(actual.lines()).position(|(expected, actual)| expected != actual);
    assert!(expected == actual, "{file} differs, first in line {:?} (from 0)", differs);
}
