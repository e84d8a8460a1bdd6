//! The twelve stages of bonnie++ and the metrics that come of them.
//!
//! Owns their names, units and order, which is the order of the CSV line in every version. It must never read one.

use crossvisor_plugin::model::{Better, MetricSpec};

/// One stage.
pub struct Stage {
    /// Name of the speed metric; `<name>_cpu` and `<name>_latency` go with it.
    pub name: &'static str,
    label: &'static str,
    unit: &'static str,
    headline: bool,
}

const fn stage(name: &'static str, label: &'static str, unit: &'static str, headline: bool) -> Stage {
    Stage { name, label, unit, headline }
}

/// Stages that move data; the others work on files.
pub const IO_STAGES: usize = 6;
pub const ALL: usize = 12;

/// In the order of the CSV line.
pub const STAGES: [Stage; ALL] = [
    stage("putc", "sequential write, per character", "KiB/s", false),
    stage("write", "sequential write, block", "KiB/s", true),
    stage("rewrite", "sequential rewrite", "KiB/s", true),
    stage("getc", "sequential read, per character", "KiB/s", false),
    stage("read", "sequential read, block", "KiB/s", true),
    stage("seeks", "random seeks", "seeks/s", true),
    stage("seq_create", "files created in order", "files/s", false),
    stage("seq_stat", "files stat'ed in order", "files/s", false),
    stage("seq_del", "files deleted in order", "files/s", false),
    stage("ran_create", "files created in random order", "files/s", false),
    stage("ran_stat", "files stat'ed in random order", "files/s", false),
    stage("ran_del", "files deleted in random order", "files/s", false),
];

impl Stage {
    #[must_use]
    pub fn cpu(&self) -> String {
        format!("{}_cpu", self.name)
    }

    #[must_use]
    pub fn latency(&self) -> String {
        format!("{}_latency", self.name)
    }
}

/// The speeds that the page cache can raise. With `-D` the block write goes past the cache; for every later stage
/// bonnie++ opens the file anew, without `O_DIRECT`.
pub fn cached(direct: bool) -> &'static [&'static str] {
    if direct { &["rewrite", "read", "seeks"] } else { &["write", "rewrite", "read", "seeks"] }
}

/// All metrics: speeds, then CPU shares, then worst latencies.
pub fn metrics() -> Vec<MetricSpec> {
    let speed = STAGES.iter().map(|s| MetricSpec {
        headline: s.headline,
        ..MetricSpec::new(s.name, s.label, s.unit, Better::Higher)
    });
    let cpu =
        STAGES.iter().map(|s| MetricSpec::new(s.cpu(), format!("CPU, {}", s.label), "%", Better::Neither));
    let latency = STAGES
        .iter()
        .map(|s| MetricSpec::new(s.latency(), format!("worst latency, {}", s.label), "ms", Better::Lower));
    speed.chain(cpu).chain(latency).collect()
}
