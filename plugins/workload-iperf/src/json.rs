//! The JSON documents of iperf3: `-J`.
//!
//! Owns the search for documents in a text and their meaning. The exit code of iperf3 is 0 even where it failed, so
//! it must never believe a document that does not hold a whole result.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use crate::detail::Detail;
use crate::direction::Direction;
use crate::report::{Flow, Known, NoResult, Protocol, Report, Role, Tool, Total};
use crate::text::plain;

/// Where the documents are in a text: each begins a line with its brace. Found in one pass.
#[must_use]
pub fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        if text[at..line_end].trim_start().starts_with('{') {
            let end = end_of(text, at);
            places.push(at..end);
            at = end;
            continue;
        }
        at = line_end;
    }
    places
}

/// Where the braces that open at `start` are closed; where another document begins, or the text ends, if they are not.
fn end_of(text: &str, start: usize) -> usize {
    let (mut depth, mut in_string, mut escaped, mut line_start) = (0_usize, false, false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            // No document of iperf3 has a brace of its own at the start of a line but its first.
            b'{' if line_start && depth > 0 => return at,
            b'\n' => in_string = false,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        line_start = byte == b'\n';
    }
    text.len()
}

/// Reads one document.
///
/// # Errors
/// [`NoResult`] when it is not whole, or tells of a failure.
pub fn read(text: &str, line: usize) -> Result<Report, NoResult> {
    let refuse = |reason: String| NoResult { line, reason, said: None };
    let document: Value = serde_json::from_str(text)
        .or_else(|e| if has_nan(text) { serde_json::from_str(&without_nan(text)) } else { Err(e) })
        .map_err(|e| refuse(format!("expected a whole JSON document of iperf3: {e}")))?;
    if let Some(error) = document.get("error").and_then(Value::as_str) {
        let intervals = document.pointer("/intervals").and_then(Value::as_array).map_or(0, Vec::len);
        let until = if intervals > 0 { format!(" after {intervals} intervals") } else { String::new() };
        return Err(refuse(format!("iperf3 failed{until}: {}", plain(error.trim()))));
    }
    Document(&document)
        .report(line)
        .map_err(|reason| refuse(format!("expected a result of iperf3: {reason}")))
}

fn has_nan(text: &str) -> bool {
    ["nan", "inf"].iter().any(|word| text.contains(word))
}

/// Bare words that C prints for numbers that are none become null.
fn without_nan(text: &str) -> String {
    let mut text = text.to_string();
    for word in ["-nan", "nan", "-inf", "inf"] {
        for gap in ["", " ", "\t"] {
            text = text.replace(&format!("\":{gap}{word}"), &format!("\":{gap}null"));
        }
    }
    text
}

struct Document<'d>(&'d Value);

impl Document<'_> {
    fn number(&self, path: &str) -> Option<f64> {
        self.0.pointer(path).and_then(Value::as_f64)
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.0.pointer(path).and_then(Value::as_str)
    }

    fn list(&self, path: &str) -> &[Value] {
        self.0.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn report(&self, line: usize) -> Result<Report, String> {
        let version = self.text("/start/version").map(|text| text.trim_start_matches("iperf ").trim().into());
        let machine = self.text("/start/system_info").and_then(|text| text.split_whitespace().nth(1));
        let positive = |path: &str| self.number(path).filter(|value| *value > 0.0);
        let buffer = positive("/start/sock_bufsize").map(|bytes| format!("{bytes} B"));
        Ok(Report {
            line,
            tool: Tool::Iperf3,
            version,
            machine: machine.map(Into::into),
            role: self.role(),
            protocol: self.text("/start/test_start/protocol").and_then(Protocol::of),
            asked: Known {
                seconds: positive("/start/test_start/duration"),
                streams: self.streams_asked(),
                window: buffer,
                bits_per_second: positive("/start/test_start/target_bitrate"),
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a length of a write
                block_bytes: positive("/start/test_start/blksize").map(|bytes| bytes as u64),
            },
            flows: self.interval().map_or_else(|| self.flows(), |flow| Ok(vec![flow]))?,
            complaints: Vec::new(),
        })
    }

    fn streams_asked(&self) -> Option<usize> {
        let streams = self.0.pointer("/start/test_start/num_streams").and_then(Value::as_u64)?;
        usize::try_from(streams).ok()
    }

    fn role(&self) -> Option<Role> {
        let start = self.0.get("start")?;
        let is = |key: &str| start.get(key).is_some();
        is("connecting_to").then_some(Role::Client).or(is("accepted_connection").then_some(Role::Server))
    }

    fn flows(&self) -> Result<Vec<Flow>, String> {
        let reverse = self.number("/start/test_start/reverse").is_some_and(|reverse| reverse > 0.0);
        let out = if self.role() == Some(Role::Server) { Direction::In } else { Direction::Out };
        let main = if reverse { out.turned() } else { out };
        let other = self.0.pointer("/end/sum_sent_bidir_reverse").is_some();
        let ways = if other { vec![(main, ""), (main.turned(), "_bidir_reverse")] } else { vec![(main, "")] };
        let streams = self.list("/end/streams").len();
        if let Some(asked) =
            self.streams_asked().map(|asked| asked * ways.len()).filter(|asked| *asked != streams)
        {
            return Err(format!("{asked} streams were asked for, {streams} have an end"));
        }
        ways.into_iter().map(|(direction, way)| self.flow(direction, way, streams)).collect()
    }

    /// A piece of a document: one interval, as people paste it.
    fn interval(&self) -> Option<Flow> {
        let streams: Vec<&Value> = self.list("/streams").iter().collect();
        let add = |key: &str| -> Option<f64> {
            streams.iter().map(|stream| stream.get(key).and_then(Value::as_f64)).sum::<Option<f64>>()
        };
        let seconds = self.number("/streams/0/seconds").filter(|_| self.0.get("end").is_none())?;
        let bits_per_second = add("bits_per_second").filter(|rate| *rate > 0.0)?;
        let total = Total { seconds, bytes: add("bytes"), bits_per_second };
        // Only a receiver knows a jitter.
        let receives = add("jitter_ms").is_some();
        Some(Flow {
            direction: if receives { Direction::In } else { Direction::Out },
            streams: streams.len(),
            sent: (!receives).then_some(total),
            received: receives.then_some(total),
            unknown: None,
            spread: None,
            details: BTreeMap::new(),
            notes: Vec::new(),
            flags: vec!["one interval of a test: the rest of the document is not there".into()],
        })
    }

    fn total(&self, path: &str) -> Option<Total> {
        let value = |key: &str| self.number(&format!("{path}/{key}")).filter(|value| *value > 0.0);
        let bits_per_second = value("bits_per_second")?;
        Some(Total { seconds: value("seconds")?, bytes: Some(value("bytes")?), bits_per_second })
    }

    fn flow(&self, direction: Direction, way: &str, streams: usize) -> Result<Flow, String> {
        let datagrams = self.0.pointer("/end/sum/packets").is_some();
        let received = self.total(&format!("/end/sum_received{way}"));
        let mut sent = self.total(&format!("/end/sum_sent{way}"));
        if datagrams && received.is_none() {
            // Before 3.9 there is one sum: what was sent, with the receiver's losses.
            sent = sent.or_else(|| self.total("/end/sum"));
        }
        if received.is_none() && sent.is_none() {
            return Err(self.nothing(way));
        }
        let ours = |stream: &&Value| {
            let at = stream.get("sender").or_else(|| stream.get("udp"));
            let sends = at.and_then(|at| at.get("sender")).and_then(Value::as_bool);
            sends.is_none_or(|sends| sends == (direction == Direction::Out))
        };
        let streams_here: Vec<&Value> = self.list("/end/streams").iter().filter(ours).collect();
        let mut details = self.details(way, &streams_here);
        if datagrams {
            details.extend(self.datagrams(way));
        }
        Ok(Flow {
            direction,
            streams: if way.is_empty() && streams_here.is_empty() { streams } else { streams_here.len() },
            unknown: received.is_none().then(|| "the receiver's count is not in the document".into()),
            sent,
            received,
            spread: spread(&streams_here),
            details,
            flags: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Why there is no sum.
    fn nothing(&self, way: &str) -> String {
        let there = |name: &str| self.0.pointer(&format!("/end/{name}{way}")).is_some();
        if there("sum_sent") || there("sum_received") || there("sum") {
            return "nothing was transferred".into();
        }
        match self.list("/intervals").len() {
            0 => "it has no sum at its end (end.sum_sent, end.sum_received or end.sum)".into(),
            count => format!("it has {count} intervals and no sum at its end"),
        }
    }

    fn details(&self, way: &str, streams: &[&Value]) -> BTreeMap<Detail, f64> {
        let ends = [(Detail::CpuInstance, "host"), (Detail::CpuPeer, "remote")];
        let cpu = ends.map(|(detail, end)| {
            (
                detail,
                self.number(&format!("/end/cpu_utilization_percent/{end}_total")).filter(|cpu| *cpu >= 0.0),
            )
        });
        // Only the sender knows, and a receiver writes zeros for it.
        let of_sender = |key: &str| -> Vec<f64> {
            let of = |stream: &&Value| stream.get("sender").and_then(|s| s.get(key)).and_then(Value::as_f64);
            streams.iter().filter_map(of).filter(|value| *value > 0.0).collect()
        };
        let rtt = of_sender("mean_rtt");
        #[allow(clippy::cast_precision_loss)] // a number of streams
        let rtt = (!rtt.is_empty()).then(|| rtt.iter().sum::<f64>() / rtt.len() as f64 / 1e3);
        let window = of_sender("max_snd_cwnd").into_iter().reduce(f64::max).map(|bytes| bytes / 1024.0);
        let again = self.number(&format!("/end/sum_sent{way}/retransmits")).filter(|count| *count >= 0.0);
        let known = [(Detail::Retransmits, again), (Detail::Rtt, rtt), (Detail::Window, window)];
        cpu.into_iter().chain(known).filter_map(|(detail, value)| Some((detail, value?))).collect()
    }

    /// What became of the datagrams; nothing where none was counted, since the other figures are then noise.
    fn datagrams(&self, way: &str) -> Vec<(Detail, f64)> {
        let received = format!("/end/sum_received{way}");
        let path = if self.0.pointer(&format!("{received}/packets")).is_some() {
            received
        } else {
            "/end/sum".into()
        };
        let value = |key: &str| self.number(&format!("{path}/{key}")).filter(|value| *value >= 0.0);
        if value("packets").is_none_or(|packets| packets <= 0.0) {
            return Vec::new();
        }
        let known = [
            (Detail::Datagrams, value("packets")),
            (Detail::Lost, value("lost_packets")),
            (Detail::Jitter, value("jitter_ms")),
        ];
        known.into_iter().filter_map(|(detail, value)| Some((detail, value?))).collect()
    }
}

/// The slowest and the fastest of several streams.
fn spread(streams: &[&Value]) -> Option<[f64; 2]> {
    let rate = |stream: &&Value| {
        let of =
            |end: &str| stream.get(end).and_then(|end| end.get("bits_per_second")).and_then(Value::as_f64);
        of("receiver").filter(|rate| *rate > 0.0).or_else(|| of("sender")).or_else(|| of("udp"))
    };
    let rates: Option<Vec<f64>> = streams.iter().map(rate).collect();
    let rates = rates.filter(|rates| rates.len() > 1)?;
    Some([rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max)])
}
