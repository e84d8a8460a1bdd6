//! Which lines belong to one test.
//!
//! Owns the borders between the tests of a text. It must never judge whether a test is a result.

use std::collections::BTreeMap;

use crate::detail::Detail;
use crate::report::{Protocol, Role, Tool};
use crate::text::line::{Command, Connection, Line};
use crate::text::row::{Id, Row};

/// Complaints that are kept of one test: some tools repeat theirs a thousand times.
const COMPLAINTS: usize = 5;
/// A row from before this moment, in seconds, is one from the start.
const START_S: f64 = 0.005;
const NEARLY: f64 = 0.9;

/// The lines of one test.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// From 1.
    pub line: usize,
    pub tool: Option<Tool>,
    pub role: Option<Role>,
    pub protocol: Option<Protocol>,
    pub port: Option<u16>,
    pub window: Option<String>,
    pub datagram: Option<u64>,
    pub command: Command,
    pub reverse: bool,
    pub connections: Vec<Connection>,
    pub rows: Vec<Row>,
    pub out_of_order: Vec<(Id, f64)>,
    /// Datagrams that a client counts.
    pub sent: Vec<(Id, f64)>,
    pub complaints: Vec<String>,
    /// The table of its ends has begun, where iperf3 printed it.
    summary: bool,
    /// Its own first line, or command line, was seen.
    began: bool,
    done: bool,
}

impl Test {
    fn at(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    /// Another test of the same server, or by the same settings.
    fn next(&self, line: usize) -> Self {
        Self {
            line,
            tool: self.tool,
            role: self.role,
            protocol: self.protocol,
            port: self.port,
            window: self.window.clone(),
            datagram: self.datagram,
            ..Self::default()
        }
    }

    /// A row that starts again what is already there to its end belongs to another test. Where the lines of the
    /// connections are missing, a first interval as long as nearly the whole test cannot be told from a test.
    fn repeats(&self, row: &Row) -> bool {
        let same = |old: &&Row| {
            (&old.id, old.side, &old.role) == (&row.id, row.side, &row.role)
                && old.is_report() == row.is_report()
        };
        let least = if self.connections.is_empty() { NEARLY * row.end_s } else { row.end_s };
        let old =
            || self.rows.iter().rev().find(same).filter(|old| old.start_s < START_S && old.end_s >= least);
        let differs = |old: &Row| (old.end_s, old.bytes) != (row.end_s, row.bytes);
        row.start_s < START_S && old().is_some_and(differs)
    }
}

#[derive(Default)]
struct Gathering {
    tests: Vec<Test>,
    /// The test that a stream's rows belong to.
    of_stream: BTreeMap<String, usize>,
    /// The test of the last row.
    of_sum: Option<usize>,
    /// The last heading has a column for segments that were sent again.
    retransmits: bool,
}

/// The tests of a text, in the order in which they begin.
pub fn gather<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<Test> {
    let mut gathering = Gathering::default();
    lines.for_each(|(number, line)| gathering.take(number, Line::of(line)));
    gathering.tests
}

impl Gathering {
    fn take(&mut self, number: usize, line: Line) {
        match line {
            Line::Row(row) => self.row(number, row),
            Line::Heading { retransmits, losses } => {
                self.retransmits = retransmits;
                let test = self.current(number);
                test.summary = !test.rows.is_empty() || (losses && test.role != Some(Role::Server));
            }
            Line::Connected(connection) => self.connected(number, connection),
            Line::Begins { tool, role, protocol, port } => self.begins(number, (tool, role), protocol, port),
            Line::Reverse => self.current(number).reverse = true,
            Line::Window(window) => {
                self.current(number).window.get_or_insert(window);
            }
            Line::Datagram(bytes) => self.current(number).datagram = Some(bytes),
            Line::Sent(id, count) => {
                if let Some(test) = self.index_of(&id).and_then(|index| self.tests.get_mut(index)) {
                    test.sent.push((id, count));
                }
            }
            Line::OutOfOrder(id, count) => {
                if let Some(test) = self.index_of(&id).and_then(|index| self.tests.get_mut(index)) {
                    test.out_of_order.push((id, count));
                }
            }
            Line::Command(command) => {
                self.open(Test::at(number));
                self.current(number).command = command;
            }
            Line::Done => self.current(number).done = true,
            Line::Complaint(words) => {
                let complaints = &mut self.current(number).complaints;
                if complaints.len() < COMPLAINTS && !complaints.contains(&words) {
                    complaints.push(words);
                }
            }
            Line::Other => {}
        }
    }

    fn begins(
        &mut self,
        number: usize,
        (tool, role): (Tool, Role),
        protocol: Option<Protocol>,
        port: Option<u16>,
    ) {
        let test = self.current(number);
        // A server connects back to a client that asked for both directions.
        let back = test.role == Some(Role::Server) && role == Role::Client && !test.connections.is_empty();
        if back && test.rows.is_empty() {
            return;
        }
        if test.began || !test.rows.is_empty() {
            self.open(Test::at(number));
        }
        let test = self.current(number);
        test.began = true;
        (test.tool, test.role) = (Some(tool), Some(role));
        test.protocol = protocol.or(test.protocol);
        test.port = port.or(test.port);
    }

    fn open(&mut self, test: Test) {
        self.tests.push(test);
        self.of_stream.clear();
    }

    /// The test that new lines belong to.
    fn current(&mut self, number: usize) -> &mut Test {
        if self.tests.last().is_none_or(|test| test.done) {
            self.open(Test::at(number));
        }
        let last = self.tests.len() - 1;
        &mut self.tests[last]
    }

    fn connected(&mut self, number: usize, connection: Connection) {
        let test = self.current(number);
        let again = test.connections.iter().any(|known| known.id == connection.id);
        // A stream of the same client that connects late.
        let late = test.role == Some(Role::Client)
            && test.connections.first().is_none_or(|known| known.peer_port == connection.peer_port);
        if again || (!test.rows.is_empty() && !late) {
            let next = test.next(number);
            self.tests.push(next);
        }
        self.of_stream.insert(connection.id.clone(), self.tests.len() - 1);
        let test = self.current(number);
        test.tool = Some(connection.tool);
        test.connections.push(connection);
    }

    /// The test that a row or a remark on this id belongs to.
    fn index_of(&self, id: &Id) -> Option<usize> {
        match id {
            Id::Stream(id) => {
                let known = self.of_stream.get(id).or_else(|| self.of_stream.get(id.trim_start_matches('*')));
                known.copied().or(self.tests.len().checked_sub(1))
            }
            Id::Sum | Id::Both => self.of_sum.or(self.tests.len().checked_sub(1)),
        }
    }

    fn row(&mut self, number: usize, mut row: Row) {
        self.current(number);
        if let Some(count) = row.count.take().filter(|_| self.retransmits) {
            row.details.push((Detail::Retransmits, count));
        }
        let mut index = self.index_of(&row.id).unwrap_or_default();
        if self.tests[index].repeats(&row) {
            let next = self.tests[index].next(number);
            self.open(next);
            index = self.tests.len() - 1;
        }
        self.of_sum = Some(index);
        let test = &mut self.tests[index];
        row.in_summary = test.summary;
        test.tool = test.tool.or(Some(row.tool));
        test.rows.push(row);
    }
}
