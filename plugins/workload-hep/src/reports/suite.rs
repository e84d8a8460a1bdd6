//! The report of the HEP Benchmark Suite: a machine and any of the profiles DB12, HEPscore, HEP-SPEC06, SPEC CPU 2017.
//!
//! Owns the profiles' forms and what is told of the machine. It must never reckon a score per core by itself: cores,
//! copies and logical processors are not the same number.

use std::collections::BTreeMap;

use crossvisor_plugin::Imported;
use crossvisor_plugin::model::Values;
use serde_json::Value;

use super::{Found, differ, hepscore, number, texts, word};
use crate::spread::geometric_mean;

/// Profiles of SPEC benchmarks: key, metric, heading and unit.
pub const SPEC: [(&str, &str, &str, &str); 4] = [
    ("hs06_32", "hs06_32", "HEP-SPEC06, 32 bit", "HS06"),
    ("hs06_64", "hs06_64", "HEP-SPEC06, 64 bit", "HS06"),
    ("hs06", "hs06", "HEP-SPEC06", "HS06"),
    ("spec2017", "spec2017", "SPEC CPU 2017", "SPEC2017"),
];

/// Ratios of single copies are printed with three digits, scores per core are cut.
const TOLERANCE: f64 = 0.01;

/// The machine, as far as a report tells.
#[derive(Default)]
pub struct Host {
    name: Option<String>,
    facts: BTreeMap<String, f64>,
    warnings: Vec<String>,
    versions: BTreeMap<String, String>,
}

/// Metrics that describe the machine and are no result.
pub fn is_fact(metric: &str) -> bool {
    ["cpus", "threads_per_core", "memory"].contains(&metric)
}

pub fn is_profile(name: &str) -> bool {
    is_db12(name) || is_hepscore(name) || SPEC.iter().any(|(key, ..)| *key == name)
}

fn is_db12(name: &str) -> bool {
    name.eq_ignore_ascii_case("db12")
}

fn is_hepscore(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("hepscore")
}

/// A whole report.
pub fn report(value: &Value, line: usize, found: &mut Found) {
    let Some(object) = value["profiles"].as_object().filter(|profiles| !profiles.is_empty()) else {
        return found
            .refuse(line, "HEP Benchmark Suite: it has no profile: no benchmark gave a result".into());
    };
    let host = host(value);
    for name in object.keys().filter(|name| !is_profile(name)) {
        found.refuse(line, format!("HEP Benchmark Suite: the profile '{name}' is not known"));
    }
    profiles(&value["profiles"], &host, line, found);
}

/// The profiles that are known among the members of an object.
pub fn profiles(object: &Value, host: &Host, line: usize, found: &mut Found) {
    let before = found.results.len();
    for (name, profile) in object.as_object().into_iter().flatten() {
        if is_db12(name) {
            db12(profile, line, found);
        } else if is_hepscore(name) {
            hepscore::read(profile, line, host.name.as_deref(), found);
        } else if let Some(known) = SPEC.iter().find(|(key, ..)| key == name) {
            spec(*known, profile, line, found);
        }
    }
    for result in &mut found.results[before..] {
        host.complete(result);
    }
}

fn host(value: &Value) -> Host {
    let (host, cpu) = (&value["host"], &value["host"]["HW"]["CPU"]);
    let threads = number(&cpu["Threads_per_core"]);
    let mut warnings = Vec::new();
    if cpu["SMT_Enabled?"] == true && threads == Some(1.0) {
        warnings
            .push("simultaneous multithreading is said to be on, with one thread for each core".to_string());
    }
    if word(&value["_timestamp"]).is_some() && value["_timestamp"] == value["_timestamp_end"] {
        warnings.push(
            "it began and ended in the same second: its times are not those of the benchmarks".to_string(),
        );
    }
    let facts = [
        ("cpus", number(&cpu["CPU"]).or_else(|| number(&cpu["CPU_num"]))),
        ("threads_per_core", threads),
        ("memory", number(&host["HW"]["MEMORY"]["Mem_Total"])),
    ];
    let version = word(&value["suite"]["version"]).or_else(|| word(&value["json_version"]));
    Host {
        name: word(&host["hostname"]),
        facts: facts.into_iter().filter_map(|(name, fact)| Some((name.to_string(), fact?))).collect(),
        warnings,
        versions: texts([("hep-benchmark-suite", version), ("python", word(&host["SW"]["python_version"]))]),
    }
}

impl Host {
    /// Adds the machine to one of its results; facts only to those of whole benchmarks.
    fn complete(&self, result: &mut Imported) {
        result.machine = result.machine.take().or_else(|| self.name.clone());
        result.versions.extend(self.versions.clone());
        if result.settings.contains_key(super::WORKLOAD) {
            return;
        }
        let measured = &result.values.measured;
        let (score, per_core, cpus) =
            (measured.get("hepscore"), measured.get("hepscore_core"), self.facts.get("cpus"));
        if let (Some(score), Some(per_core), Some(cpus)) = (score, per_core, cpus) {
            if differ(*cpus, score / per_core, TOLERANCE) {
                let flag =
                    format!("it is for {:.0} cores, and the machine has {cpus} processors", score / per_core);
                result.values.flags.entry("hepscore_core".into()).or_default().push(flag);
            }
        }
        result.values.measured.extend(self.facts.clone());
        result.warnings.extend(self.warnings.iter().cloned());
    }
}

/// The value alone: 360 for 12,500,000 normal variates in one second of processor time (the suite's `db12.py`).
fn db12(profile: &Value, line: usize, found: &mut Found) {
    let Some(score) = number(&profile["value"]).or_else(|| number(profile)).filter(|score| *score > 0.0)
    else {
        return found.refuse(
            line,
            format!("DB12: its value is {} where a number above 0 is expected", profile["value"]),
        );
    };
    found.take(Imported {
        line,
        settings: texts([
            ("benchmark", Some("DB12".into())),
            ("calibration", Some("360 HS06 s".into())),
            ("unit", word(&profile["unit"])),
        ]),
        values: Values { measured: BTreeMap::from([("db12_suite".into(), score)]), ..Values::default() },
        warnings: vec![
            "the suite's early versions print the mean of DB12's copies and later ones the sum, in the same form".into(),
        ],
        ..Imported::default()
    });
}

fn spec((key, metric, label, _): (&str, &str, &str, &str), profile: &Value, line: usize, found: &mut Found) {
    let Some(score) = number(&profile["score"]).filter(|score| *score > 0.0) else {
        return found.refuse(
            line,
            format!("{key}: its score is {} where a number above 0 is expected", profile["score"]),
        );
    };
    let per_copy = number(&profile["avg_core_score"]).filter(|score| *score > 0.0);
    let mut measured = BTreeMap::from([(metric.to_string(), score)]);
    measured.extend(per_copy.map(|score| (format!("{metric}_core"), score)));
    let mut doubts = Vec::new();
    let copies = number(&profile["copies"]);
    if let (Some(copies), Some(per_copy)) = (copies, per_copy) {
        if differ(score, copies * per_copy, TOLERANCE) {
            doubts.push(format!("{copies} copies with {per_copy} each do not make {score}"));
        }
    }
    match of_copies(&profile["bmks"], copies) {
        Some(Ok(sum)) if differ(score, sum, TOLERANCE) => {
            doubts.push(format!("the benchmarks' ratios make {sum:.2} in all, not {score}"));
        }
        Some(Err(doubt)) => doubts.push(doubt),
        Some(Ok(_)) | None => {}
    }
    let flags = (!doubts.is_empty()).then(|| (metric.to_string(), doubts));
    found.take(Imported {
        line,
        settings: texts([
            ("benchmark", Some(label.into())),
            ("copies", word(&profile["copies"])),
            ("benchmarks", word(&profile["bset"])),
            (
                "compiler",
                word(&profile["compiler"]).or_else(|| word(&profile["LINK"])).map(|text| text.trim().into()),
            ),
        ]),
        values: Values { measured, flags: flags.into_iter().collect(), ..Values::default() },
        ..Imported::default()
    });
}

/// The score that the ratios make: the sum over the copies of the geometric mean over the benchmarks (HEP-SPEC06's
/// definition, HEPiX Benchmarking Working Group). `None` where there are none.
fn of_copies(benchmarks: &Value, copies: Option<f64>) -> Option<Result<f64, String>> {
    let mut ratios: Vec<Vec<f64>> = Vec::new();
    for (name, list) in benchmarks.as_object().filter(|benchmarks| !benchmarks.is_empty())? {
        let list: Vec<f64> = list.as_array()?.iter().filter_map(number).collect();
        if let Some(copies) = copies.filter(|copies| *copies != list.len() as f64) {
            return Some(Err(format!("{name} has {} ratios for {copies} copies", list.len())));
        }
        ratios.push(list);
    }
    let copies = ratios.iter().map(Vec::len).min()?;
    let one = |copy: usize| geometric_mean(&ratios.iter().map(|list| list[copy]).collect::<Vec<_>>());
    let sum: Option<f64> = (0..copies).map(one).sum();
    Some(sum.ok_or_else(|| "a copy has no ratio above 0".into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report_with(profiles: Value) -> Found {
        let value = json!({
            "host": {"hostname": "node7", "HW": {"CPU": {"CPU": "4", "Threads_per_core": "1", "SMT_Enabled?": true},
                "MEMORY": {"Mem_Total": "8000000"}}, "SW": {"python_version": "3.7.3"}},
            "_timestamp": "2021-01-01T00:00:00Z", "_timestamp_end": "2021-01-01T00:00:00Z",
            "json_version": "2.0", "profiles": profiles
        });
        let mut found = Found::default();
        report(&value, 1, &mut found);
        found
    }

    #[test]
    fn the_machine_comes_with_every_profile() {
        let found = report_with(json!({"DB12": {"value": 31.5, "unit": "est. HS06"}}));
        let [result] = found.results.as_slice() else { panic!("no result") };
        let measured = &result.values.measured;
        assert_eq!((measured["db12_suite"], measured["cpus"], measured["memory"]), (31.5, 4.0, 8e6));
        assert_eq!(result.machine.as_deref(), Some("node7"));
        assert_eq!(result.versions["hep-benchmark-suite"], "2.0");
        assert_eq!(result.warnings.len(), 3);
    }

    #[test]
    fn spec_scores_are_held_against_their_copies() {
        let spec = |score: f64, ratios: Value| {
            let profile = json!({"copies": 2, "score": score, "avg_core_score": score / 2.0, "bset": "x", "bmks": ratios});
            let found = report_with(json!({"hs06_64": profile}));
            found.results[0].values.flags.get("hs06_64").cloned().unwrap_or_default()
        };
        let good = json!({"a": [2.0, 8.0], "b": [8.0, 8.0]});
        assert!(spec(12.0, good.clone()).is_empty());
        assert_eq!(spec(13.0, good), ["the benchmarks' ratios make 12.00 in all, not 13"]);
        assert_eq!(spec(12.0, json!({"a": [2.0]})), ["a has 1 ratios for 2 copies"]);
        assert_eq!(spec(12.0, json!({"a": [2.0, 0.0]})), ["a copy has no ratio above 0"]);
    }

    #[test]
    fn a_profile_without_a_score_is_refused() {
        for (profiles, said) in [
            (json!({"DB12": {"value": 0}}), "DB12: its value is 0"),
            (json!({"hs06_32": {"copies": 2}}), "hs06_32: its score is null"),
            (json!({"hepscore": {}}), "HEPscore: its score is null"),
            (json!({"stream": {"score": 3}}), "the profile 'stream' is not known"),
            (json!({}), "it has no profile"),
        ] {
            let found = report_with(profiles);
            assert!(found.results.is_empty());
            assert!(found.refused[0].reason.contains(said), "{:?}", found.refused);
        }
    }

    #[test]
    fn a_score_per_core_of_another_machine_is_doubted() {
        let profile = |per_core: f64| json!({"hepscore": {"score": 80.0, "score_per_core": per_core, "status": "success"}});
        let flags =
            |per_core| report_with(profile(per_core)).results[0].values.flags.contains_key("hepscore_core");
        assert!(!flags(20.0));
        assert!(flags(10.0));
    }
}
