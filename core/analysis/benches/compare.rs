//! How long it takes to compare many cells and many samples; fails above the limits.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/noise.rs"]
mod noise;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{record, sample};
use crossvisor_analysis::compare;
use crossvisor_model::RunRecord;
use noise::Noise;
use serde_json::json;

fn measured(hypervisors: usize, guests: &[u32], metrics: usize, replicates: u32) -> RunRecord {
    let metrics: Vec<Arc<str>> = (0..metrics).map(|number| format!("metric-{number}").into()).collect();
    let mut record = record(hypervisors, guests, &metrics, json!({"repeat": replicates}));
    let mut noise = Noise::new(1);
    for cell in &record.plan.cells {
        for replicate in 1..=replicates {
            for instance in 1..=cell.axes.guests {
                let value = |noise: &mut Noise| 1e5 * (1.0 + 0.02 * noise.normal());
                let of = |metric| sample(&cell.id, replicate, instance, metric, value(&mut noise));
                record.samples.extend(metrics.iter().map(of));
            }
        }
    }
    record
}

fn time(what: &str, record: &RunRecord, limit: Duration) {
    let start = Instant::now();
    let comparison = compare(record);
    let took = start.elapsed();
    let verdicts = comparison.workloads.iter().flat_map(|w| &w.metrics).flat_map(|metric| &metric.rows);
    let verdicts = verdicts.filter(|row| row.verdict.is_some()).count();
    let (cells, samples) = (record.plan.cells.len(), record.samples.len());
    println!(
        "{what}: {cells} cells, {samples} samples, {verdicts} verdicts: {took:.2?} (at most {limit:.0?})"
    );
    assert!(took < limit, "{what} took {took:?}");
}

fn main() {
    time("cells", &measured(9_999, &[1], 1, 5), Duration::from_secs(1));
    time("samples", &measured(249, &[1, 2, 3, 4], 10, 40), Duration::from_secs(3));
}
