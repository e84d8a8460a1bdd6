//! One row of a table: `[  3]  0.0-10.0 sec  4.75 GBytes  20.2 Gbits/sec  …`, of both tools.
//!
//! Owns its columns. It must never know of other rows.

use crate::detail::Detail;
use crate::quantity::{bits_per_second, bytes, number};
use crate::report::Tool;

/// A row that has a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub tool: Tool,
    pub id: Id,
    /// `TX-C`, `RX-S` …: where iperf3 measures both directions at once.
    pub role: Option<String>,
    pub start_s: f64,
    pub end_s: f64,
    pub bytes: f64,
    pub bits_per_second: f64,
    /// Whose count it is, where the row says so.
    pub side: Option<Side>,
    pub details: Vec<(Detail, f64)>,
    /// It stands in the last table of its test.
    pub in_summary: bool,
    /// A number that only the table's heading explains.
    pub count: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Sender,
    Receiver,
}

/// What stands in the brackets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// `*` marks the stream that comes back.
    Stream(String),
    Sum,
    /// A sum of both directions.
    Both,
}

/// The id in the first brackets that look like one, and what follows them.
#[must_use]
pub fn bracket(line: &str) -> Option<(Id, &str)> {
    line.match_indices('[').take(4).find_map(|(at, _)| {
        let (inside, rest) = line[at + 1..].split_once(']')?;
        Some((id(&inside.split_whitespace().collect::<String>())?, rest))
    })
}

fn id(text: &str) -> Option<Id> {
    let digits = |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    if text == "SUM" || text.strip_prefix("SUM-").is_some_and(digits) {
        return Some(Id::Sum);
    }
    if text.strip_prefix("FD").is_some_and(digits) {
        return Some(Id::Both);
    }
    digits(text.strip_prefix('*').unwrap_or(text)).then(|| Id::Stream(text.into()))
}

impl Row {
    /// Reads a line; `None` when it is no row, or one of the warm-up that iperf3 omits.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (id, rest) = bracket(line)?;
        let (role, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((role, rest)) => (Some(role.to_string()), rest),
            None => (None, rest),
        };
        let (interval, rest) = rest.split_once("sec")?;
        let (start, end) = interval.trim().split_once('-')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [count, unit, rate, rate_unit, tail @ ..] = words.as_slice() else { return None };
        if tail.contains(&"(omitted)") {
            return None;
        }
        let side = match tail.last() {
            Some(&"sender") => Some(Side::Sender),
            Some(&"receiver") => Some(Side::Receiver),
            _ => None,
        };
        // iperf3 leaves three spaces before its `sec`.
        let tool = if interval.ends_with("  ") { Tool::Iperf3 } else { Tool::Iperf2 };
        let (details, count_of) = columns(rest, tail);
        Some(Self {
            tool,
            id,
            role,
            start_s: number(start.trim())?,
            end_s: number(end.trim())?,
            bytes: bytes(count, unit)?,
            bits_per_second: bits_per_second(rate, rate_unit)?,
            side,
            details,
            in_summary: false,
            count: count_of,
        })
    }

    /// True where the row has the columns of a receiver of datagrams.
    #[must_use]
    pub fn is_report(&self) -> bool {
        self.details.iter().any(|(detail, _)| matches!(detail, Detail::Jitter | Detail::Datagrams))
    }

    /// True where the row tells of datagrams that arrived.
    #[must_use]
    pub fn has_loss(&self) -> bool {
        self.details.iter().any(|(detail, _)| *detail == Detail::Datagrams)
    }
}

/// The columns after the rate.
fn columns(rest: &str, tail: &[&str]) -> (Vec<(Detail, f64)>, Option<f64>) {
    let mut details = Vec::new();
    if let [jitter, "ms", ..] = tail {
        details.extend(number(jitter).filter(|ms| *ms >= 0.0).map(|ms| (Detail::Jitter, ms)));
    }
    if let Some((lost, total)) = loss(rest) {
        details.extend([(Detail::Lost, lost), (Detail::Datagrams, total)]);
        return (details, None);
    }
    let first = tail.first().copied().unwrap_or_default();
    let Some((writes, _)) = first.split_once('/').and_then(|(a, b)| Some((number(a)?, number(b)?))) else {
        return (details, number(first).filter(|_| tail.get(1) != Some(&"ms")));
    };
    details.push((Detail::Writes, writes));
    match tail {
        [_, _, "pps", ..] => {}
        [_, again, ..] => details.extend(number(again).map(|again| (Detail::Retransmits, again))),
        _ => {}
    }
    details.extend(tail.get(2).map(|state| socket(state)).unwrap_or_default());
    (details, None)
}

/// Datagrams lost and sent: `11/8920 (0.12%)`, `1/ 5350 (0.019%)`. A server that did not report leaves a total of 0.
fn loss(rest: &str) -> Option<(f64, f64)> {
    let (before, after) = rest.split_once('(')?;
    let percent = after.split_once(')')?.0;
    let (lost, total) = before.rsplit_once('/')?;
    let lost = number(lost.split_whitespace().last()?)?;
    let total = number(total.trim())?;
    (percent.ends_with('%') && lost >= 0.0 && total > 0.0).then_some((lost, total))
}

/// The state of the socket: `2813K/1980(3734)`, congestion window and round-trip time in microseconds. -1 is unknown.
fn socket(text: &str) -> Vec<(Detail, f64)> {
    let Some((window, rtt)) = text.split_once("K/") else { return Vec::new() };
    let window = number(window).filter(|kib| *kib >= 0.0).map(|kib| (Detail::Window, kib));
    let rtt = rtt.split('(').next().and_then(number).map(|us| (Detail::Rtt, us / 1e3));
    window.into_iter().chain(rtt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        Row::parse(line).unwrap_or_else(|| panic!("no row: {line}"))
    }

    #[test]
    fn rows_of_every_shape_are_read() {
        let old = row("[  3]  0.0-10.0 sec  1.12 GBytes   963 Mbits/sec");
        assert_eq!((old.tool, old.id, old.end_s), (Tool::Iperf2, Id::Stream("3".into()), 10.0));
        assert_eq!((old.bytes, old.bits_per_second), (1.12 * 1024.0 * 1024.0 * 1024.0, 963e6));
        assert_eq!(row("[  3]  0.0- 1.0 sec   112 KBytes   918 Kbits/sec").end_s, 1.0);
        assert_eq!(row("> # [SUM]  0.0-60.0 sec  14010 MBytes  1957 Mbits/sec").id, Id::Sum);
        assert_eq!(row("[SUM-2] 0.0-60.0 sec  14010 MBytes  1957 Mbits/sec").id, Id::Sum);
        assert_eq!(row("[ *7] 0.00-1.00 sec  1.03 GBytes  8.81 Gbits/sec").id, Id::Stream("*7".into()));
        let new = row("[  7][RX-C]   0.00-1.00   sec   992 MBytes  8.30 Gbits/sec    3          sender");
        assert_eq!((new.tool, new.role.as_deref()), (Tool::Iperf3, Some("RX-C")));
        assert_eq!((new.side, new.count), (Some(Side::Sender), Some(3.0)));
        let comma = row("[  5]   0,00-10,04   sec  1,10 GBytes   942 Mbits/sec                  receiver");
        assert_eq!((comma.end_s, comma.bits_per_second), (10.04, 942e6));
    }

    #[test]
    fn enhanced_columns_are_told_apart() {
        let tcp =
            "[  1] 0.0-2.0 sec  4.7 GBytes  20.2 Gbits/sec  388/0          2     2813K/1980(3734) us  127";
        let expected = [
            (Detail::Writes, 388.0),
            (Detail::Retransmits, 2.0),
            (Detail::Window, 2813.0),
            (Detail::Rtt, 1.98),
        ];
        assert_eq!(row(tcp).details, expected);
        let unknown =
            row("[  3] 0.00-60.00 sec  14 MBytes  1966 Mbits/sec  112/0  0  -1K/1346 us  182579.69");
        assert_eq!(unknown.details[2..], [(Detail::Rtt, 1.346)]);
        let udp = row("[  3] 0.00-60.00 sec  7.50 MBytes  1.05 Mbits/sec  5350/0       89 pps");
        assert_eq!(udp.details, [(Detail::Writes, 5350.0)]);
        let report = row("[  3]  0.0-60.0 sec  7.50 MBytes  1.05 Mbits/sec   0.026 ms    1/ 5350 (0.019%)");
        let expected = [(Detail::Jitter, 0.026), (Detail::Lost, 1.0), (Detail::Datagrams, 5350.0)];
        assert_eq!(report.details, expected);
        assert!(report.has_loss() && !udp.has_loss());
        assert_eq!(row("[  1] 0.0-1.0 sec  1.8 GBytes  16.0 Gbits/sec  15505=30:1:0:211").details, []);
    }

    #[test]
    fn what_a_server_did_not_report_is_not_read() {
        for tail in
            ["0.000 ms 0/-1 (-0%)", "0.000 ms 0/0 (-nan%)", "0.000 ms -1/-1 (0%)", "nan ms nan/nan (nan%)"]
        {
            assert!(!row(&format!("[  1] 0.0-2.0 sec  12.5 MBytes  52.4 Mbits/sec   {tail}")).has_loss());
        }
    }

    #[test]
    fn what_is_no_row_is_none() {
        for line in [
            "[ ID] Interval       Transfer     Bandwidth",
            "[  3] local 10.0.0.1 port 4 connected with 10.0.0.2 port 5001",
            "[  3]  0.0-10.0 sec  1.12 GBytes",
            "[  3]  0.0-10.0 sec  1.12 GBytes   nan Mbits/sec",
            "[  3]  0.0-10.0 sec  ",
            "[  4] 0.00-60.00 sec  1 datagrams received out-of-order",
            "[  5]   0.00-1.00   sec   112 MBytes   943 Mbits/sec    0    218 KBytes       (omitted)",
            "[warn] 0.0-10.0 sec  1.12 GBytes   963 Mbits/sec",
            "[",
            "[]",
            "[ 3",
            "sec",
            "[\u{fffd}]",
        ] {
            assert_eq!(Row::parse(line), None, "{line}");
        }
    }
}
