//! Suspicion: what makes values doubtful that no single sample shows.
//!
//! Owns the limits and the wording, and adds its reasons to the flags of rows. It must never change a number.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_model::{Axes, Better, CellId, Place, RunRecord, TelemetrySummary};

use crate::{Flag, Row, WorkloadComparison};

/// Shares of the time, in percent, above which a wait is worth a word.
const GUEST_STEAL: f64 = 5.0;
const HOST_STEAL: f64 = 1.0;
const MEMORY_WAIT: f64 = 5.0;
/// Below this share of its full frequency, in percent, a processor is kept slow.
const FULL_FREQUENCY: f64 = 99.0;
/// By so much a guest must be better than the bare host where there is no interval to tell.
const BETTER: f64 = 1.05;

const FASTER: &str = "better than the bare host: more than the work is measured, such as a cache, the guest's clock or \
                      what else the host did";

/// Adds to the flags of every row the reasons to doubt it.
pub(crate) fn mark(record: &RunRecord, workloads: &mut [WorkloadComparison]) {
    let of_setup = told(&record.telemetry);
    for workload in workloads {
        let versions = versions(record, workload);
        let reasons: Vec<Vec<String>> = workload
            .cells
            .iter()
            .map(|cell| {
                let told = of_setup.get(&cell.cell).into_iter().flatten().cloned();
                let differing = versions.iter().filter(|(cells, _)| cells.contains(&cell.cell));
                let differing = differing.map(|(_, text)| text.clone());
                crowded(record, &cell.axes).into_iter().chain(told).chain(differing).collect()
            })
            .collect();
        for metric in &mut workload.metrics {
            let better = metric.spec.better;
            for (row, reasons) in metric.rows.iter_mut().zip(&reasons) {
                let faster = is_faster_than_bare(record, row, better).then(|| FASTER.to_string());
                let all: Vec<String> = reasons.iter().cloned().chain(faster).collect();
                all.into_iter().for_each(|reason| flag(row, reason));
            }
        }
    }
}

fn flag(row: &mut Row, text: String) {
    let samples = row.replicates.iter().map(|replicate| replicate.instances.len()).sum();
    if samples > 0 && row.flags.iter().all(|flag| flag.text != text) {
        row.flags.push(Flag { text, samples });
        row.flags.sort_by(|a, b| a.text.cmp(&b.text));
    }
}

/// More is promised to the guests than the host has.
fn crowded(record: &RunRecord, axes: &Axes) -> Vec<String> {
    let Some(host) = record.provenance.hosts.get(&axes.host).filter(|_| !axes.is_bare()) else {
        return Vec::new();
    };
    let guest = &record.plan.guest;
    let mut reasons = Vec::new();
    let vcpus = u64::from(axes.guests) * u64::from(guest.vcpus);
    if host.cpus > 0 && vcpus > u64::from(host.cpus) {
        let cpus = host.cpus;
        reasons.push(format!(
            "the guests have {vcpus} virtual CPUs and the host has {cpus}: they wait for each other"
        ));
    }
    if host.memory_bytes > 0 && u64::from(axes.guests) * guest.memory.0 > host.memory_bytes {
        reasons.push("the guests have more memory than the host: it may be on a disk".into());
    }
    reasons
}

/// What telemetry shows, by cell.
fn told(telemetry: &[TelemetrySummary]) -> BTreeMap<CellId, BTreeSet<String>> {
    let mut all: BTreeMap<CellId, BTreeSet<String>> = BTreeMap::new();
    for summary in telemetry {
        let mean =
            |name: &str| summary.series.iter().find(|series| series.name == name).map(|series| series.mean);
        let above = |name: &str, limit: f64| mean(name).is_some_and(|mean| mean > limit);
        let is_host = summary.place == Place::Host;
        let below = mean("cpu frequency allowed").is_some_and(|mean| mean < FULL_FREQUENCY);
        let reasons = [
            (
                !is_host && above("cpu steal", GUEST_STEAL),
                "a guest did not get the CPU that it wanted for more than a twentieth of the time (steal)",
            ),
            (
                is_host && above("cpu steal", HOST_STEAL),
                "the host did not get the CPU that it wanted for more than a hundredth of the time (steal): it is a guest itself",
            ),
            (
                above("memory pressure some", MEMORY_WAIT),
                "programs waited for memory for more than a twentieth of the time",
            ),
            (
                is_host && above("cpu slowed down by heat", 0.0),
                "a processor of the host was slowed down by heat",
            ),
            (is_host && below, "the host's processors were kept below their full frequency"),
        ];
        let reasons = reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_string());
        all.entry(summary.cell.clone()).or_default().extend(reasons);
    }
    all
}

/// Tools of which the cells of a workload used different versions: the cells, and what is to be said.
fn versions(record: &RunRecord, workload: &WorkloadComparison) -> Vec<(BTreeSet<CellId>, String)> {
    let own: BTreeSet<&CellId> = workload.cells.iter().map(|cell| &cell.cell).collect();
    let mut tools: BTreeMap<&str, BTreeMap<&str, BTreeSet<CellId>>> = BTreeMap::new();
    for setup in record.setups.iter().filter(|setup| own.contains(&setup.cell)) {
        for (tool, version) in &setup.tools {
            let cells = tools.entry(tool).or_default().entry(version).or_default();
            cells.insert(setup.cell.clone());
        }
    }
    let differing = tools.into_iter().filter(|(_, versions)| versions.len() > 1);
    let said = |(tool, versions): (&str, BTreeMap<&str, BTreeSet<CellId>>)| {
        let names: Vec<&str> = versions.keys().copied().collect();
        let text = format!("{tool} is not the same everywhere: versions {}", names.join(" and "));
        (versions.into_values().flatten().collect(), text)
    };
    differing.map(said).collect()
}

/// Whether a guest did better than the bare host that it is compared with, beyond what chance explains.
fn is_faster_than_bare(record: &RunRecord, row: &Row, better: Better) -> bool {
    let bare = |id: &CellId| record.plan.cells.iter().any(|cell| cell.id == *id && cell.axes.is_bare());
    let Some(ratio) =
        row.ratio.as_ref().filter(|_| !row.axes.is_bare() && row.baseline.as_ref().is_some_and(bare))
    else {
        return false;
    };
    match (better, ratio.interval) {
        (Better::Higher, Some(interval)) => interval.low > 1.0,
        (Better::Higher, None) => ratio.value > BETTER,
        (Better::Lower, Some(interval)) => interval.high < 1.0,
        (Better::Lower, None) => ratio.value < 1.0 / BETTER,
        (Better::Neither, _) => false,
    }
}
