//! Cells on a Xen host: every variant and every backing, and what a run records of them.

use std::collections::BTreeSet;

use crossvisor_model::{Accel, Axes, CellStatus, Place, RunRecord, SetupFacts, Value};
use crossvisor_tests::{KeptHost, Lab};

use crate::{RUN, exits, scenario};

const CELLS: &str = "
matrix:
  hypervisor: [xen-pv, xen-pv-grub, xen-pvh, xen-hvm, xen-hvm-pv]
  storage: [lvm, snapshot, loop, file]
  guests: [1]
  workload: [bonnie, iperf, pi]
  exclude:
    - {hypervisor: [xen-pv-grub, xen-pvh, xen-hvm, xen-hvm-pv], storage: [snapshot, loop, file]}
    - {hypervisor: xen-hvm, workload: bonnie} # minutes on an emulated IDE disk
    - {hypervisor: [xen-pv-grub, xen-hvm-pv], workload: [bonnie, iperf]} # the same drivers as xen-pv
storages: {lvm: {vg: cv}, snapshot: {vg: cv}}
workloads:
  bonnie: {size: 16MiB, ram: 8MiB, fast: true, files: 0}
  iperf: {time: 1s}
  pi: {digits: 1000, repeat: 1}
";

pub fn all_variants_and_backings(lab: &Lab, host: &KeptHost<'_>) {
    let before = host.inventory();
    let text = scenario("cells", "{x: {up: xen}}", CELLS);
    exits(&lab.start_run(&lab.scenario("cells", &text), "cells").wait(RUN), 0);
    let record = lab.record("cells");
    assert_eq!(record.outcomes.len(), 19);
    assert_good(&record, Accel::Xen);
    for setup in &record.setups {
        assert_eq!(setup.volumes[0].backend.as_deref(), Some(backend(setup)), "{setup:?}");
    }
    let staged = &record.provenance.hosts["x"].staged;
    for variant in ["xen-pv", "xen-pv-grub", "xen-pvh", "xen-hvm", "xen-hvm-pv"] {
        assert!(staged[variant]["xen version"].starts_with("4."), "{staged:?}");
        assert!(staged[variant].contains_key("dom0 vcpus"), "{staged:?}");
    }
    assert_processors_are_watched(&record);
    assert_report(lab, &record, "x");
    host.assert_has_only(&before);
}

/// What serves a volume to a guest.
fn backend(setup: &SetupFacts) -> &'static str {
    match setup.cell.0.split('/').collect::<Vec<_>>()[..] {
        [_, "xen-hvm", ..] => "qemu",
        [_, _, "file", ..] => "qdisk",
        _ => "phy",
    }
}

/// All cells are good, and have values and facts of every guest.
pub fn assert_good(record: &RunRecord, accel: Accel) {
    assert!(record.complete);
    for cell in &record.plan.cells {
        let outcome = record.outcomes.iter().find(|outcome| outcome.cell == cell.id).expect("outcome");
        assert_eq!(outcome.status, CellStatus::Good, "{}", cell.id);
        for metric in record.metrics[&cell.axes.workload].iter().filter(|metric| metric.headline) {
            let of_metric = record.samples.iter().filter(|s| s.cell == cell.id && *s.metric == *metric.name);
            let samples: Vec<_> = of_metric.collect();
            assert_eq!(samples.len(), measuring(&cell.axes) as usize, "{} {}", cell.id, metric.name);
            assert!(samples.iter().all(|sample| !matches!(sample.value, Value::Missing(_))), "{samples:?}");
            assert!(samples.iter().all(|sample| sample.accel == accel), "{samples:?}");
        }
        let setup = record.setups.iter().find(|setup| setup.cell == cell.id).expect("setup");
        assert_eq!((setup.accel, setup.volumes.len()), (accel, cell.axes.guests as usize), "{setup:?}");
        let allocated = setup.allocated_bytes.iter().flatten().filter(|bytes| **bytes > 0);
        assert_eq!(allocated.count(), setup.volumes.len(), "{setup:?}");
    }
}

/// How many instances have values: of neighbours, the first of each pair.
fn measuring(axes: &Axes) -> u32 {
    match axes.workload.as_str() {
        "neighbours" => axes.guests / 2,
        _ => axes.guests,
    }
}

/// While guests work on their disks, dom0 and they are seen to use their processors.
fn assert_processors_are_watched(record: &RunRecord) {
    let mut seen = BTreeSet::new();
    for summary in record.telemetry.iter().filter(|summary| summary.offer.as_str() == "xen") {
        assert_eq!(summary.place, Place::Host, "{summary:?}");
        seen.extend(summary.series.iter().filter(|series| series.mean > 0.0).map(|series| &*series.name));
    }
    assert!(seen.contains("dom0 cpu") && seen.contains("guest 1 cpu"), "{seen:?}");
}

/// The report of a run on an emulated host says so, and only that.
pub fn assert_report(lab: &Lab, record: &RunRecord, host: &str) {
    let report = lab.runs().join(&record.name).join("report.html");
    let report = std::fs::read_to_string(report).expect("report");
    let is_emulated = record.provenance.hosts[host].outer_accel == Some(Accel::Tcg);
    assert_eq!(report.contains("compare shapes, not figures"), is_emulated);
}
