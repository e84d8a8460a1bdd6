//! The comma-separated lines of iperf 2: `-y C`.
//!
//! Owns their columns and which of them belong together. It must never average intervals, nor take a sum for a stream.

use std::collections::BTreeMap;

use crate::detail::Detail;
use crate::direction::Direction;
use crate::quantity::number;
use crate::report::{Flow, Found, Known, NoResult, Protocol, Report, Role, Tool, Total};
use crate::text::streams::details;

/// Rows of one test end together, in seconds.
const TOGETHER_S: i64 = 2;
const SAME_S: f64 = 0.05;
const SUM: i64 = -1;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Seconds since some moment; `None` where the tool printed the epoch instead.
    at_s: Option<i64>,
    local: String,
    local_port: u32,
    peer_port: u32,
    id: i64,
    start_s: f64,
    end_s: f64,
    bytes: f64,
    bits_per_second: f64,
    /// Of a datagram test, as the receiver tells; empty where it did not report.
    loss: Vec<(Detail, f64)>,
    is_datagrams: bool,
}

impl Row {
    /// Reads a line; `None` when it is not one of iperf.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.trim().split(',').map(str::trim).collect();
        if !matches!(cells.len(), 9 | 14) || !cells[0].bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (start, end) = cells[6].split_once('-')?;
        let row = Self {
            at_s: seconds(cells[0])?,
            local: cells[1].into(),
            local_port: cells[2].parse().ok()?,
            peer_port: cells[4].parse().ok()?,
            id: cells[5].parse().ok()?,
            start_s: number(start.trim())?,
            end_s: number(end.trim())?,
            bytes: number(cells[7])?,
            bits_per_second: number(cells[8])?,
            loss: cells.get(9..).map(loss).unwrap_or_default(),
            is_datagrams: cells.len() == 14,
        };
        (row.end_s > row.start_s && row.bytes >= 0.0 && row.bits_per_second >= 0.0).then_some(row)
    }

    fn is_served(&self) -> bool {
        matches!(self.local_port, 5001 | 5002) && self.peer_port > 5002
    }
}

/// Seconds from `20260314092653`, without regard to the length of months: only differences of seconds are asked for.
#[allow(clippy::option_option)] // no time, and no timestamp
fn seconds(text: &str) -> Option<Option<i64>> {
    // Since 2.1 there may be milliseconds.
    if text.len() < 14 || text.len() > 17 {
        return None;
    }
    let part = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse::<i64>().ok());
    let [year, month, day] = [part(0, 4)?, part(4, 6)?, part(6, 8)?];
    let [hour, minute, second] = [part(8, 10)?, part(10, 12)?, part(12, 14)?];
    let days = (year * 12 + month) * 31 + day;
    Some((year > 1970).then_some(((days * 24 + hour) * 60 + minute) * 60 + second))
}

/// Jitter, lost, sent, per cent, out of order. A server that did not report leaves -1 or 0 for what was sent.
fn loss(cells: &[&str]) -> Vec<(Detail, f64)> {
    let value = |index: usize| cells.get(index).and_then(|cell| number(cell));
    let Some(sent) = value(2).filter(|sent| *sent > 0.0) else { return Vec::new() };
    let known = [(Detail::Jitter, value(0)), (Detail::Lost, value(1)), (Detail::OutOfOrder, value(4))];
    let known = known.into_iter().filter_map(|(detail, value)| Some((detail, value.filter(|v| *v >= 0.0)?)));
    known.chain([(Detail::Datagrams, sent)]).collect()
}

/// All tests among the rows, each with its line.
#[must_use]
pub fn tests(rows: Vec<(usize, Row)>) -> Found {
    let mut found = Found::default();
    let mut test: Vec<(usize, Row)> = Vec::new();
    for (line, row) in rows {
        if begins(&test, &row) {
            settle(&std::mem::take(&mut test), &mut found);
        }
        test.push((line, row));
    }
    settle(&test, &mut found);
    found
}

/// Whether a row belongs to another test than the rows before it.
fn begins(test: &[(usize, Row)], row: &Row) -> bool {
    let Some((_, last)) = test.last() else { return false };
    let ports = |row: &Row| (row.local_port, row.peer_port);
    let reported = last.is_datagrams && row.is_datagrams && last.loss.is_empty() != row.loss.is_empty();
    let same_id = test.iter().rev().map(|(_, old)| old).find(|old| old.id == row.id);
    let repeats = same_id.is_some_and(|old| {
        let again = row.start_s < SAME_S && old.start_s < SAME_S && old.end_s >= row.end_s - SAME_S;
        let other_port = row.id != SUM && ports(old) != ports(row) && !reported;
        (again && (old.bytes, old.bits_per_second) != (row.bytes, row.bits_per_second) && !reported)
            || other_port
    });
    // Intervals of a test lie a while apart, its totals do not.
    let later = match (last.at_s, row.at_s) {
        (Some(last), Some(now)) => (now - last).abs() > TOGETHER_S && row.start_s < SAME_S,
        _ => false,
    };
    repeats || (later && same_id.is_none())
}

fn settle(test: &[(usize, Row)], found: &mut Found) {
    let Some(&(line, ref first)) = test.first() else { return };
    let mut of_id: BTreeMap<(i64, u32), Vec<&Row>> = BTreeMap::new();
    for (_, row) in test {
        let port = if row.id == SUM { 0 } else { row.local_port ^ row.peer_port << 16 };
        of_id.entry((row.id, port)).or_default().push(row);
    }
    let sum = of_id.remove(&(SUM, 0)).and_then(|rows| total_of(&rows));
    let totals: Option<Vec<&Row>> = of_id.values().map(|rows| total_of(rows)).collect();
    let flow = match (totals, sum) {
        (Some(totals), sum) if !totals.is_empty() || sum.is_some() => flow(&totals, sum),
        _ => None,
    };
    let Some(flow) = flow else {
        let reason =
            "expected a total from 0 s for each stream with a rate above 0, found only intervals or zeros";
        found.refused.push(NoResult { line, reason: reason.into(), said: None });
        return;
    };
    let is_served = first.is_served();
    found.reports.push(Report {
        line,
        tool: Tool::Iperf2,
        version: None,
        machine: Some(first.local.clone()),
        role: Some(if is_served { Role::Server } else { Role::Client }),
        protocol: Some(if first.is_datagrams { Protocol::Udp } else { Protocol::Tcp }),
        asked: Known::default(),
        flows: vec![flow],
        complaints: Vec::new(),
    });
}

fn total_of<'r>(rows: &[&'r Row]) -> Option<&'r Row> {
    let end = rows.iter().fold(0.0_f64, |end, row| end.max(row.end_s));
    rows.iter().rev().find(|row| row.start_s < SAME_S && row.end_s >= end - SAME_S).copied()
}

/// `None` where nothing was transferred.
fn flow(totals: &[&Row], sum: Option<&Row>) -> Option<Flow> {
    let mut notes = Vec::new();
    let whole = match (totals, sum) {
        (_, Some(sum)) => total(sum),
        ([only], None) => total(only),
        (all, None) => {
            notes.push(format!("added up from {} streams; no sum was printed", all.len()));
            Total {
                seconds: all.iter().fold(0.0, |end, row| end.max(row.end_s)),
                bytes: all.iter().map(|row| total(row).bytes).sum(),
                bits_per_second: all.iter().map(|row| row.bits_per_second).sum(),
            }
        }
    };
    (whole.bits_per_second > 0.0).then_some(())?;
    let any = totals.first().copied().or(sum)?;
    let reported = any.is_datagrams && totals.iter().all(|row| !row.loss.is_empty()) && !totals.is_empty();
    let received = reported || (any.is_served() && !any.is_datagrams);
    let rates = || totals.iter().map(|row| row.bits_per_second);
    let spread = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    let (sent, received) = if received { (None, Some(whole)) } else { (Some(whole), None) };
    Some(Flow {
        direction: if any.is_served() { Direction::In } else { Direction::Out },
        streams: totals.len(),
        unknown: (any.is_datagrams && !reported).then(|| "the server did not report what arrived".into()),
        sent,
        received,
        spread: (totals.len() > 1).then_some(spread),
        details: details(totals.iter().map(|row| row.loss.as_slice())),
        flags: Vec::new(),
        notes,
    })
}

fn total(row: &Row) -> Total {
    // Some versions print 0 bytes beside a rate.
    let bytes = Some(row.bytes).filter(|bytes| *bytes > 0.0);
    Total { seconds: row.end_s - row.start_s, bytes, bits_per_second: row.bits_per_second }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Found {
        tests((1..).zip(text.lines()).filter_map(|(line, text)| Some((line, Row::parse(text)?))).collect())
    }

    fn rate(report: &Report) -> f64 {
        let flow = &report.flows[0];
        flow.received.or(flow.sent).expect("total").bits_per_second
    }

    #[test]
    fn intervals_are_not_averaged_in() {
        let text = "20260314092601,10.0.0.1,4001,10.0.0.2,5001,3,0.0-1.0,100,800\n\
                    20260314092602,10.0.0.1,4001,10.0.0.2,5001,3,1.0-2.0,200,1600\n\
                    20260314092602,10.0.0.1,4001,10.0.0.2,5001,3,0.0-2.0,300,1200\n";
        let found = found(text);
        assert_eq!(found.reports.iter().map(rate).collect::<Vec<_>>(), [1200.0]);
        assert_eq!(found.reports[0].flows[0].streams, 1);
    }

    #[test]
    fn streams_are_added_up_where_there_is_no_sum() {
        let two = "19700101000000,10.0.0.1,4001,10.0.0.2,5001,1,0.0-2.0,100,400\n\
                   19700101000000,10.0.0.1,4002,10.0.0.2,5001,2,0.0-2.0,300,1200\n";
        let report = &found(two).reports[0];
        assert_eq!((rate(report), report.flows[0].streams), (1600.0, 2));
        assert_eq!(report.flows[0].spread, Some([400.0, 1200.0]));
        assert!(report.flows[0].notes[0].contains("no sum"));
        let sum = format!("{two}19700101000000,10.0.0.1,0,10.0.0.2,5001,-1,0.0-2.0,400,1599\n");
        let report = &found(&sum).reports[0];
        assert_eq!((rate(report), report.flows[0].notes.len()), (1599.0, 0));
    }

    #[test]
    fn a_sum_alone_has_a_rate_and_no_bytes() {
        let found = found("20260314092601,10.0.0.1,4001,10.0.0.2,5001,-1,0.0-10.0,0,13573440\n");
        let flow = &found.reports[0].flows[0];
        assert_eq!((flow.streams, flow.sent.expect("sent").bytes), (0, None));
    }

    #[test]
    fn runs_one_after_the_other_stay_apart() {
        let run = |port: u32, second: u32, id: u32| {
            format!("202603140926{second:02},10.0.0.1,{port},10.0.0.2,5001,{id},0.0-2.0,100,{port}\n")
        };
        let same_id = found(&(run(4001, 1, 3) + &run(4002, 9, 3)));
        assert_eq!(same_id.reports.iter().map(rate).collect::<Vec<_>>(), [4001.0, 4002.0]);
        let other_id = found(&(run(4001, 1, 3) + &run(4002, 9, 4)));
        assert_eq!(other_id.reports.len(), 2);
    }

    #[test]
    fn datagrams_are_received_only_where_the_server_says_so() {
        let head = "19700101000000,10.0.0.1,4001,10.0.0.2,5001,1,0.0-2.0,13110930,52442723";
        let lost = found(&format!("{head},0.014,11,8920,0.123,2\n"));
        let flow = &lost.reports[0].flows[0];
        assert_eq!((flow.sent, flow.details[&Detail::Lost]), (None, 11.0));
        let silent = found(&format!("{head},0.000,0,-1,-0.000,0\n"));
        let flow = &silent.reports[0].flows[0];
        assert!(flow.received.is_none() && flow.details.is_empty() && flow.unknown.is_some());
    }

    #[test]
    fn what_has_no_total_or_no_bits_is_refused() {
        let none = found("20260314092602,10.0.0.1,4001,10.0.0.2,5001,3,1.0-2.0,200,1600\n");
        assert_eq!((none.reports.len(), none.refused.len()), (0, 1));
        let zero = found("20260314092602,10.0.0.1,4001,10.0.0.2,5001,3,0.0-2.0,0,0\n");
        assert_eq!((zero.reports.len(), zero.refused.len()), (0, 1));
        for line in ["", "1,2,3", "20260314092602,a,b,c,d,e,f,g,h", "20260314092602,a,1,c,2,3,5.0-2.0,1,1"] {
            assert_eq!(Row::parse(line), None, "{line}");
        }
    }
}
