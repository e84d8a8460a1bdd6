//! What the words of claims about recordings of Xen's and libvirt's domains mean: xentop, xl, virt-top.
//!
//! Owns their way to the metrics and settings of the offer `xenmon`. It must never know a file.

use std::collections::BTreeSet;

use crossvisor_plugin::Imported;

use crate::offered::measured;
use crate::{Claim, Kind, Offered, Row, Verdict};

pub struct Xenmon;

/// A word of a claim, and the metric.
const WORDS: [(&str, &str); 14] = [
    ("mem", "memory"),
    ("maxmem", "max memory"),
    ("cpu%", "cpu"),
    ("%cpu", "cpu share"),
    ("time", "cpu time"),
    ("vcpus", "vcpus"),
    ("nets", "nets"),
    ("nettx", "net sent"),
    ("netrx", "net received"),
    ("vbds", "vbds"),
    ("vbd_rd", "vbd reads"),
    ("vbd_wr", "vbd writes"),
    ("vbd_rsect", "vbd sectors read"),
    ("vbd_wsect", "vbd sectors written"),
];

impl Kind for Xenmon {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("xenmon", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        let results = found.results();
        let lines: BTreeSet<usize> = results.iter().map(|result| result.line).collect();
        let written = claim.number().map_or("", |(number, _)| number);
        let any = |name: &str, wanted: &str| {
            let of = |result: &&Imported| result.settings.get(name).is_some_and(|value| value == wanted);
            Verdict::of(of_subject(claim, results).iter().any(of), format!("{results:?}"))
        };
        match claim.key.as_str() {
            "rows" | "samples" => Verdict::number(written, Some(lines.len() as f64)),
            "fields" => Verdict::Cannot("how a line is built is no part of a result"),
            "host" => {
                Verdict::text(&claim.value, results.first().and_then(|result| result.machine.as_deref()))
            }
            "domain" => any("domain", &claim.value),
            "id" => any("id", written),
            "cpus" => any("host cpus", written),
            "lines" => {
                let said =
                    results.iter().flat_map(|result| &result.warnings).any(|said| said.starts_with(written));
                Verdict::of(said, "no such warning")
            }
            "hard" | "soft" => any("affinity", "all / all"),
            "state" => any("state", if claim.value == "-b-" { "blocked" } else { "running" }),
            "" => Verdict::of(!of_subject(claim, results).is_empty(), format!("{results:?}")),
            "cpu" if claim.subject.starts_with("vcpu") => any("on cpu", written),
            _ => number(claim, results),
        }
    }
}

fn number(claim: &Claim, results: &[Imported]) -> Verdict {
    let Some((written, unit)) = claim.number() else {
        return Verdict::Wrong("no number in the claim".into());
    };
    let (metric, factor) = match (claim.key.as_str(), unit) {
        ("cpu" | "time", "ns") => ("cpu used", 1e9),
        ("cpu", _) => ("cpu time", 1.0),
        ("rx", _) => ("net received in span", 1.0),
        ("memory", _) => ("host memory", 1.0),
        (key, _) => (WORDS.iter().find(|(word, _)| *word == key).map_or(key, |(_, metric)| *metric), 1.0),
    };
    let value = |result: &&Imported| measured(result, metric).map(|value| value * factor);
    let all: Vec<f64> = of_subject(claim, results).iter().filter_map(value).collect();
    let right = all.iter().any(|value| Verdict::number(written, Some(*value)) == Verdict::Right);
    Verdict::of(right, format!("{all:?} of {metric}"))
}

/// The results that a claim is about: of a virtual processor and its state, of a domain, or of all.
fn of_subject<'f>(claim: &Claim, results: &'f [Imported]) -> Vec<&'f Imported> {
    let text = if claim.key.is_empty() { &claim.value } else { &claim.subject };
    let words: Vec<&str> = text.split(' ').collect();
    let is = |result: &Imported, name: &str, wanted: &str| {
        result.settings.get(name).is_some_and(|value| value == wanted)
    };
    let about = |result: &&Imported| match words.as_slice() {
        ["vcpu", vcpu] => is(result, "vcpu", vcpu),
        ["vcpu", vcpu, "on", "cpu", cpu] => is(result, "vcpu", vcpu) && is(result, "on cpu", cpu),
        ["vcpu", vcpu, state] => is(result, "vcpu", vcpu) && is(result, "state", state),
        _ => is(result, "domain", words[0]),
    };
    let of: Vec<&Imported> = results.iter().filter(about).collect();
    if of.is_empty() && words[0] != "vcpu" { results.iter().collect() } else { of }
}
