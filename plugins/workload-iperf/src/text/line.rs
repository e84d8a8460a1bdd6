//! What a line of a log says, taken alone.
//!
//! Owns the wording of both tools. It must never know of other lines.

use crate::quantity::{asked_rate, number};
use crate::report::{Protocol, Role, Tool};
use crate::text::row::{Id, Row, bracket};

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    Row(Row),
    /// `[ ID] Interval …`, and whether it has columns for segments that were sent again, and for lost datagrams.
    Heading {
        retransmits: bool,
        losses: bool,
    },
    /// A stream is connected.
    Connected(Connection),
    /// A test, or a server, begins.
    Begins {
        tool: Tool,
        role: Role,
        protocol: Option<Protocol>,
        port: Option<u16>,
    },
    /// iperf3's client: the server sends.
    Reverse,
    /// `TCP window size: 85.3 KByte (default)`, without the words before the number.
    Window(String),
    /// Of a datagram, in bytes.
    Datagram(u64),
    OutOfOrder(Id, f64),
    /// `[  3] Sent 8921 datagrams`
    Sent(Id, f64),
    /// A command line with a client.
    Command(Command),
    /// `iperf Done.`
    Done,
    /// The tool complains.
    Complaint(String),
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    pub tool: Tool,
    pub id: String,
    pub local: String,
    pub local_port: u16,
    pub peer_port: u16,
    pub reverse: bool,
    pub full_duplex: bool,
    pub connect_ms: Option<f64>,
}

/// What is asked for on a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pub streams: Option<usize>,
    pub seconds: Option<f64>,
    pub bits_per_second: Option<f64>,
}

impl Line {
    #[must_use]
    pub fn of(line: &str) -> Self {
        let line = line.trim_end();
        if let Some(row) = Row::parse(line) {
            return Self::Row(row);
        }
        if line.contains("] Interval ") {
            return Self::Heading { retransmits: line.contains("Retr"), losses: line.contains("Lost/") };
        }
        let in_brackets = bracket(line).and_then(|(id, rest)| stream(id, rest));
        in_brackets.or_else(|| begins(line)).or_else(|| setting(line)).unwrap_or_else(|| other(line))
    }
}

/// A line about one stream.
fn stream(id: Id, rest: &str) -> Option<Line> {
    if let Some((count, _)) = rest.split_once(" datagrams received out-of-order") {
        return Some(Line::OutOfOrder(id, number(count.split_whitespace().last()?)?));
    }
    if let Some(count) = rest.trim().strip_prefix("Sent ").and_then(|rest| rest.strip_suffix(" datagrams")) {
        return Some(Line::Sent(id, number(count)?));
    }
    if let Some((_, words)) = rest.split_once("WARNING:") {
        return Some(Line::Complaint(words.trim().into()));
    }
    let (Id::Stream(id), words) = (id, rest.split_whitespace().collect::<Vec<_>>()) else { return None };
    let ["local", local, "port", local_port, "connected", how, _, "port", peer_port, ..] = words.as_slice()
    else {
        return None;
    };
    let connect = rest.split_once("(ct=").and_then(|(_, ct)| number(ct.split_once(" ms")?.0));
    Some(Line::Connected(Connection {
        tool: if *how == "to" { Tool::Iperf3 } else { Tool::Iperf2 },
        id,
        local: local.split('%').next().unwrap_or_default().into(),
        local_port: local_port.parse().ok()?,
        peer_port: peer_port.parse().ok()?,
        reverse: rest.contains("(reverse)"),
        full_duplex: rest.contains("(full-duplex)"),
        connect_ms: connect,
    }))
}

/// The first line of a test, or of a server.
fn begins(line: &str) -> Option<Line> {
    let after = |words: &str| line.split_once(words).map(|(_, rest)| rest);
    let begins = |tool, role, protocol, port| Some(Line::Begins { tool, role, protocol, port });
    if let Some(rest) = after("Client connecting to ") {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let protocol = words.iter().find_map(|word| Protocol::of(word));
        return begins(Tool::Iperf2, Role::Client, protocol, port_in(&words));
    }
    if let Some(rest) = after("Server listening on ") {
        let words: Vec<&str> = rest.split_whitespace().collect();
        return match words.first().and_then(|word| Protocol::of(word)) {
            Some(protocol) => begins(Tool::Iperf2, Role::Server, Some(protocol), port_in(&words)),
            None => {
                begins(Tool::Iperf3, Role::Server, None, words.first().and_then(|port| port.parse().ok()))
            }
        };
    }
    if let Some(rest) = after("Connecting to host ") {
        let words: Vec<&str> = rest.split_whitespace().collect();
        return begins(Tool::Iperf3, Role::Client, None, port_in(&words));
    }
    line.contains("Accepted connection from ").then_some(())?;
    begins(Tool::Iperf3, Role::Server, None, None)
}

fn port_in(words: &[&str]) -> Option<u16> {
    words.iter().skip_while(|word| **word != "port").nth(1)?.trim_end_matches(',').parse().ok()
}

/// A line about the settings.
fn setting(line: &str) -> Option<Line> {
    if line.contains("Reverse mode, remote host") {
        return Some(Line::Reverse);
    }
    if let Some((_, size)) =
        line.split_once("TCP window size:").or_else(|| line.split_once("UDP buffer size:"))
    {
        let words: Vec<&str> = size.split_whitespace().collect();
        let [count, unit, ..] = words.as_slice() else { return None };
        let unit = unit.replace("KByte", "KiB").replace("MByte", "MiB").replace("Byte", "B");
        let default = if words.contains(&"(default)") { ", default" } else { "" };
        number(count)?;
        return Some(Line::Window(format!("{count} {unit}{default}")));
    }
    let (_, size) = line.split_once("Sending ")?;
    Some(Line::Datagram(size.split_once(" byte datagrams")?.0.parse().ok()?))
}

fn other(line: &str) -> Line {
    let text = line.trim();
    if text.ends_with("iperf Done.") {
        return Line::Done;
    }
    if let Some((_, words)) = text.split_once("iperf3: ") {
        return Line::Complaint(plain(words).into());
    }
    if let Some(command) = command(text) {
        return Line::Command(command);
    }
    let failed = ["connect failed", "read failed", "write failed", "write1 failed", "bind failed"];
    let complains = failed.iter().any(|words| text.contains(words)) || text.starts_with("iperf: ");
    if complains { Line::Complaint(text.into()) } else { Line::Other }
}

/// Without the marks that come and go between versions.
#[must_use]
pub fn plain(complaint: &str) -> &str {
    complaint.trim_start_matches("error - ").trim_end_matches([':', ' '])
}

/// A command line that starts a client, after a prompt or not.
fn command(text: &str) -> Option<Command> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let program = |word: &&str| matches!(word.rsplit('/').next(), Some("iperf" | "iperf2" | "iperf3"));
    let at = words.iter().position(program)?;
    let arguments = &words[at + 1..];
    arguments.contains(&"-c").then_some(())?;
    let value = |name: &str| {
        let joined =
            arguments.iter().find_map(|word| word.strip_prefix(name).filter(|value| !value.is_empty()));
        joined.or_else(|| arguments.iter().skip_while(|word| **word != name).nth(1).copied())
    };
    Some(Command {
        streams: value("-P").and_then(|count| count.parse().ok()),
        seconds: value("-t").and_then(number),
        bits_per_second: value("-b").and_then(asked_rate),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_around_the_rows_are_understood() {
        let line =
            "[ 15] local 10.0.0.7%eth0 port 41000 connected with 10.0.0.9 port 5001 (reverse) (ct=0.21 ms)";
        let Line::Connected(connection) = Line::of(line) else { panic!("{line}") };
        assert_eq!((connection.id.as_str(), connection.local.as_str()), ("15", "10.0.0.7"));
        assert_eq!((connection.local_port, connection.peer_port), (41_000, 5001));
        assert!(connection.reverse && connection.connect_ms == Some(0.21));
        let window = Line::of("TCP window size: 85.3 KByte (default)");
        assert_eq!(window, Line::Window("85.3 KiB, default".into()));
        let began = Line::of("Client connecting to 10.0.0.9, UDP port 5002 with pid 7 (1 flows)");
        let (tool, role, protocol, port) = (Tool::Iperf2, Role::Client, Some(Protocol::Udp), Some(5002));
        assert_eq!(began, Line::Begins { tool, role, protocol, port });
        let asked = Line::of("mininet> h2 iperf -c h1 -t 10 -P4 -b 20M");
        let command = Command { streams: Some(4), seconds: Some(10.0), bits_per_second: Some(2e7) };
        assert_eq!(asked, Line::Command(command));
        assert_eq!(Line::of("mininet> h4 iperf -s &"), Line::Other);
        assert_eq!(Line::of("iperf3: error - no route: "), Line::Complaint("no route".into()));
    }
}
