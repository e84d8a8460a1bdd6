//! The two directions, each a measured round.
//!
//! Owns their names. It must never build a command line.

/// Which way the data goes, as the machine sees it that runs or printed the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From this machine to its peer.
    Out,
    /// From the peer to this machine.
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

    /// What the option `direction` asks for: `out`, `in`, or both, one after the other.
    #[must_use]
    pub fn asked(word: &str) -> Vec<Self> {
        Self::of_round(word).map_or_else(|| Self::ALL.to_vec(), |direction| vec![direction])
    }

    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }

    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Out => "instance to peer",
            Self::In => "peer to instance",
        }
    }

    /// The name of one of its other metrics.
    #[must_use]
    pub fn metric(self, suffix: &str) -> String {
        format!("{}_{suffix}", self.round())
    }
}
