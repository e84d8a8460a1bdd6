//! What the plugin says of itself.
//!
//! Owns the names of the offers and the metrics of the import: the columns of iostat as sysstat 12 calls them, in one
//! unit whatever the columns of the recording were in.

use crossvisor_plugin::model::{Better, Kind, Manifest, MetricSpec, Name, NameError, Offer};

use crate::diskstats;

pub const SYSTEM: &str = "system";
pub const IOSTAT: &str = "iostat";

/// Name, heading, unit.
pub const COLUMNS: [(&str, &str, &str); 37] = [
    ("tps", "requests", "requests/s"),
    ("r/s", "read requests", "requests/s"),
    ("w/s", "write requests", "requests/s"),
    ("d/s", "discard requests", "requests/s"),
    ("f/s", "flush requests", "requests/s"),
    ("kB/s", "read, written and discarded", "KiB/s"),
    ("rkB/s", "read", "KiB/s"),
    ("wkB/s", "written", "KiB/s"),
    ("dkB/s", "discarded", "KiB/s"),
    ("kB_read", "read in all", "KiB"),
    ("kB_wrtn", "written in all", "KiB"),
    ("kB_dscd", "discarded in all", "KiB"),
    ("rqm/s", "merged requests", "requests/s"),
    ("rrqm/s", "merged read requests", "requests/s"),
    ("wrqm/s", "merged write requests", "requests/s"),
    ("drqm/s", "merged discard requests", "requests/s"),
    ("%rrqm", "read requests that were merged", "%"),
    ("%wrqm", "write requests that were merged", "%"),
    ("%drqm", "discard requests that were merged", "%"),
    ("await", "time of a request", "ms"),
    ("r_await", "time of a read request", "ms"),
    ("w_await", "time of a write request", "ms"),
    ("d_await", "time of a discard request", "ms"),
    ("f_await", "time of a flush request", "ms"),
    ("areq-sz", "size of a request", "KiB"),
    ("rareq-sz", "size of a read request", "KiB"),
    ("wareq-sz", "size of a write request", "KiB"),
    ("dareq-sz", "size of a discard request", "KiB"),
    ("aqu-sz", "requests in the queue", "requests"),
    ("svctm", "service time, which sysstat itself calls wrong", "ms"),
    ("%util", "time with requests", "%"),
    ("%user", "CPU, programs", "%"),
    ("%nice", "CPU, programs of low priority", "%"),
    ("%system", "CPU, kernel", "%"),
    ("%iowait", "CPU, idle with a request under way", "%"),
    ("%steal", "CPU, wanted and not given by the hypervisor", "%"),
    ("%idle", "CPU, idle", "%"),
];
/// Those that a summary shows.
const HEADLINES: [&str; 5] = ["r/s", "w/s", "rkB/s", "wkB/s", "%util"];

pub fn manifest() -> Result<Manifest, NameError> {
    let system = Offer::new(
        Name::new(SYSTEM)?,
        "CPU by class, disks, network and memory pressure, from the kernel, on the host and in each guest",
    );
    let summary = "recordings of iostat and sar -d of every sysstat, and snapshots of /proc/diskstats";
    let iostat = Offer { imports: true, metrics: metrics(), ..Offer::new(Name::new(IOSTAT)?, summary) };
    Ok(Manifest {
        name: Name::new("telemetry-system")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Telemetry,
        summary: "what a machine does while it is measured".into(),
        offers: vec![system, iostat],
    })
}

/// None of them is a score: they tell what a machine did, not how well.
fn metrics() -> Vec<MetricSpec> {
    let counters = diskstats::COUNTERS.into_iter().map(|(name, unit)| (name, name, unit));
    let metric = |(name, label, unit)| {
        let metric = MetricSpec::new(name, label, unit, Better::Neither);
        if HEADLINES.contains(&name) { metric.headline() } else { metric }
    };
    COLUMNS.into_iter().chain(counters).map(metric).collect()
}
