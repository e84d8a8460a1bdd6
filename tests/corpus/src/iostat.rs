//! What the words of claims about recordings of disks mean: iostat, sar -d, /proc/diskstats.
//!
//! Owns their way to the metrics and settings of the offer `iostat`. It must never know a file.

use crossvisor_plugin::Imported;

use crate::offered::measured;
use crate::{Claim, Kind, Offered, Row, Verdict};

pub struct Iostat;

/// A word of a claim, the metric, and what the metric is divided by.
const WORDS: [(&str, &str, f64); 15] = [
    ("wMB/s", "wkB/s", 1024.0),
    ("rMB/s", "rkB/s", 1024.0),
    ("rd_sec/s", "rkB/s", 0.5),
    ("wr_sec/s", "wkB/s", 0.5),
    ("kB_read/s", "rkB/s", 1.0),
    ("kB_wrtn/s", "wkB/s", 1.0),
    ("avgrq-sz", "areq-sz", 0.5),
    ("avgqu-sz", "aqu-sz", 1.0),
    ("util", "%util", 1.0),
    ("user", "%user", 1.0),
    ("idle", "%idle", 1.0),
    ("iowait", "%iowait", 1.0),
    ("read", "sectors read", 1.0),
    ("written", "sectors written", 1.0),
    ("writing", "time writing", 1.0),
];

impl Kind for Iostat {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("iostat", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        let results = found.results();
        if claim.key.is_empty() {
            let first = results.first().and_then(|result| result.settings.get("span"));
            let said = first.is_some_and(|span| span.contains("since boot"));
            return Verdict::of(said == claim.value.contains("since boot"), format!("{first:?}"));
        }
        let Some((written, _)) = claim.number() else {
            return Verdict::Wrong("no number in the claim".into());
        };
        if claim.key == "cpus" {
            let cpus = results.first().and_then(|result| result.settings.get("cpus"));
            return Verdict::text(written, cpus.map(String::as_str));
        }
        let (metric, factor) = metric(claim);
        let number = |result: &&Imported| measured(result, metric).map(|value| value / factor);
        let all: Vec<f64> = of(claim, results).iter().filter_map(number).collect();
        let right = all.iter().any(|value| Verdict::number(written, Some(*value)) == Verdict::Right);
        Verdict::of(right, format!("{all:?}"))
    }
}

fn metric(claim: &Claim) -> (&str, f64) {
    let behind = |word: &str| claim.subject.split(' ').any(|one| one == word);
    match claim.key.as_str() {
        // `flush ms` and `weighted ms` are two words, of which the first goes with what stands before.
        "ms" if behind("weighted") => ("time weighted", 1.0),
        "ms" => ("time flushing", 1.0),
        key => {
            let known = WORDS.iter().find(|(word, ..)| *word == key);
            known.map_or((key, 1.0), |(_, metric, factor)| (*metric, *factor))
        }
    }
}

/// The results that a claim is about: of the processors, of a device or of those whose names begin so, or of all.
fn of<'f>(claim: &Claim, results: &'f [Imported]) -> Vec<&'f Imported> {
    let subject = claim.subject.split(' ').next().unwrap_or_default();
    let setting = |result: &Imported, name: &str| result.settings.get(name).cloned();
    let of_subject = |result: &&Imported| match subject {
        "" => true,
        "cpu" => setting(result, "processor").is_some(),
        _ => setting(result, "device").is_some_and(|device| device.starts_with(subject)),
    };
    let exact = |result: &&Imported| setting(result, "device").as_deref() == Some(subject);
    let all: Vec<&Imported> = results.iter().filter(of_subject).collect();
    let own: Vec<&Imported> = results.iter().filter(exact).collect();
    let own = if own.is_empty() { all } else { own };
    if claim.subject.contains("(2nd)") { own.into_iter().skip(1).take(1).collect() } else { own }
}
