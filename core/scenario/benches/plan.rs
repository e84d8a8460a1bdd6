//! How long a plan of 100,000 cells takes; fails above one second.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

fn list(prefix: &str, count: usize) -> String {
    (1..=count).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

fn definitions(prefix: &str, count: usize, offer: &str) -> String {
    (1..=count).map(|i| format!("{prefix}{i}: {{use: {offer}}}")).collect::<Vec<_>>().join(", ")
}

/// 10 hypervisors × 10 storages × 10 numbers of guests × 100 workloads.
fn scenario() -> String {
    format!(
        "name: large\nguest: {{image: debian-12, memory: 256MiB}}\nmatrix:\n  hypervisor: [{}]\n  \
         storage: [{}]\n  guests: [{}]\n  workload: [{}]\nhypervisors: {{{}}}\nstorages: {{{}}}\n\
         workloads: {{{}}}\n",
        list("h", 10),
        list("s", 10),
        list("", 10),
        list("w", 100),
        definitions("h", 10, "kvm-virtio"),
        definitions("s", 10, "file"),
        definitions("w", 100, "pi"),
    )
}

fn main() {
    let text = scenario();
    let start = Instant::now();
    let plan = common::planned(&text, "large.yaml").expect("the scenario is right");
    let took = start.elapsed();
    println!("{} cells, {} visits: {took:?}", plan.cells.len(), plan.order.len());
    assert_eq!(plan.cells.len(), 100_000);
    assert!(took < Duration::from_secs(1), "planning 100,000 cells took {took:?}");
}
