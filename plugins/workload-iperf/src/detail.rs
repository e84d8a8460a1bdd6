//! What describes a throughput.
//!
//! Owns the metrics beside the throughput, with their units. It must never read them.

use crossvisor_plugin::model::{Better, MetricSpec};

use crate::direction::Direction;

/// A metric of one direction beside its throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    Sent,
    Slowest,
    Fastest,
    Seconds,
    Transferred,
    Retransmits,
    Jitter,
    LostPercent,
    Lost,
    Datagrams,
    OutOfOrder,
    Rtt,
    Window,
    Connect,
    Writes,
    CpuInstance,
    CpuPeer,
}

impl Detail {
    pub const ALL: [Self; 17] = [
        Self::Sent,
        Self::Slowest,
        Self::Fastest,
        Self::Seconds,
        Self::Transferred,
        Self::Retransmits,
        Self::Jitter,
        Self::LostPercent,
        Self::Lost,
        Self::Datagrams,
        Self::OutOfOrder,
        Self::Rtt,
        Self::Window,
        Self::Connect,
        Self::Writes,
        Self::CpuInstance,
        Self::CpuPeer,
    ];

    /// The end of the metric's name, its label, its unit, and which way is better.
    fn spec(self) -> (&'static str, &'static str, &'static str, Better) {
        use Better::{Higher, Lower, Neither};
        match self {
            Self::Sent => ("sent", "throughput as the sender counts", "Mbit/s", Neither),
            Self::Slowest => ("slowest", "slowest stream", "Mbit/s", Higher),
            Self::Fastest => ("fastest", "fastest stream", "Mbit/s", Neither),
            Self::Seconds => ("seconds", "time measured", "s", Neither),
            Self::Transferred => ("transferred", "data transferred", "MiB", Neither),
            Self::Retransmits => ("retransmits", "segments sent again", "segments", Lower),
            Self::Jitter => ("jitter", "jitter, mean of the streams", "ms", Lower),
            Self::LostPercent => ("lost_percent", "datagrams lost", "%", Lower),
            Self::Lost => ("lost", "datagrams lost", "datagrams", Lower),
            Self::Datagrams => ("datagrams", "datagrams sent", "datagrams", Neither),
            Self::OutOfOrder => ("out_of_order", "datagrams out of order", "datagrams", Lower),
            Self::Rtt => ("rtt", "round-trip time, mean of the streams", "ms", Lower),
            Self::Window => ("cwnd", "congestion window, largest of the streams", "KiB", Neither),
            Self::Connect => ("connect", "time to connect, mean of the streams", "ms", Lower),
            Self::Writes => ("writes", "writes to the socket", "writes", Neither),
            Self::CpuInstance => ("cpu_instance", "CPU of iperf on the instance", "%", Neither),
            Self::CpuPeer => ("cpu_peer", "CPU of iperf on the peer", "%", Neither),
        }
    }

    /// The end of the metric's name.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        self.spec().0
    }

    #[must_use]
    pub fn metric(self, direction: Direction) -> MetricSpec {
        let (suffix, label, unit, better) = self.spec();
        MetricSpec::new(direction.metric(suffix), format!("{label}, {}", direction.label()), unit, better)
    }

    /// How the values of several streams make one: added up, else their mean, or the largest.
    #[must_use]
    pub fn adds_up(self) -> bool {
        matches!(self, Self::Retransmits | Self::Lost | Self::Datagrams | Self::OutOfOrder | Self::Writes)
    }
}
