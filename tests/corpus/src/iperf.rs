//! What the words of claims about output of iperf 2 and iperf3 mean.
//!
//! Owns their way to the metrics and settings of the offers `iperf` and `iperf2`. It must never know a file.

use crossvisor_model::Value;
use crossvisor_plugin::Imported;

use crate::offered::{measured, value};
use crate::{Claim, Kind, Offered, Row, Verdict};

pub struct Iperf2;
pub struct Iperf3;

impl Kind for Iperf2 {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("iperf2", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        check(claim, found)
    }
}

impl Kind for Iperf3 {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("iperf", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        check(claim, found)
    }
}

const LINES: &str = "single lines and intervals are no part of a result";
const STREAMS: &str = "of single streams, only the rates of the slowest and the fastest are kept";

fn check(claim: &Claim, found: &Offered) -> Verdict {
    let name = claim.name();
    let words: Vec<&str> = name.split(' ').collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let failed = || Verdict::of(found.results().is_empty(), found.results().len());
    match claim.key.as_str() {
        "" => unnamed(claim, found),
        "runs" => count(claim, found.results().len()),
        "error" | "lines" if !found.refusals().is_empty() => said(claim, &found.refusals()),
        "status" if claim.value.starts_with("failed") => failed(),
        "status" if words == ["exit", "status"] => Verdict::Cannot("the exit code is not in the file"),
        "bandwidth" if claim.value == "null" => failed(),
        "version" if found.results().is_empty() => Verdict::Cannot("what is no result has no version"),
        "intervals" if found.results().is_empty() => failed(),
        "line" | "rows" | "row" | "id" | "timestamp" | "port" | "intervals" | "err" => Verdict::Cannot(LINES),
        key if key.starts_with("interval") && key != "interval" => Verdict::Cannot(LINES),
        _ if has(&["first", "2-3"]) && has(&["second", "s"]) => Verdict::Cannot(LINES),
        _ if has(&["interval", "last"]) && has(&["row", "rows", "timestamp"]) => Verdict::Cannot(LINES),
        _ => match choose(claim, &words, found.results()) {
            Some(result) => of_result(claim, &words, result),
            None => Verdict::Cannot(if found.refusals().is_empty() { LINES } else { "it is refused" }),
        },
    }
}

fn count(claim: &Claim, found: usize) -> Verdict {
    Verdict::text(claim.number().map_or("", |(number, _)| number), Some(&found.to_string()))
}

/// Each word that the claim quotes is in what was said.
fn said(claim: &Claim, said: &str) -> Verdict {
    let all = claim.value.split(' ').all(|word| said.contains(word.trim_matches(['"', ':'])));
    Verdict::of(all, said)
}

/// A sentence, or a name with brackets and its value.
fn unnamed(claim: &Claim, found: &Offered) -> Verdict {
    if let Some((key, value)) = claim.value.split_once('=') {
        let note = claim.note.clone();
        let named = Claim { subject: String::new(), key: key.into(), value: value.into(), note };
        return check(&named, found);
    }
    if !claim.value.contains("sum row") {
        return Verdict::Cannot(LINES);
    }
    let told =
        found.results().iter().flat_map(|result| &result.warnings).any(|words| words.contains("no sum"));
    Verdict::of(told, "no word of it")
}

/// The result that a claim is about.
fn choose<'r>(claim: &Claim, words: &[&str], results: &'r [Imported]) -> Option<&'r Imported> {
    let datagrams = claim.numbers().iter().any(|(_, unit)| *unit == "datagrams");
    let has = |word: &str| words.contains(&word);
    let protocol =
        |result: &&Imported, wanted: &str| result.settings.get("protocol").is_some_and(|p| p == wanted);
    match () {
        () if has("tcp") => results.iter().find(|result| protocol(result, "TCP")),
        () if has("udp") || datagrams => results.iter().find(|result| protocol(result, "UDP")),
        () if has("run2") || has("second") => results.get(1),
        () if results.len() > 1 && has("stream") => {
            results.iter().find(|result| result.settings.get("streams").is_some_and(|streams| streams == "1"))
        }
        () => results.first(),
    }
}

fn of_result(claim: &Claim, words: &[&str], result: &Imported) -> Verdict {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let way =
        if result.settings.get("direction").is_some_and(|way| way.starts_with("out")) { "out" } else { "in" };
    let metric = |suffix: &str| if suffix.is_empty() { way.to_string() } else { format!("{way}_{suffix}") };
    let number = |suffix: &str| number(claim, measured(result, &metric(suffix)));
    let rate = || {
        number(if value(result, way).is_some_and(|v| matches!(v, Value::Measured(_))) { "" } else { "sent" })
    };
    let unit = claim.number().map_or("", |(_, unit)| unit);
    match claim.key.as_str() {
        _ if claim.value.starts_with("unknown") || claim.value.starts_with("null") => {
            absent(words, way, result)
        }
        _ if claim.note == "wrong" => absent(words, way, result),
        "streams"
            if claim.number().is_some_and(|(_, unit)| unit.is_empty() || unit == "each")
                && !claim.value.contains(',') =>
        {
            Verdict::text(
                claim.number().map_or("", |(number, _)| number),
                result.settings.get("streams").map(String::as_str),
            )
        }
        "version" => Verdict::text(
            claim.value.trim_start_matches("iperf "),
            result.versions.get("iperf3").map(String::as_str),
        ),
        "window" => setting(claim, result, "window"),
        "reverse" => Verdict::of(way == "in", way),
        "status" if value(result, way).is_some_and(|v| v.measured().is_some()) => {
            Verdict::Cannot("the file does not tell that it was interrupted")
        }
        "lost" | "packets" | "total" if unreported(claim, result, way) => {
            Verdict::Cannot("what no receiver reported is not counted")
        }
        "status" => Verdict::of(matches!(value(result, way), Some(Value::Missing(_))), "a whole result"),
        "lines" => Verdict::of(
            format!("{:?}", result.values.missing).contains(claim.value.trim_matches('"')),
            "not said",
        ),
        "remote_total" => number("cpu_peer"),
        _ if has(&["streams", "stream"]) || claim.value.contains(',') => {
            stream(claim, words, result, &metric)
        }
        _ if has(&["time", "connect"]) => number("connect"),
        _ if has(&["asked"]) => Verdict::Cannot("what was asked for is not in the file"),
        "interval" | "measured" | "seconds" => span(claim, measured(result, &metric("seconds"))),
        "writes" => number("writes"),
        "retry" | "retransmits" | "Retr" => number("retransmits"),
        _ if has(&["retransmits"]) => number("retransmits"),
        "cwnd" => number("cwnd"),
        "rtt" => number("rtt"),
        "jitter" => number("jitter"),
        "loss" => number("lost_percent"),
        "lost" => number("lost"),
        "order" => number("out_of_order"),
        "total" | "packets" if unit.is_empty() => number("datagrams"),
        "sent" if unit == "datagrams" => sent(claim, measured(result, &metric("datagrams"))),
        _ if has(&["transfer", "bytes"]) => number("transferred"),
        _ if has(&["sent", "bandwidth(sent)"]) => number("sent"),
        _ if has(&[
            "sum",
            "SUM",
            "bandwidth",
            "rate",
            "total",
            "received",
            "receiver",
            "bits_per_second",
            "row",
        ]) =>
        {
            rate()
        }
        _ => Verdict::Wrong("no meaning for this word".into()),
    }
}

/// A count of 0 or less beside a report that did not come.
fn unreported(claim: &Claim, result: &Imported, way: &str) -> bool {
    let none =
        claim.number().and_then(|(number, _)| number.parse::<f64>().ok()).is_some_and(|count| count <= 0.0);
    none && measured(result, &format!("{way}_datagrams")).is_none()
}

/// The datagrams that a client counts are one more than those of the test, which end it.
fn sent(claim: &Claim, found: Option<f64>) -> Verdict {
    let ended = number(claim, found.map(|count| count + 1.0));
    if ended == Verdict::Right { ended } else { number(claim, found) }
}

fn setting(claim: &Claim, result: &Imported, name: &str) -> Verdict {
    let wanted = claim.value.replace("KByte", "KiB").replace("MByte", "MiB");
    let found = result.settings.get(name).and_then(|text| text.split(',').next());
    Verdict::text(&wanted, found)
}

/// `0.0-10.0 s` is a time of 10.0 s.
fn span(claim: &Claim, found: Option<f64>) -> Verdict {
    let ends = claim.value.split([' ', '-']).filter_map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>();
    let wanted = match ends.as_slice() {
        [start, end, ..] => end - start,
        [time] => *time,
        [] => f64::NAN,
    };
    Verdict::of(found.is_some_and(|found| (found - wanted).abs() < 1e-6), format!("{found:?}"))
}

fn stream(claim: &Claim, words: &[&str], result: &Imported, metric: &dyn Fn(&str) -> String) -> Verdict {
    if words.contains(&"jitter") || words.contains(&"lost") || claim.value.contains("MBytes") {
        return Verdict::Cannot(STREAMS);
    }
    let ends = ["", "slowest", "fastest"].map(|end| number(claim, measured(result, &metric(end))));
    if ends.contains(&Verdict::Right) { Verdict::Right } else { Verdict::Cannot(STREAMS) }
}

/// What is unknown has no number.
fn absent(words: &[&str], way: &str, result: &Imported) -> Verdict {
    let suffix = match words.last() {
        Some(&"loss" | &"lost_percent") => "lost_percent",
        Some(&"transfer") => "transferred",
        Some(word) => word,
        None => "",
    };
    let found = measured(result, &format!("{way}_{suffix}"));
    Verdict::of(found.is_none(), format!("{found:?}"))
}

/// The claim's number in our unit: Mbit/s, MiB, ms, KiB.
fn number(claim: &Claim, found: Option<f64>) -> Verdict {
    let Some((written, unit)) = claim.number() else {
        let joined = claim.value.split(' ').next().unwrap_or_default().trim_end_matches('K');
        return Verdict::number(joined, found);
    };
    let scaled = found.map(|found| found * scale(unit));
    let exact =
        scaled.zip(written.parse::<f64>().ok()).is_some_and(|(a, b)| (a - b).abs() <= 1e-12 * b.abs());
    if exact { Verdict::Right } else { Verdict::number(written, scaled) }
}

/// From our unit to the claim's.
fn scale(unit: &str) -> f64 {
    match unit {
        "bits/sec" | "bit/s" => 1e6,
        "Kbits/sec" => 1e3,
        "Gbits/sec" => 1e-3,
        "bytes" | "Bytes" | "B" => 1_048_576.0,
        "KBytes" => 1024.0,
        "GBytes" => 1.0 / 1024.0,
        "us" => 1e3,
        _ => 1.0,
    }
}
