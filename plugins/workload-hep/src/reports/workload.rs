//! One run of one HEP workload, as its `<name>_summary.json` and HEPscore's `runN` have it.
//!
//! Owns its scores and the statistics of its copies. It must never add scores of different stages.

use std::collections::BTreeMap;

use crossvisor_plugin::Imported;
use crossvisor_plugin::model::Values;
use serde_json::Value;

use super::{Found, WORKLOAD, number, texts, word};

/// The statistics of the copies, as reports name them and for people.
pub const STATISTICS: [(&str, &str); 4] =
    [("avg", "average"), ("median", "median"), ("min", "slowest"), ("max", "fastest")];

/// What is known of a run beside its report.
pub struct Run<'a> {
    pub name: &'a str,
    pub machine: Option<&'a str>,
    pub line: usize,
    /// The workload's own.
    pub version: Option<String>,
    /// `copies`, `threads_per_copy`, `events_per_thread`.
    pub info: &'a Value,
    pub duration_s: Option<f64>,
}

/// The file that a workload leaves.
pub fn summary(file: &str, value: &Value, line: usize, found: &mut Found) {
    let stem = file.strip_suffix(".json").unwrap_or(file);
    let name = stem.strip_suffix("_summary").unwrap_or(stem);
    let run = Run {
        name: if name.is_empty() { "unnamed" } else { name },
        machine: None,
        line,
        version: word(&value["app"]["version"]),
        info: &value["run_info"],
        duration_s: None,
    };
    read(&run, &value["report"], found);
}

/// One result for each score of the run.
pub fn read(run: &Run<'_>, report: &Value, found: &mut Found) {
    let refuse =
        |found: &mut Found, what: String| found.refuse(run.line, format!("workload {}: {what}", run.name));
    if let Some(log) = word(&report["log"]).filter(|log| log != "ok") {
        return refuse(found, format!("its log is '{log}' where 'ok' is expected"));
    }
    let Some(scores) = report["wl-scores"].as_object().filter(|scores| !scores.is_empty()) else {
        return refuse(found, "it has no score in 'wl-scores'".into());
    };
    for (score, value) in scores {
        match number(value).filter(|value| *value > 0.0) {
            Some(value) => found.take(result(run, report, (score, value), scores.len() == 1)),
            None => {
                refuse(found, format!("its score '{score}' is {value} where a number above 0 is expected"))
            }
        }
    }
}

fn result(run: &Run<'_>, report: &Value, (score, value): (&str, f64), only: bool) -> Imported {
    let mut measured = BTreeMap::from([("workload".to_string(), value)]);
    measured.extend(run.duration_s.map(|duration| ("duration".to_string(), duration)));
    let statistics = &report["wl-stats"];
    let copies = [&statistics[score], &statistics["throughput_score"]];
    let flat = only.then_some(statistics);
    let of_copies = copies.into_iter().chain(flat).find(|part| part["avg"].is_number());
    for (prefix, part) in [("copy", of_copies), ("cpu", Some(&statistics["CPU_score"]))] {
        for (name, _) in STATISTICS {
            let value = part.and_then(|part| number(&part[name]));
            measured.extend(value.map(|value| (format!("{prefix}_{name}"), value)));
        }
    }
    let mut warnings = Vec::new();
    let counted = of_copies.and_then(|part| number(&part["count"]));
    if let (Some(counted), Some(started)) = (counted, number(&run.info["copies"])) {
        if counted != started {
            warnings.push(format!("{started} copies of {} were started and {counted} counted", run.name));
        }
    }
    Imported {
        line: run.line,
        machine: run.machine.map(String::from),
        settings: texts([
            ("benchmark", Some(format!("{} {score}", run.name))),
            (WORKLOAD, Some(run.name.into())),
            ("score", Some(score.into())),
            ("copies", word(&run.info["copies"])),
            ("threads per copy", word(&run.info["threads_per_copy"])),
            ("events per thread", word(&run.info["events_per_thread"])),
            ("workload version", run.version.clone()),
        ]),
        values: Values { measured, ..Values::default() },
        warnings,
        versions: texts([(run.name, run.version.clone())]),
    }
}
