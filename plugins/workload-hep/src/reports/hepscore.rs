//! HEPscore's report: the score, the runs of its workloads, and whether the two agree.
//!
//! Owns its formula (`hepscore.py`, methods `_proc_results` and `gen_score`): of each workload the scores of the run
//! that is the median, each divided by its reference, are brought together by the geometric mean; those of all
//! workloads by the weighted geometric mean, times `scaling`. It must never take a score of 0: a report without any
//! workload has it with status "success".

use std::collections::BTreeMap;

use crossvisor_plugin::Imported;
use crossvisor_plugin::model::Values;
use serde_json::{Map, Value};

use super::workload::{self, Run};
use super::{Found, differ, number, texts, word};
use crate::spread::{geometric_mean, weighted_geometric_mean};

/// The score is rounded to four digits at every step; with an even number of runs HEPscore takes the middle of two.
const TOLERANCE: f64 = 0.005;

/// Reads a report that stands alone or in that of a suite, which knows the machine.
pub fn read(value: &Value, line: usize, machine: Option<&str>, found: &mut Found) {
    let system = word(&value["environment"]["system"]).unwrap_or_default();
    let machine = machine.or_else(|| host_of(&system));
    match score(value) {
        Ok(score) => found.take(result(value, line, machine, score)),
        Err(reason) => found.refuse(line, format!("HEPscore: {reason}")),
    }
    for (name, workload) in value["benchmarks"].as_object().into_iter().flatten() {
        runs(name, workload, line, machine, found);
    }
}

fn runs(name: &str, workload: &Value, line: usize, machine: Option<&str>, found: &mut Found) {
    let number_of = |key: &str| key.strip_prefix("run").and_then(|digits| digits.parse::<u32>().ok());
    let members = workload.as_object().into_iter().flatten();
    let mut runs: Vec<(u32, &Value)> =
        members.filter_map(|(key, run)| Some((number_of(key)?, run))).collect();
    runs.sort_by_key(|(number, _)| *number);
    for (_, run) in runs {
        let known = Run {
            name,
            machine,
            line,
            version: word(&workload["version"]),
            info: &workload["run_info"],
            duration_s: number(&run["duration"]),
        };
        workload::read(&known, &run["report"], found);
    }
}

/// The host of a line of `uname -a`.
fn host_of(system: &str) -> Option<&str> {
    let mut words = system.split_whitespace();
    let host = words.nth(1);
    words.next().and(host)
}

fn score(value: &Value) -> Result<f64, String> {
    let status = word(&value["status"]);
    let printed = number(&value["score"]);
    match (status.as_deref(), printed) {
        (Some(status), _) if status != "success" => {
            let first = word(&value["error"]).map(|name| format!(", first in {name}")).unwrap_or_default();
            Err(format!("its status is '{status}' where 'success' is expected{first}"))
        }
        (_, None) => Err(format!("its score is {} where a number is expected", value["score"])),
        (_, Some(score)) if score <= 0.0 => {
            Err(format!("its score is {score} although it did not fail: no workload gave a score"))
        }
        (_, Some(score)) => Ok(score),
    }
}

fn result(value: &Value, line: usize, machine: Option<&str>, score: f64) -> Imported {
    let settings = &value["settings"];
    let count = value["wl-scores"].as_object().map(Map::len);
    let mut measured = BTreeMap::from([("hepscore".to_string(), score)]);
    let per_core = number(&value["score_per_core"]).filter(|score| *score > 0.0);
    measured.extend(per_core.map(|score| ("hepscore_core".to_string(), score)));
    let doubts = doubts(value, score);
    let flags = (!doubts.is_empty()).then(|| ("hepscore".to_string(), doubts));
    Imported {
        line,
        machine: machine.map(String::from),
        settings: texts([
            ("benchmark", word(&settings["name"]).or_else(|| word(&value["app_info"]["name"]))),
            ("scaling", word(&settings["scaling"])),
            ("repetitions", word(&settings["repetitions"])),
            ("workloads", count.map(|count| count.to_string())),
            (
                "reference",
                word(&settings["reference_machine"])
                    .or_else(|| word(&value["app_info"]["reference_machine"])),
            ),
        ]),
        values: Values { measured, flags: flags.into_iter().collect(), ..Values::default() },
        warnings: Vec::new(),
        versions: texts([("hep-score", word(&value["app_info"]["hepscore_ver"]))]),
    }
}

fn doubts(value: &Value, score: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    let (asked, given) = (&value["benchmarks"], &value["wl-scores"]);
    let without =
        asked.as_object().into_iter().flatten().filter(|(name, _)| given.get(name.as_str()).is_none());
    doubts.extend(without.map(|(name, _)| format!("workload {name} has no part in the score")));
    match from_workloads(value) {
        None => doubts.push("its workloads' scores are not there to check it".into()),
        Some(computed) if differ(score, computed, TOLERANCE) => {
            doubts
                .push(format!("the workloads' scores make {computed:.4} by the geometric mean, not {score}"));
        }
        Some(_) => {}
    }
    doubts
}

/// The score by the formula.
fn from_workloads(value: &Value) -> Option<f64> {
    let scaling = number(&value["settings"]["scaling"]).unwrap_or(1.0);
    let workloads = value["wl-scores"].as_object()?;
    let part = |(name, scores): (&String, &Value)| {
        let weight = number(&value["benchmarks"][name.as_str()]["weight"]).unwrap_or(1.0);
        Some((geometric_mean(&ratios(scores.as_object()?)?)?, weight))
    };
    let parts = workloads.iter().map(part).collect::<Option<Vec<_>>>()?;
    Some(scaling * weighted_geometric_mean(parts)?)
}

/// Each score that has a reference, divided by it.
fn ratios(scores: &Map<String, Value>) -> Option<Vec<f64>> {
    let references =
        scores.iter().filter_map(|(name, reference)| Some((name.strip_suffix("_ref")?, reference)));
    references.map(|(name, reference)| Some(number(scores.get(name)?)? / number(reference)?)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        let run = |score: f64| {
            json!({"duration": 61, "report": {"wl-scores": {"sim": score}, "log": "ok",
                "wl-stats": {"avg": score / 2.0, "median": score / 2.0, "min": 0.5, "max": 2.5, "count": 2}}})
        };
        json!({
            "settings": {"name": "HEPscoreTest", "scaling": 100, "repetitions": 3},
            "benchmarks": {
                "one-bmk": {"version": "v1", "weight": 1.0, "run0": run(4.0), "run1": run(3.0), "run2": run(5.0),
                    "run_info": {"copies": 2, "threads_per_copy": 1, "events_per_thread": 9}},
                "two-bmk": {"version": "v2", "weight": 3.0, "run0": run(1.0)}},
            "wl-scores": {"one-bmk": {"sim": 4.0, "sim_ref": 2.0}, "two-bmk": {"sim": 1.0, "sim_ref": 2.0}},
            "environment": {"system": "Linux node7 5.10 #1 SMP x86_64"},
            "app_info": {"hepscore_ver": "2.0"}, "score": 70.7107, "status": "success"
        })
    }

    fn found(value: &Value) -> Found {
        let mut found = Found::default();
        read(value, 1, None, &mut found);
        found
    }

    #[test]
    fn the_score_and_every_run_are_results() {
        let found = found(&report());
        assert!(found.refused.is_empty(), "{:?}", found.refused);
        let [whole, runs @ ..] = found.results.as_slice() else { panic!("no results") };
        assert_eq!(whole.values.measured["hepscore"], 70.7107);
        assert_eq!(whole.machine.as_deref(), Some("node7"));
        assert!(whole.values.flags.is_empty(), "{:?}", whole.values.flags);
        let scores: Vec<f64> = runs.iter().map(|run| run.values.measured["workload"]).collect();
        assert_eq!(scores, [4.0, 3.0, 5.0, 1.0]);
        let first = &runs[0];
        assert_eq!((first.values.measured["copy_avg"], first.values.measured["duration"]), (2.0, 61.0));
        assert_eq!(first.settings["events per thread"], "9");
    }

    #[test]
    fn a_score_that_its_workloads_do_not_make_is_doubted() {
        let mut value = report();
        value["score"] = json!(80.0);
        let doubts = found(&value).results[0].values.flags["hepscore"].clone();
        assert_eq!(doubts, ["the workloads' scores make 70.7107 by the geometric mean, not 80"]);
        value["wl-scores"].as_object_mut().expect("object").remove("two-bmk");
        let doubts = found(&value).results[0].values.flags["hepscore"].clone();
        assert!(doubts.contains(&"workload two-bmk has no part in the score".to_string()), "{doubts:?}");
    }

    #[test]
    fn what_is_no_score_is_refused() {
        for (score, status, said) in [
            (json!(0.0), "success", "its score is 0 although it did not fail"),
            (json!(-1), "failed", "its status is 'failed'"),
            (json!(null), "success", "its score is null where a number is expected"),
        ] {
            let mut value = report();
            (value["score"], value["status"]) = (score, json!(status));
            let found = found(&value);
            assert_eq!(found.results.len(), 4, "the runs are still there");
            assert!(found.refused[0].reason.contains(said), "{:?}", found.refused);
        }
    }

    #[test]
    fn a_run_that_failed_is_refused_by_name() {
        let mut value = report();
        value["benchmarks"]["one-bmk"]["run1"]["report"]["log"] = json!("ERROR: no events");
        value["benchmarks"]["two-bmk"]["run0"]["report"]["wl-scores"]["sim"] = json!(0);
        let reasons: Vec<String> = found(&value).refused.into_iter().map(|refused| refused.reason).collect();
        assert_eq!(reasons.len(), 2);
        assert!(reasons[0].contains("one-bmk: its log is 'ERROR: no events'"), "{reasons:?}");
        assert!(reasons[1].contains("two-bmk: its score 'sim' is 0"), "{reasons:?}");
    }
}
