//! One finished test, whichever iperf printed it and in whatever form.
//!
//! Owns the nouns that the readers fill in. It must never hold a number that the tool did not print or that does not
//! follow from those by adding up.

use std::collections::BTreeMap;

use crate::detail::Detail;
use crate::direction::Direction;

/// The two programs, which share nothing but their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Iperf2,
    Iperf3,
}

impl Tool {
    /// The program's name on a command line.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Self::Iperf2 => "iperf",
            Self::Iperf3 => "iperf3",
        }
    }

    /// For people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Iperf2 => "iperf 2",
            Self::Iperf3 => "iperf 3",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Udp,
    Sctp,
}

impl Protocol {
    /// As both tools write it, in capitals or not.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        let all = [("tcp", Self::Tcp), ("udp", Self::Udp), ("sctp", Self::Sctp)];
        all.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, protocol)| protocol)
    }

    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Sctp => "SCTP",
        }
    }
}

/// Which end printed the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Client,
    Server,
}

impl Role {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A test.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The line on which it begins, from 1.
    pub line: usize,
    pub tool: Tool,
    pub version: Option<String>,
    /// The machine that printed it.
    pub machine: Option<String>,
    pub role: Option<Role>,
    pub protocol: Option<Protocol>,
    pub asked: Known,
    /// One, or two where both directions were measured at once.
    pub flows: Vec<Flow>,
    /// What the tool complained of, in its own words.
    pub complaints: Vec<String>,
}

/// What the output tells of what was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    pub seconds: Option<f64>,
    /// Streams in each direction.
    pub streams: Option<usize>,
    /// As the tool words it: `85.3 KiB, default`.
    pub window: Option<String>,
    /// Of each stream.
    pub bits_per_second: Option<f64>,
    /// Bytes of a write, or of a datagram.
    pub block_bytes: Option<u64>,
}

/// All streams of one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    pub direction: Direction,
    pub streams: usize,
    /// As the sender counted.
    pub sent: Option<Total>,
    /// As the receiver counted.
    pub received: Option<Total>,
    /// Why the receiver's count is missing.
    pub unknown: Option<String>,
    /// Of the slowest and of the fastest stream, in bits per second, where there are several.
    pub spread: Option<[f64; 2]>,
    pub details: BTreeMap<Detail, f64>,
    /// Reasons to doubt the throughput.
    pub flags: Vec<String>,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

/// The whole of a direction at one end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    pub seconds: f64,
    /// `None` where the tool is known to print it wrongly.
    pub bytes: Option<f64>,
    pub bits_per_second: f64,
}

/// A part of an output that is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoResult {
    /// From 1.
    pub line: usize,
    /// What was expected, and what is there instead.
    pub reason: String,
    /// The tool's complaint, where there is nothing else.
    pub said: Option<String>,
}

/// All that a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub reports: Vec<Report>,
    pub refused: Vec<NoResult>,
}
