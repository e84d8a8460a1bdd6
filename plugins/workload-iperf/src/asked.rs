//! The options of a cell, checked.
//!
//! Owns what they mean together. It must never build a command line.

use crossvisor_plugin::Failure;
use crossvisor_plugin::sdk::Chosen;

use crate::direction::Direction;
use crate::manifest;
use crate::report::{Protocol, Tool};

/// What is to be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub tool: Tool,
    /// Whole seconds.
    pub seconds: f64,
    pub streams: u64,
    pub window_bytes: Option<u64>,
    pub protocol: Protocol,
    /// Of each stream.
    pub bits_per_second: Option<u64>,
    pub directions: Vec<Direction>,
    pub between: Between,
}

/// The other ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Between {
    /// Each instance and its host.
    Host,
    /// Every second guest and the one after it.
    Guests,
    /// Each instance and a machine that is no part of the run, where the user has started servers.
    Outside { host: String, port: u16 },
}

impl Asked {
    /// # Errors
    /// [`Failure`] when an option, or a combination of them, has no meaning.
    pub fn of(chosen: &Chosen) -> Result<Self, Failure> {
        let protocol = chosen.word("protocol").and_then(Protocol::of).unwrap_or(Protocol::Tcp);
        let bits_per_second = chosen.whole("bandwidth_mbit_s").map(|rate| rate * 1_000_000);
        if protocol == Protocol::Udp && bits_per_second.is_none() {
            return Err(Failure::new(
                "datagrams are sent at a rate that is asked for: set 'bandwidth_mbit_s' with protocol: udp",
            ));
        }
        Ok(Self {
            tool: if chosen.offer.as_str() == manifest::IPERF2 { Tool::Iperf2 } else { Tool::Iperf3 },
            seconds: chosen.number("time").unwrap_or(10.0).ceil(),
            streams: chosen.whole("parallel").unwrap_or(1),
            window_bytes: chosen.whole("window"),
            protocol,
            bits_per_second,
            directions: Direction::asked(chosen.word("direction").unwrap_or("both")),
            between: Between::of(chosen.word("between").unwrap_or("host"))?,
        })
    }
}

impl Between {
    fn of(text: &str) -> Result<Self, Failure> {
        let outside = || {
            let (host, port) = text.rsplit_once(':')?;
            let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
            let is_name = host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:%_".contains(c));
            let port = port.parse().ok().filter(|port| *port > 0)?;
            (is_name && host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == ':'))
                .then(|| Self::Outside { host: host.into(), port })
        };
        match text {
            "host" => Ok(Self::Host),
            "guests" => Ok(Self::Guests),
            _ => outside().ok_or_else(|| {
                Failure::new(format!(
                    "between: '{text}' is none of host, guests and HOST:PORT (an IPv6 address in brackets)"
                ))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outside_machine_is_a_name_or_an_address_with_a_port() {
        let outside = |host: &str, port| Ok(Between::Outside { host: host.into(), port });
        assert_eq!(Between::of("files.example.org:5201"), outside("files.example.org", 5201));
        assert_eq!(Between::of("[fe80::1%eth0]:5201"), outside("fe80::1%eth0", 5201));
        for text in ["", "hosts", "files", "files:", "files:0", "files:99999", "-oX:1", ":1", "a b:1", "[]:1"]
        {
            assert!(Between::of(text).is_err(), "{text}");
        }
    }
}
