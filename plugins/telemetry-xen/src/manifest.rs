//! What the plugin says of itself.
//!
//! Owns the names of the offers and the metrics of the import, each in one unit whatever tool printed it.

use crossvisor_plugin::model::{Better, Kind, Manifest, MetricSpec, Name, NameError, Offer};

pub const XEN: &str = "xen";
pub const XENTOP: &str = "xentop";
pub const XENMON: &str = "xenmon";

/// Name, heading, unit.
const METRICS: [(&str, &str, &str); 23] = [
    ("cpu", "CPU, of one processor", "%"),
    ("cpu share", "CPU, of all processors", "%"),
    ("cpu time", "CPU since the domain was made", "s"),
    ("cpu used", "CPU in the span", "s"),
    ("memory", "memory", "KiB"),
    ("memory share", "memory, of the host's", "%"),
    ("max memory", "the most memory that it may have", "KiB"),
    ("max memory share", "the most memory that it may have, of the host's", "%"),
    ("host memory", "memory of the host", "KiB"),
    ("vcpus", "virtual processors", "vcpus"),
    ("nets", "network interfaces", "interfaces"),
    ("net sent", "sent in all", "KiB"),
    ("net received", "received in all", "KiB"),
    ("net sent in span", "sent in the span", "B"),
    ("net received in span", "received in the span", "B"),
    ("vbds", "disks", "disks"),
    ("vbd out of requests", "times that a disk had no request left", "times"),
    ("vbd reads", "read requests", "requests"),
    ("vbd writes", "write requests", "requests"),
    ("vbd reads in span", "read requests in the span", "requests"),
    ("vbd writes in span", "write requests in the span", "requests"),
    ("vbd sectors read", "read in all", "sectors"),
    ("vbd sectors written", "written in all", "sectors"),
];
/// Those that a summary shows.
const HEADLINES: [&str; 3] = ["cpu", "cpu share", "cpu time"];

pub fn manifest() -> Result<Manifest, NameError> {
    let xen = Offer {
        drivers: vec!["xen".into()],
        host_programs: vec!["xentop".into(), "stdbuf".into()],
        ..Offer::new(Name::new(XEN)?, "CPU of dom0 and of each domain, by xentop")
    };
    let xenmon = Offer {
        imports: true,
        metrics: metrics(),
        ..Offer::new(
            Name::new(XENMON)?,
            "recordings of xentop, xl list, xl vcpu-list (and xm's) and virt-top's CSV",
        )
    };
    Ok(Manifest {
        name: Name::new("telemetry-xen")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Telemetry,
        summary: "what Xen's domains do while they are measured".into(),
        offers: vec![xen, xenmon],
    })
}

/// None of them is a score: they tell what a domain did, not how well.
fn metrics() -> Vec<MetricSpec> {
    let metric = |(name, label, unit)| {
        let metric = MetricSpec::new(name, label, unit, Better::Neither);
        if HEADLINES.contains(&name) { metric.headline() } else { metric }
    };
    METRICS.into_iter().map(metric).collect()
}
