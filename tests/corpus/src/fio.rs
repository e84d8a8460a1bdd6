//! What the words of claims about fio's output mean.
//!
//! Owns their way to the metrics and settings of the offer `fio`. It must never know a file.

use crossvisor_plugin::Imported;

use crate::offered::measured;
use crate::{Claim, Kind, Offered, Row, Verdict};

pub struct Fio;

const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

impl Kind for Fio {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("fio", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        let results = found.results();
        match claim.key.as_str() {
            "rows" | "jobs" | "documents" => Verdict::number(first(claim), Some(results.len() as f64)),
            "status" if claim.value == "failed" => Verdict::of(results.is_empty(), results.len()),
            "error" if first(claim) != "0" => {
                Verdict::of(found.refusals().contains(&claim.value), found.refusals())
            }
            "exit" => Verdict::Cannot("the exit code is not in the file"),
            "status" if claim.subject == "exit" => Verdict::Cannot("the exit code is not in the file"),
            "fields" => Verdict::Cannot("how the line is built is no part of a result"),
            "version" if claim.subject == "terse" => {
                Verdict::Cannot("how the line is built is no part of a result")
            }
            "disk" => Verdict::Cannot("the disk's name is no part of a result"),
            _ => match results {
                [result] => of_result(claim, result, found),
                _ => Verdict::Wrong(format!("{} results; {}", results.len(), found.refusals())),
            },
        }
    }
}

fn of_result(claim: &Claim, result: &Imported, found: &Offered) -> Verdict {
    let setting = |name: &str| {
        let wanted = claim.value.trim_matches('"');
        Verdict::text(wanted, result.settings.get(name).map(String::as_str))
    };
    let versions = result.versions.get("fio").map(|version| format!("fio-{version}"));
    match claim.key.as_str() {
        // A sentence on what stands around the result.
        "" => Verdict::of(found.refusals().is_empty(), found.refusals()),
        "error" => Verdict::of(found.refusals().is_empty(), found.refusals()),
        "status" => Verdict::of(
            result.settings.contains_key("ended") == (claim.value == "interrupted"),
            format!("{:?}", result.settings),
        ),
        "jobname" => setting("job"),
        "iodepth" => setting("depth"),
        "ioengine" => setting("engine"),
        "rw" => setting("rw"),
        "version" => Verdict::text(&claim.value, versions.as_deref()),
        _ if claim.value == "null" => absent(claim, result),
        _ => number(claim, result),
    }
}

/// The number that the claim begins with, as it is written.
fn first(claim: &Claim) -> &str {
    claim.number().map_or("", |(number, _)| number)
}

/// Nothing was measured of this part.
fn absent(claim: &Claim, result: &Imported) -> Verdict {
    let measured = result.values.measured.keys();
    let found: Vec<&String> =
        measured.filter(|metric| metric.split('_').any(|part| part == claim.key)).collect();
    Verdict::of(found.is_empty(), format!("{found:?}"))
}

fn number(claim: &Claim, result: &Imported) -> Verdict {
    let name = claim.name();
    let words: Vec<&str> = name.split(' ').collect();
    let Some(metric) = metric(&words, result) else {
        return Verdict::Wrong("no meaning for this word".into());
    };
    let Some((written, unit)) = claim.number() else {
        return Verdict::Wrong("no number in the claim".into());
    };
    let found = measured(result, &metric).map(|value| value * scale(unit));
    // fio cuts whole KiB per second and requests per second off where it prints both them and bytes.
    let cut = found.filter(|_| !written.contains('.')).map(f64::trunc);
    match Verdict::number(written, found) {
        Verdict::Wrong(wrong) if Verdict::number(written, cut) != Verdict::Right => Verdict::Wrong(wrong),
        _ => Verdict::Right,
    }
}

/// From our unit (KiB, KiB/s, us, ms, %) to the claim's.
fn scale(unit: &str) -> f64 {
    match unit {
        "ns" | "nsec" => 1e3,
        "B" | "B/s" => 1024.0,
        "MiB" | "MiB/s" => 1.0 / 1024.0,
        _ => 1.0,
    }
}

fn metric(words: &[&str], result: &Imported) -> Option<String> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    if has(&["util"]) {
        return Some("disk_busy".into());
    }
    if has(&["cpu"]) {
        return Some(if has(&["sys"]) { "cpu_system" } else { "cpu_user" }.into());
    }
    let used = |direction: &&&str| measured(result, &format!("{direction}_io")).is_some();
    let named = DIRECTIONS.iter().find(|direction| has(&[direction]));
    let direction = named.or_else(|| DIRECTIONS.iter().find(used))?;
    let part = match () {
        () if has(&["slat"]) => "slat",
        () if has(&["p50"]) => "clat_p50",
        () if has(&["p95"]) => "clat_p95",
        () if has(&["p99"]) => "clat_p99",
        () if has(&["p99.9", "p999"]) => "clat_p999",
        () if has(&["clat"]) => {
            if has(&["max"]) {
                "clat_max"
            } else {
                "clat"
            }
        }
        () if has(&["lat"]) => {
            if has(&["max"]) {
                "latency_max"
            } else {
                "latency"
            }
        }
        () if has(&["bw", "bw_bytes"]) => {
            if has(&["mean", "avg"]) {
                "bandwidth_mean"
            } else {
                "bandwidth"
            }
        }
        () if has(&["iops"]) => "iops",
        () if has(&["KiB", "io", "io_bytes", "io_kbytes"]) => "io",
        () if has(&["runtime", "runt"]) => "runtime",
        () if has(&["total_ios"]) => "requests",
        () => return None,
    };
    Some(format!("{direction}_{part}"))
}
