//! The two directions, each a measured round.
//!
//! Owns their names. It must never build a command line.

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Instance to host.
    Out,
    /// Host to instance: iperf3's reverse mode.
    In,
}

impl Direction {
    pub const ALL: [Self; 2] = [Self::Out, Self::In];

    /// The round's name, and the name of its throughput metric.
    #[must_use]
    pub fn round(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
        }
    }

    #[must_use]
    pub fn of_round(round: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.round() == round)
    }

    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Out => "instance to host",
            Self::In => "host to instance",
        }
    }

    /// The name of one of its other metrics.
    #[must_use]
    pub fn metric(self, suffix: &str) -> String {
        format!("{}_{suffix}", self.round())
    }
}
