//! What the plugin says of itself.
//!
//! Owns names, options, metrics and their limits. It must never depend on a request.

use crossvisor_plugin::model::{
    Better, Kind, Manifest, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec,
};
use serde_json::json;

pub const FILES: u64 = 1000;
pub const COPIES: u64 = 5;

pub fn manifest() -> Result<Manifest, NameError> {
    let tree = Offer {
        options: options(),
        metrics: metrics(),
        guest_programs: vec!["cp".into(), "sync".into()],
        drops_caches: true,
        ..Offer::new(Name::new("tree")?, "trees of many small files, copied at once by cp")
    };
    Ok(Manifest {
        name: Name::new("workload-tree")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "file system under many copies".into(),
        offers: vec![tree],
    })
}

fn options() -> Vec<OptionSpec> {
    vec![
        OptionSpec::new(
            "files",
            OptionKind::Integer { min: 1, max: 10_000_000 },
            json!(FILES),
            "files of each tree, 21 kB on average; trees and copies take copies × files × 43 kB of the disk",
        ),
        OptionSpec::new(
            "copies",
            OptionKind::Integer { min: 1, max: 100 },
            json!(COPIES),
            "trees that are copied at once",
        ),
    ]
}

fn metrics() -> Vec<MetricSpec> {
    let seconds = |name: &str, label: &str| MetricSpec::new(name, label, "s", Better::Lower);
    vec![
        seconds("wall", "all copies").headline(),
        seconds("synced", "all copies, on the disk").headline(),
        MetricSpec::new("rate", "files copied, on the disk", "files/s", Better::Higher).headline(),
        MetricSpec::new("throughput", "data copied, on the disk", "MiB/s", Better::Higher),
        seconds("copy_first", "first copy to end"),
        seconds("copy_mean", "mean of the copies"),
    ]
}
