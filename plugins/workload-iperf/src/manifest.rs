//! What the plugin says of itself.
//!
//! Owns names, options, metrics and their limits. It must never depend on a request.

use crossvisor_plugin::model::{
    Better, Bytes, Kind, Manifest, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec,
};
use serde_json::json;

use crate::direction::Direction;

pub fn manifest() -> Result<Manifest, NameError> {
    let iperf = Offer {
        options: vec![
            OptionSpec::new(
                "time",
                OptionKind::Duration { min: 1.0, max: 86_400.0 },
                json!(10.0),
                "how long each direction is measured, in whole seconds (fractions are rounded up)",
            ),
            OptionSpec::new(
                "parallel",
                OptionKind::Integer { min: 1, max: 128 },
                json!(1),
                "streams of each instance at once",
            ),
            OptionSpec::new(
                "window",
                OptionKind::Size { min: Bytes::KIB, max: 512 * Bytes::MIB },
                None,
                "socket buffer; unset: the kernel decides",
            ),
        ],
        metrics: metrics(),
        host_programs: vec!["iperf3".into()],
        guest_programs: vec!["iperf3".into()],
        ..Offer::new(Name::new("iperf")?, "TCP throughput between host and guest, each way, by iperf3")
    };
    Ok(Manifest {
        name: Name::new("workload-iperf")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "network benchmark".into(),
        offers: vec![iperf],
    })
}

/// The throughputs first, then what describes them.
fn metrics() -> Vec<MetricSpec> {
    let throughput = Direction::ALL.map(|direction| {
        let label = format!("TCP, {}", direction.label());
        MetricSpec::new(direction.round(), label, "Mbit/s", Better::Higher).headline()
    });
    let details = Direction::ALL.into_iter().flat_map(|direction| {
        let metric = |suffix: &str, label: &str, unit, better| {
            MetricSpec::new(direction.metric(suffix), format!("{label}, {}", direction.label()), unit, better)
        };
        [
            metric("retransmits", "segments sent again", "segments", Better::Lower),
            metric("cpu_instance", "CPU of iperf3 on the instance", "%", Better::Neither),
            metric("cpu_host", "CPU of iperf3 on the host", "%", Better::Neither),
        ]
    });
    throughput.into_iter().chain(details).collect()
}
