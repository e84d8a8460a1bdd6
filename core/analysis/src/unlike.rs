//! What makes two runs, or a cell of two runs, too unlike to be ranked.
//!
//! Owns the list of what must be the same. It must never judge a value.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_model::{Accel, Difference, MetricSpec, Name, RunRecord, Use};

use crate::CellReport;

/// Of circumstances and plan. The files of imported runs differ always and are left out.
pub(crate) fn in_general(first: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    let mut all = first.provenance.differences(&other.provenance);
    all.retain(|difference| !difference.what.starts_with("imported.files"));
    let [a, b] = [&first.plan, &other.plan];
    for (what, a, b) in [
        ("hypervisor", &a.hypervisors, &b.hypervisors),
        ("storage", &a.storages, &b.storages),
        ("workload", &a.workloads, &b.workloads),
    ] {
        let both = a.iter().filter_map(|(name, used)| Some((name, used, b.get(name)?)));
        all.extend(both.flat_map(|(name, a, b)| of_uses(what, name, a, b)));
    }
    all.extend(Difference::between("measuring", &a.measuring, &b.measuring, &[]));
    all.extend(Difference::of("replicates", &a.repeat.to_string(), &b.repeat.to_string()));
    all
}

/// Of a cell: guests, what its axes mean, how it is measured, tools and acceleration.
pub(crate) fn of_cells(
    first: (&RunRecord, &CellReport),
    other: (&RunRecord, &CellReport),
) -> Vec<Difference> {
    let ((a, cell), (b, own)) = (first, other);
    let mut all = Vec::new();
    if !cell.axes.is_bare() {
        let guests = [&a.provenance.guest, &b.provenance.guest];
        let [before, now] = guests.map(|guest| known(guest.memory_bytes >> 20, " MiB"));
        all.extend(Difference::of("guest memory", &before, &now));
        let [before, now] = guests.map(|guest| known(u64::from(guest.vcpus), ""));
        all.extend(Difference::of("guest vcpus", &before, &now));
    }
    let axes = &cell.axes;
    let uses = [
        ("hypervisor", Some(&axes.hypervisor), &a.plan.hypervisors, &b.plan.hypervisors),
        ("storage", axes.storage.as_ref(), &a.plan.storages, &b.plan.storages),
        ("workload", Some(&axes.workload), &a.plan.workloads, &b.plan.workloads),
    ];
    for (what, name, a, b) in uses {
        let both = name.and_then(|name| Some((name, a.get(name)?, b.get(name)?)));
        all.extend(both.into_iter().flat_map(|(name, a, b)| of_uses(what, name, a, b)));
    }
    all.extend(Difference::between("measuring", &a.plan.measuring, &b.plan.measuring, &[]));
    all.extend(Difference::between("tool", &tools(a, cell), &tools(b, own), &[]));
    all.extend(Difference::of("acceleration", acceleration(a, cell), acceleration(b, own)));
    all
}

/// Of what a metric is measured in.
pub(crate) fn of_metrics(first: &MetricSpec, other: &MetricSpec) -> Vec<Difference> {
    let unit = Difference::of("unit", &first.unit, &other.unit);
    let [before, now] = [first, other].map(|spec| format!("{:?}", spec.better).to_lowercase());
    unit.into_iter().chain(Difference::of("better", &before, &now)).collect()
}

fn of_uses(what: &str, name: &Name, first: &Use, other: &Use) -> Vec<Difference> {
    Difference::between(&format!("{what} {name}"), first, other, &[])
}

/// 0 is what imported runs have.
fn known(number: u64, unit: &str) -> String {
    if number == 0 { "not known".into() } else { format!("{number}{unit}") }
}

/// The versions of the tools that did the work, by tool; several where replicates differ.
fn tools(record: &RunRecord, cell: &CellReport) -> BTreeMap<String, String> {
    let mut all: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    let setups = record.setups.iter().filter(|setup| setup.cell == cell.cell);
    for (tool, version) in setups.flat_map(|setup| &setup.tools) {
        all.entry(tool).or_default().insert(version);
    }
    let imported = record.provenance.imported.as_ref().and_then(|facts| facts.tools.get(&cell.cell));
    for (tool, versions) in imported.into_iter().flatten() {
        all.entry(tool).or_default().extend(versions);
    }
    let listed = |versions: BTreeSet<&String>| versions.into_iter().cloned().collect::<Vec<_>>().join(", ");
    all.into_iter().map(|(tool, versions)| (tool.clone(), listed(versions))).collect()
}

/// Whether the guests, or the host they were on, were emulated.
fn acceleration(record: &RunRecord, cell: &CellReport) -> &'static str {
    let host = record.provenance.hosts.get(&cell.axes.host).and_then(|host| host.outer_accel);
    let emulated = cell.accel.iter().copied().chain(host).any(|accel| accel == Accel::Tcg);
    if emulated { "emulated" } else { "not emulated" }
}
