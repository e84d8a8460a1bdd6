//! What the words of claims about reports of HEP benchmarks mean.
//!
//! Owns their way to the metrics and settings of the offer `hep`. It must never know a file.

use crossvisor_plugin::Imported;

use crate::offered::measured;
use crate::{Claim, Kind, Offered, Row, Verdict};

pub struct Hep;

/// Names in claims and the metrics that they may mean, the first that was measured counts.
const NUMBERS: [(&[&str], &[&str]); 21] = [
    (&["score", "hepscore"], &["hepscore"]),
    (&["score per core", "score_per_core", "hepscore score_per_core"], &["hepscore_core"]),
    (&["db12"], &["db12", "db12_suite"]),
    (&["sum"], &["db12"]),
    (&["arithmetic", "arithmetic_mean", "mean"], &["db12_core"]),
    (&["geometric", "geometric_mean"], &["db12_geometric"]),
    (&["median", "throughput median"], &["copy_median", "db12_median"]),
    (&["avg", "throughput avg"], &["copy_avg"]),
    (&["min", "throughput min"], &["copy_min", "db12_min"]),
    (&["max", "throughput max"], &["copy_max", "db12_max"]),
    (&["cpu avg"], &["cpu_avg"]),
    (&["cpu median"], &["cpu_median"]),
    (&["hs06 32 bit", "hs06_32", "hs06_32 score"], &["hs06_32"]),
    (&["hs06 64 bit", "hs06_64", "hs06_64 score"], &["hs06_64"]),
    (&["spec2017", "spec2017 score"], &["spec2017"]),
    (&["hs06_32 avg_core_score"], &["hs06_32_core"]),
    (&["hs06_64 avg_core_score"], &["hs06_64_core"]),
    (&["spec2017 avg_core_score"], &["spec2017_core"]),
    (&["cpus"], &["cpus"]),
    (&["threads per core"], &["threads_per_core"]),
    (&["mem_total"], &["memory"]),
];

/// Names in claims and the settings that they mean. Copies that were counted are held against those that were started
/// when the report is read.
const SETTINGS: [(&[&str], &str); 7] = [
    (&["copies", "count"], "copies"),
    (&["threads", "threads per copy"], "threads per copy"),
    (&["events", "events per thread"], "events per thread"),
    (&["workloads"], "workloads"),
    (&["scaling"], "scaling"),
    (&["repetitions"], "repetitions"),
    (&["unit"], "unit"),
];

impl Kind for Hep {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("hep", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        let name = claim.name().to_lowercase();
        let results = found.results();
        let named = |names: &[&str]| names.contains(&name.as_str());
        if let Some((_, metrics)) = NUMBERS.iter().find(|(names, _)| named(names)) {
            let all = |metric: &&&str| results.iter().find_map(|result| measured(result, metric));
            return number(claim, metrics.iter().find_map(|metric| all(&metric)));
        }
        if let Some((_, setting)) = SETTINGS.iter().find(|(names, _)| named(names)) {
            return has_setting(claim, setting, found);
        }
        match name.as_str() {
            // A sentence on what stands around the result.
            "" => Verdict::of(found.refusals().is_empty(), found.refusals()),
            "status" => {
                Verdict::of(found.refusals().is_empty() == (claim.value == "success"), found.refusals())
            }
            "runs" => number(claim, Some(runs(results) as f64)),
            "duration" => number(claim, results.iter().find_map(|result| measured(result, "duration"))),
            "raw" => raw(claim, results),
            "correction applied" => correction(claim, results),
            "start" | "end" => Verdict::Cannot("an imported result has no time of its own"),
            "type" => Verdict::Cannot("how the number is written is no part of a result"),
            _ => workload(claim, found),
        }
    }
}

fn number(claim: &Claim, found: Option<f64>) -> Verdict {
    match claim.number() {
        Some((written, _)) => Verdict::number(written, found),
        None => Verdict::Wrong("no number in the claim".into()),
    }
}

fn has_setting(claim: &Claim, setting: &str, found: &Offered) -> Verdict {
    let wanted = claim.number().map_or(claim.value.as_str(), |(number, _)| number);
    let all: Vec<&str> = found
        .results()
        .iter()
        .filter_map(|result| result.settings.get(setting))
        .map(String::as_str)
        .collect();
    Verdict::of(all.contains(&wanted), format!("{all:?} {}", found.refusals()))
}

/// Runs of the first workload's first score.
fn runs(results: &[Imported]) -> usize {
    let of = |result: &Imported| {
        Some((result.settings.get("workload")?.clone(), result.settings.get("score")?.clone()))
    };
    let first = results.iter().find_map(of);
    results.iter().filter(|result| first.is_some() && of(result) == first).count()
}

fn raw(claim: &Claim, results: &[Imported]) -> Verdict {
    let found: Vec<f64> = results.iter().filter_map(|result| measured(result, "db12_copy")).collect();
    let written = claim.numbers();
    let pairs = written.iter().zip(&found);
    let right = pairs
        .fold(Verdict::Right, |all, ((written, _), found)| all.and(Verdict::number(written, Some(*found))));
    Verdict::of(written.len() == found.len(), format!("{found:?}")).and(right)
}

fn correction(claim: &Claim, results: &[Imported]) -> Verdict {
    let found = results.iter().find_map(|result| result.settings.get("correction"));
    let wanted = if claim.value == "no" { "none" } else { "for Python 3" };
    Verdict::text(wanted, found.map(String::as_str))
}

/// A score of one run of one workload: its words are the workload's name without `-bmk`, `runN` and the score's name,
/// each where it is needed.
fn workload(claim: &Claim, found: &Offered) -> Verdict {
    let name = claim.name();
    let (mut run, mut candidates): (usize, Vec<&Imported>) =
        (0, found.results().iter().filter(|result| result.settings.contains_key("workload")).collect());
    for word in name.split(' ') {
        if let Some(number) = word.strip_prefix("run").and_then(|number| number.parse().ok()) {
            run = number;
            continue;
        }
        let is = |result: &&Imported| {
            let setting = |name: &str| result.settings.get(name).map(String::as_str).unwrap_or_default();
            let workload = setting("workload");
            setting("score") == word
                || workload == word
                || workload.strip_suffix("-bmk").is_some_and(|bare| bare.starts_with(word))
        };
        candidates.retain(is);
    }
    number(claim, candidates.get(run).and_then(|result| measured(result, "workload")))
}
