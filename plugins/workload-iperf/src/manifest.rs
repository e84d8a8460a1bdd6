//! What the plugin says of itself.
//!
//! Owns names, options, metrics and their limits. It must never depend on a request.

use crossvisor_plugin::model::{
    Better, Bytes, Kind, Manifest, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec,
};
use serde_json::json;

use crate::detail::Detail;
use crate::direction::Direction;
use crate::report::Tool;

/// The offers. `iperf3` is another name of `iperf`, for who means it in contrast to iperf 2.
const OFFERS: [(&str, Tool); 3] = [("iperf", Tool::Iperf3), (IPERF2, Tool::Iperf2), ("iperf3", Tool::Iperf3)];
/// The offer that runs iperf 2.
pub const IPERF2: &str = "iperf2";

pub fn manifest() -> Result<Manifest, NameError> {
    let offer = |(name, tool): (&str, Tool)| {
        let summary = format!("network throughput, each way, by {}", tool.label());
        Ok(Offer {
            options: options(tool),
            metrics: metrics(),
            host_programs: vec![tool.program().into()],
            guest_programs: vec![tool.program().into()],
            imports: true,
            ..Offer::new(Name::new(name)?, &summary)
        })
    };
    Ok(Manifest {
        name: Name::new("workload-iperf")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "network benchmark".into(),
        offers: OFFERS.into_iter().map(offer).collect::<Result<_, _>>()?,
    })
}

fn options(tool: Tool) -> Vec<OptionSpec> {
    let choice = |of: &[&str]| OptionKind::Choice { of: of.iter().map(ToString::to_string).collect() };
    let servers = match tool {
        Tool::Iperf3 => {
            "run 'iperf3 -s' there on PORT for the first instance, on PORT+1 for the second and so on"
        }
        Tool::Iperf2 => "run 'iperf -s' there on PORT",
    };
    vec![
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
        OptionSpec::new("protocol", choice(&["tcp", "udp"]), json!("tcp"), "udp needs bandwidth_mbit_s"),
        OptionSpec::new(
            "bandwidth_mbit_s",
            OptionKind::Integer { min: 1, max: 1_000_000 },
            None,
            "rate at which each stream sends, in Mbit/s; unset: as fast as it goes",
        ),
        OptionSpec::new(
            "direction",
            choice(&["both", "out", "in"]),
            json!("both"),
            "out: the instance sends; in: it receives; both: one after the other",
        ),
        OptionSpec::new(
            "between",
            OptionKind::Text,
            json!("host"),
            &format!(
                "the other end: host; guests, in pairs (first and second, third and fourth …), which needs a bridge; or \
                 HOST:PORT, another machine ({servers})"
            ),
        ),
    ]
}

/// The throughputs first, then what describes them.
fn metrics() -> Vec<MetricSpec> {
    let throughput = Direction::ALL.map(|direction| {
        MetricSpec::new(direction.round(), direction.label(), "Mbit/s", Better::Higher).headline()
    });
    let details =
        Direction::ALL.into_iter().flat_map(|direction| Detail::ALL.map(|detail| detail.metric(direction)));
    throughput.into_iter().chain(details).collect()
}
