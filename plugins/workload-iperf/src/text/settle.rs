//! What a gathered test tells: which way each stream went, who counted, and what the whole is.
//!
//! Owns the judgement whether the test is a result.

use std::collections::BTreeMap;

use crate::detail::Detail;
use crate::direction::Direction;
use crate::report::{Flow, Known, NoResult, Protocol, Report, Role, Tool};
use crate::text::gather::Test;
use crate::text::line::Connection;
use crate::text::row::{Id, Row, Side};
use crate::text::streams::{Counted, count};

/// Ports of servers for which no other is named: iperf 2 and iperf 3.
const PORTS: [u16; 2] = [5001, 5201];

/// The report of a test; `None` where there is nothing to report, as of a server that only listens.
pub fn settle(test: &Test) -> Option<Result<Report, NoResult>> {
    if test.rows.is_empty() {
        return refusal(test).map(Err);
    }
    Some(report(test).map_err(|reason| NoResult {
        line: test.line,
        reason: with_complaints(&reason, test),
        said: None,
    }))
}

/// A test without a row.
fn refusal(test: &Test) -> Option<NoResult> {
    let said = (!test.complaints.is_empty()).then(|| test.complaints.join("; "));
    if said.is_none() && test.connections.is_empty() && test.role != Some(Role::Client) {
        return None;
    }
    let reason = with_complaints("expected rows with a rate, found none", test);
    Some(NoResult { line: test.line, reason, said })
}

fn with_complaints(reason: &str, test: &Test) -> String {
    match test.complaints.is_empty() {
        true => reason.into(),
        false => format!("{reason}; it said: {}", test.complaints.join("; ")),
    }
}

fn report(test: &Test) -> Result<Report, String> {
    let tool = test.tool.unwrap_or(Tool::Iperf2);
    let has_loss = test.rows.iter().any(Row::has_loss);
    let protocol = test.protocol.or(has_loss.then_some(Protocol::Udp));
    let view = View { test, tool, sends: server_sends(test), protocol };
    let mut flows = Vec::new();
    for direction in Direction::ALL {
        let rows: Vec<&Row> = test.rows.iter().filter(|row| view.direction(row) == Some(direction)).collect();
        if !rows.is_empty() {
            flows.push((direction, rows));
        }
    }
    // A printed sum is of both directions where iperf 2 measures both.
    let both = flows.len() > 1;
    let sums = || test.rows.iter().filter(|row| row.id == Id::Sum && row.role.is_none());
    if flows.is_empty() {
        flows.push((view.side_of_sums(), sums().collect()));
    } else if !both {
        flows.iter_mut().for_each(|(_, rows)| rows.extend(sums()));
    }
    let flows = flows.into_iter().map(|(direction, rows)| view.flow(direction, &rows));
    Ok(Report {
        line: test.line,
        tool,
        version: None,
        machine: test.connections.first().map(|connection| connection.local.clone()),
        role: test.role,
        // iperf3 does not name TCP in its tables.
        protocol: protocol.or((tool == Tool::Iperf3).then_some(Protocol::Tcp)),
        asked: Known {
            seconds: test.command.seconds,
            streams: test.command.streams,
            window: test.window.clone(),
            bits_per_second: test.command.bits_per_second,
            block_bytes: test.datagram,
        },
        flows: flows.collect::<Result<_, _>>()?,
        complaints: test.complaints.clone(),
    })
}

/// Whether it is iperf3's server, and sends.
fn server_sends(test: &Test) -> bool {
    let mut told = test.rows.iter().filter(|row| row.side.is_some()).peekable();
    told.peek().is_some() && told.all(|row| row.side == Some(Side::Sender) && row.bytes > 0.0)
}

struct View<'t> {
    test: &'t Test,
    tool: Tool,
    sends: bool,
    protocol: Option<Protocol>,
}

impl View<'_> {
    /// The way of a stream's row, or of a sum that says its own.
    fn direction(&self, row: &Row) -> Option<Direction> {
        let by_role = row.role.as_deref().map(|role| match role.starts_with("TX") {
            true => Direction::Out,
            false => Direction::In,
        });
        let Id::Stream(id) = &row.id else { return by_role };
        by_role.or_else(|| match self.tool {
            Tool::Iperf3 => Some(self.of_iperf3()),
            Tool::Iperf2 => Some(self.of_iperf2(id)),
        })
    }

    fn of_iperf3(&self) -> Direction {
        let server = self.test.role == Some(Role::Server);
        let out = if server { self.sends } else { !self.test.reverse };
        if out { Direction::Out } else { Direction::In }
    }

    fn of_iperf2(&self, id: &str) -> Direction {
        let connections = &self.test.connections;
        let exact = connections.iter().find(|connection| connection.id == id);
        let connection = exact
            .or_else(|| connections.iter().find(|connection| connection.id == id.trim_start_matches('*')));
        let Some(connection) = connection else { return self.without_connection(id.starts_with('*')) };
        let base = if self.is_served(connection) { Direction::In } else { Direction::Out };
        let comes_back = connection.reverse && !connection.id.starts_with('*');
        let other_half = connection.full_duplex && id.starts_with('*');
        if comes_back || other_half { base.turned() } else { base }
    }

    fn without_connection(&self, comes_back: bool) -> Direction {
        let base = if self.test.role == Some(Role::Server) { Direction::In } else { Direction::Out };
        if comes_back { base.turned() } else { base }
    }

    /// Whether the connection came in: its own port is that of the server.
    fn is_served(&self, connection: &Connection) -> bool {
        match self.test.port {
            Some(port) => connection.local_port == port && connection.peer_port != port,
            None => PORTS.contains(&connection.local_port) && !PORTS.contains(&connection.peer_port),
        }
    }

    /// The way of a test of which only sums are left.
    fn side_of_sums(&self) -> Direction {
        self.test
            .connections
            .first()
            .map_or_else(|| self.without_connection(false), |connection| self.of_iperf2(&connection.id))
    }

    /// Who counted a row.
    fn side(&self, row: &Row, direction: Direction) -> Side {
        match (row.side, self.tool, direction) {
            (Some(side), _, _) => side,
            (None, Tool::Iperf2, _) if row.has_loss() => Side::Receiver,
            (None, _, Direction::Out) => Side::Sender,
            (None, _, Direction::In) => Side::Receiver,
        }
    }

    fn flow(&self, direction: Direction, rows: &[&Row]) -> Result<Flow, String> {
        let told = rows.iter().any(|row| row.side.is_some());
        let total = |row: &Row| match self.tool {
            Tool::Iperf2 => true,
            Tool::Iperf3 if told => row.side.is_some(),
            Tool::Iperf3 => row.in_summary,
        };
        // The report of a server that did not answer counts no datagrams.
        let good = |row: &&&Row| total(row) && row.has_loss() == row.is_report();
        let rows: Vec<&Row> = rows.iter().filter(good).copied().collect();
        let of_side =
            |side| rows.iter().copied().filter(|row| self.side(row, direction) == side).collect::<Vec<_>>();
        let expected = self.expected(direction);
        let [sent, received] = [Side::Sender, Side::Receiver].map(|side| count(&of_side(side), expected));
        let (sent, received, unknown) = match (sent, received) {
            (Err(reason), Err(other)) => {
                let of_receiver =
                    self.test.rows.iter().any(|row| self.side(row, direction) == Side::Receiver);
                return Err(if of_receiver { other } else { reason });
            }
            (sent, Err(reason)) => (
                sent.ok(),
                None,
                Some(format!("the receiver did not report: {reason}")).filter(|_| self.must_report()),
            ),
            (sent, Ok(received)) => (sent.ok(), Some(received), None),
        };
        Ok(self.whole(direction, sent, received, unknown))
    }

    fn whole(
        &self,
        direction: Direction,
        sent: Option<Counted>,
        received: Option<Counted>,
        unknown: Option<String>,
    ) -> Flow {
        let mut details = BTreeMap::new();
        if let Some(sent) = &sent {
            details.extend(sent.details.clone());
            // A sender that says so itself knows nothing of losses.
            if self.tool == Tool::Iperf3 && self.test.rows.iter().any(|row| row.side.is_some()) {
                details.retain(|detail, _| !matches!(detail, Detail::Jitter | Detail::Lost));
            }
        }
        details.extend(received.iter().flat_map(|received| received.details.clone()));
        details.extend(
            self.remarks(&self.test.out_of_order, direction).map(|count| (Detail::OutOfOrder, count)),
        );
        if let Some(count) = self.remarks(&self.test.sent, direction) {
            // The receiver's count is of the datagrams of the test alone.
            details.entry(Detail::Datagrams).or_insert(count);
        }
        details.extend(self.connect_ms(direction).map(|ms| (Detail::Connect, ms)));
        let main = received.as_ref().or(sent.as_ref());
        Flow {
            direction,
            streams: main.map_or(0, |counted| counted.streams),
            spread: main.and_then(|counted| counted.spread),
            sent: sent.as_ref().map(|counted| counted.total),
            received: received.as_ref().map(|counted| counted.total),
            unknown,
            notes: main.map(|counted| counted.notes.clone()).unwrap_or_default(),
            flags: main.map(|counted| counted.flags.clone()).unwrap_or_default(),
            details,
        }
    }

    /// Whether what the sender counts is not enough. iperf 2 asks its server only for datagrams, and a server of iperf3
    /// prints its own count alone.
    fn must_report(&self) -> bool {
        let is_client = self.test.role != Some(Role::Server);
        self.protocol == Some(Protocol::Udp) || (self.tool == Tool::Iperf3 && is_client)
    }

    fn connections(&self, direction: Direction) -> impl Iterator<Item = &Connection> {
        let of = move |connection: &&Connection| match self.tool {
            Tool::Iperf2 => self.of_iperf2(&connection.id) == direction,
            Tool::Iperf3 => true,
        };
        self.test.connections.iter().filter(of)
    }

    /// How many streams there must be.
    fn expected(&self, direction: Direction) -> usize {
        let both = self.test.rows.iter().any(|row| row.role.is_some());
        let connected = if both { 0 } else { self.connections(direction).count() };
        connected.max(self.test.command.streams.unwrap_or(0))
    }

    /// The sum of what is remarked on the streams of a direction.
    fn remarks(&self, remarks: &[(Id, f64)], direction: Direction) -> Option<f64> {
        let of = |id: &Id| matches!(id, Id::Stream(id) if self.of_iperf2(id) == direction);
        let counts: Vec<f64> = remarks.iter().filter(|(id, _)| of(id)).map(|(_, count)| *count).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    }

    fn connect_ms(&self, direction: Direction) -> Option<f64> {
        let times: Option<Vec<f64>> = self.connections(direction).map(|c| c.connect_ms).collect();
        let times = times.filter(|times| !times.is_empty())?;
        #[allow(clippy::cast_precision_loss)] // a number of streams
        Some(times.iter().sum::<f64>() / times.len() as f64)
    }
}
