//! What the plugin says of itself.
//!
//! Owns names, options and their limits. It must never depend on a request.

use crossvisor_plugin::model::{Bytes, Kind, Manifest, Name, NameError, Offer, OptionKind, OptionSpec};
use serde_json::json;

use crate::metrics;

const LARGEST: u64 = 16 << 40;
/// Engines that have one request under way, whatever the depth.
pub const SYNCHRONOUS: [&str; 4] = ["psync", "sync", "pvsync", "mmap"];
const ASYNCHRONOUS: [&str; 3] = ["libaio", "io_uring", "posixaio"];

pub fn manifest() -> Result<Manifest, NameError> {
    let fio = Offer {
        options: options(),
        metrics: metrics::specs(),
        guest_programs: vec!["fio".into()],
        drops_caches: true,
        imports: true,
        ..Offer::new(Name::new("fio")?, "disk requests of one size, reads and writes mixed, by fio")
    };
    Ok(Manifest {
        name: Name::new("workload-fio")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "disk benchmark with one pattern of requests".into(),
        offers: vec![fio],
    })
}

fn options() -> Vec<OptionSpec> {
    let whole = |min, max| OptionKind::Integer { min, max };
    let engines = SYNCHRONOUS.iter().chain(&ASYNCHRONOUS).map(ToString::to_string).collect();
    let set =
        |name: &str, kind, default: serde_json::Value, help: &str| OptionSpec::new(name, kind, default, help);
    vec![
        set("block", OptionKind::Size { min: 512, max: 1 << 30 }, json!(4096), "size of one request"),
        set("read", whole(0, 100), json!(50), "per cent of the requests that read; the others write"),
        set(
            "random",
            whole(0, 100),
            json!(0),
            "per cent of the requests at random places; the others in order",
        ),
        set(
            "depth",
            whole(1, 65_536),
            json!(1),
            "requests of each job under way at once; more than 1 needs libaio, io_uring or posixaio",
        ),
        set("engine", OptionKind::Choice { of: engines }, json!("psync"), "how requests are made"),
        set(
            "size",
            OptionKind::Size { min: Bytes::MIB, max: LARGEST },
            json!(256 * Bytes::MIB),
            "data set of each job",
        ),
        set("direct", OptionKind::Boolean, json!(true), "go past the page cache of the machine (O_DIRECT)"),
        set(
            "time",
            OptionKind::Duration { min: 1.0, max: 86_400.0 },
            json!(30.0),
            "how long requests are made, in whole seconds (fractions are rounded up)",
        ),
        set("jobs", whole(1, 1024), json!(1), "processes at once, each with a data set of its own"),
    ]
}
