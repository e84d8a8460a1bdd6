//! Runs made up for tests and benchmarks.

use std::sync::Arc;

use crossvisor_model::{Accel, Axes, Better, Cell, CellId, Name, RunRecord, Sample, Value};
use serde_json::json;

pub const BASELINE: &str = "bare";

/// A run without samples of these hypervisors, the baseline before them, with these numbers of guests, and of the
/// workload `work` with these headline metrics, of which more is better.
pub fn record(
    hypervisors: usize,
    guests: &[u32],
    metrics: &[Arc<str>],
    plan: serde_json::Value,
) -> RunRecord {
    let name = |text: &str| text.parse::<Name>().expect("a name");
    let mut cells = Vec::new();
    for hypervisor in 0..=hypervisors {
        for &guests in guests {
            let bare = hypervisor == 0;
            let hypervisor = if bare { BASELINE.to_string() } else { format!("h{hypervisor}") };
            let storage = (!bare).then(|| name("file"));
            let (host, workload) = (name("here"), name("work"));
            let axes = Axes { host, hypervisor: name(&hypervisor), storage, guests, workload };
            cells.push(Cell::from(axes));
        }
    }
    let mut whole = json!({
        "scenario": "s", "seed": 1, "repeat": 3, "hosts": {}, "hypervisors": {}, "storages": {}, "workloads": {},
        "guest": {"image": "g", "memory": "64MiB", "vcpus": 1}, "order": [], "baseline": {"hypervisor": BASELINE},
        "deadlines": {"create": "1s", "boot": "1s", "prepare": "1s", "run": "1s", "collect": "1s", "destroy": "1s"},
        "cells": cells,
    });
    let fields = whole.as_object_mut().expect("an object");
    fields.extend(plan.as_object().expect("an object").clone());
    let spec = |name: &Arc<str>| json!({"name": name, "label": name, "unit": "KiB/s", "better": "higher", "headline": true});
    let guest =
        json!({"image": "g", "definition": "", "kernel": "", "memory_bytes": 0, "vcpus": 1, "versions": {}});
    serde_json::from_value(json!({
        "name": "r", "plan": whole, "metrics": {"work": metrics.iter().map(spec).collect::<Vec<_>>()},
        "outcomes": [], "setups": [], "samples": [], "notices": [], "complete": true,
        "provenance": {"crossvisor": "0", "started": "", "hosts": {}, "guest": guest, "plugins": {}},
    }))
    .expect("a record")
}

pub fn sample(cell: &CellId, replicate: u32, instance: u32, metric: &Arc<str>, value: f64) -> Sample {
    Sample {
        cell: cell.clone(),
        replicate,
        instance,
        metric: metric.clone(),
        unit: "KiB/s".into(),
        better: Better::Higher,
        value: Value::Measured(value),
        window: None,
        overlap: None,
        accel: Accel::Kvm,
        flags: Vec::new(),
    }
}
