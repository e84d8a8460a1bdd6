//! The command lines of both tools.
//!
//! It must never run one.

use crate::asked::Asked;
use crate::direction::Direction;
use crate::pairs::{Pair, Server};
use crate::report::{Protocol, Tool};

/// The server of a pair. It takes one test after the other until it is ended.
#[must_use]
pub fn server(asked: &Asked, pair: &Pair<'_>, server: Server<'_>) -> Vec<String> {
    let mut argv = vec![asked.tool.program().to_string(), "-s".into()];
    let mut add = |words: &[&str]| argv.extend(words.iter().map(ToString::to_string));
    if let Some(address) = server.listen {
        add(&["-B", address]);
    }
    add(&["-p", &pair.port.to_string()]);
    if asked.tool == Tool::Iperf2 {
        // The client of iperf3 tells its server what follows here.
        add(family(server.listen.unwrap_or(&pair.address)));
        add(if asked.protocol == Protocol::Udp { &["-u"] } else { &[] });
        add(&window(asked).iter().map(String::as_str).collect::<Vec<_>>());
    }
    argv
}

#[must_use]
pub fn client(asked: &Asked, pair: &Pair<'_>, direction: Direction) -> Vec<String> {
    let mut argv = vec![asked.tool.program().to_string()];
    let mut add = |words: &[&str]| argv.extend(words.iter().map(ToString::to_string));
    let (port, time, streams) = (pair.port.to_string(), asked.seconds.to_string(), asked.streams.to_string());
    add(&["-c", &pair.address, "-p", &port, "-t", &time, "-P", &streams]);
    match asked.tool {
        Tool::Iperf3 => add(&["-J"]),
        Tool::Iperf2 => {
            // With all columns, and figures that are not rounded.
            add(&["-e", "-f", "b"]);
            add(family(&pair.address));
        }
    }
    add(if asked.protocol == Protocol::Udp { &["-u"] } else { &[] });
    if let Some(rate) = asked.bits_per_second {
        add(&["-b", &rate.to_string()]);
    }
    add(&window(asked).iter().map(String::as_str).collect::<Vec<_>>());
    add(if direction == Direction::In { &["-R"] } else { &[] });
    argv
}

fn window(asked: &Asked) -> Vec<String> {
    asked.window_bytes.map_or_else(Vec::new, |bytes| vec!["-w".into(), bytes.to_string()])
}

/// iperf 2 takes an IPv6 address only when it is told.
fn family(address: &str) -> &'static [&'static str] {
    if address.contains(':') { &["-V"] } else { &[] }
}
