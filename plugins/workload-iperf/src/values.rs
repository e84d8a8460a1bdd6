//! From a test to values of the offer's metrics and to the settings that make tests comparable.
//!
//! Owns the names of the settings and the choice of the end that is believed: the receiver, where it is known.

use std::collections::BTreeMap;

use crossvisor_plugin::model::Values;

use crate::detail::Detail;
use crate::report::{Flow, Protocol, Report, Total};

const MIB: f64 = 1_048_576.0;
/// Relative to the asked time; less is flagged.
const TOO_SHORT: f64 = 0.9;

/// The values of a test, by metric.
#[must_use]
pub fn values(report: &Report) -> Values {
    let mut values = Values::default();
    for flow in &report.flows {
        add(&mut values, report, flow);
    }
    values
}

fn add(values: &mut Values, report: &Report, flow: &Flow) {
    let throughput = flow.direction.round().to_string();
    let mut measured = |detail: Detail, value: Option<f64>| {
        values.measured.extend(value.map(|value| (flow.direction.metric(detail.suffix()), value)));
    };
    measured(Detail::Sent, flow.sent.map(|total| total.bits_per_second / 1e6));
    measured(Detail::Slowest, flow.spread.map(|[slowest, _]| slowest / 1e6));
    measured(Detail::Fastest, flow.spread.map(|[_, fastest]| fastest / 1e6));
    let main = flow.received.or(flow.sent);
    measured(Detail::Seconds, main.map(|total| total.seconds));
    measured(Detail::Transferred, main.and_then(|total| total.bytes).map(|bytes| bytes / MIB));
    flow.details.iter().for_each(|(detail, value)| measured(*detail, Some(*value)));
    let detail = |detail| flow.details.get(&detail).copied();
    let lost = detail(Detail::Lost).zip(detail(Detail::Datagrams).filter(|sent| *sent > 0.0));
    measured(Detail::LostPercent, lost.map(|(lost, sent)| 100.0 * lost / sent));
    let said = report.complaints.iter().map(|words| format!("the tool said: {words}"));
    match believed(report, flow) {
        Some(total) => {
            values.measured.insert(throughput.clone(), total.bits_per_second / 1e6);
            let short = report.asked.seconds.filter(|asked| total.seconds < TOO_SHORT * asked);
            let short = short.map(|asked| format!("measured over {} s instead of {asked} s", total.seconds));
            let flags: Vec<String> = flow.flags.iter().cloned().chain(short).chain(said).collect();
            if !flags.is_empty() {
                values.flags.insert(throughput, flags);
            }
        }
        None => {
            let reason = flow.unknown.as_deref().unwrap_or("the receiver's count is not known");
            let reasons: Vec<String> = std::iter::once(reason.into()).chain(said).collect();
            values.missing.insert(throughput, reasons.join("; "));
        }
    }
}

/// What arrived. The sender of a TCP stream is believed where it alone is known and iperf 2 does not even ask the
/// other; datagrams that were sent say nothing of what arrived.
fn believed(report: &Report, flow: &Flow) -> Option<Total> {
    let sender = flow.sent.filter(|_| flow.unknown.is_none() && report.protocol != Some(Protocol::Udp));
    flow.received.or(sender)
}

/// What makes tests comparable, for people.
#[must_use]
pub fn settings(report: &Report) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut set =
        |name: &str, value: Option<String>| settings.extend(value.map(|value| (name.to_string(), value)));
    let asked = &report.asked;
    set("tool", Some(report.tool.label().into()));
    set("protocol", report.protocol.map(|protocol| protocol.label().into()));
    set("role", report.role.map(|role| role.label().into()));
    let directions: Vec<&str> = report.flows.iter().map(|flow| flow.direction.round()).collect();
    set("direction", Some(directions.join(" and ")));
    let streams = report.flows.iter().map(|flow| flow.streams).max().filter(|streams| *streams > 0);
    set("streams", streams.or(asked.streams).map(|streams| streams.to_string()));
    set("time", asked.seconds.or_else(|| whole_seconds(report)).map(|seconds| format!("{seconds} s")));
    set("window", asked.window.clone());
    set("bandwidth", asked.bits_per_second.map(|rate| format!("{} Mbit/s", rate / 1e6)));
    let block = if report.protocol == Some(Protocol::Udp) { "datagram" } else { "block" };
    set(block, asked.block_bytes.map(|bytes| format!("{bytes} B")));
    let by_receiver = report.flows.iter().all(|flow| flow.received.is_some());
    set("counted by", Some(if by_receiver { "receiver" } else { "sender" }.into()));
    settings
}

/// Where the time that was asked for is not known: what was measured, without the fraction that differs each time.
fn whole_seconds(report: &Report) -> Option<f64> {
    let seconds =
        report.flows.iter().filter_map(|flow| flow.received.or(flow.sent)).map(|total| total.seconds);
    seconds.reduce(f64::max).map(f64::round)
}
