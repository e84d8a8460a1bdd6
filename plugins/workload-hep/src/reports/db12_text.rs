//! What the program `db12` prints, as text and as JSON.
//!
//! Owns its two forms: one score, or a line `copies sum mean geometric-mean median` with a line of all scores after it.
//! It must never take a number out of a sentence.

use std::collections::BTreeMap;

use crossvisor_plugin::Imported;
use crossvisor_plugin::model::Values;
use serde_json::Value;

use super::{Found, differ, number, texts};
use crate::db12::of_copies;

/// What `db12` computes has all its digits.
const TOLERANCE: f64 = 1e-6;

/// The scores of all copies and what was printed of them.
struct Printed {
    line: usize,
    copies: f64,
    /// In the order in which `db12` prints them.
    values: [(&'static str, Option<f64>); 4],
    raw: Vec<f64>,
}

/// Reads lines that are numbers and nothing else, and what is said of Python's version before them.
pub fn read(text: &str, found: &mut Found) {
    let lines: Vec<(usize, Vec<f64>)> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, numbers(line)?))).collect();
    let said = Said::of(text);
    let mut rest = lines.as_slice();
    while let [(line, first), after @ ..] = rest {
        rest = after;
        match (first.as_slice(), after) {
            ([score], _) => single(*line, *score, &said, found),
            (&[copies, sum, mean, geometric, median], [(next, raw), after @ ..])
                if *next == line + 1 && raw.len() as f64 == copies =>
            {
                rest = after;
                let names = ["db12", "db12_core", "db12_geometric", "db12_median"];
                let values = [sum, mean, geometric, median].map(Some);
                let values = std::array::from_fn(|at| (names[at], values[at]));
                multiple(&Printed { line: *line, copies, values, raw: raw.clone() }, &said, found);
            }
            (&[copies, ..], _) => found.refuse(
                *line,
                format!("DB12: expected a score, or five numbers and then a line with the {copies} scores of the copies"),
            ),
            ([], _) => {}
        }
    }
}

/// The object that `db12 multiple --json` writes.
pub fn object(value: &Value, line: usize, found: &mut Found) {
    let raw: Option<Vec<f64>> = value["raw"].as_array().map(|raw| raw.iter().map_while(number).collect());
    let (Some(raw), Some(copies)) = (raw, number(&value["copies"])) else {
        return found.refuse(line, "DB12: expected a list 'raw' and a number 'copies'".into());
    };
    let values = [
        ("db12", number(&value["sum"])),
        ("db12_core", number(&value["arithmetic_mean"])),
        ("db12_geometric", number(&value["geometric_mean"])),
        ("db12_median", number(&value["median"])),
    ];
    multiple(&Printed { line, copies, values, raw }, &Said::default(), found);
}

/// The numbers of a line that has nothing else. A lone number needs a decimal point, which Python always prints: page
/// numbers and years have none.
fn numbers(line: &str) -> Option<Vec<f64>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = |word: &&str| {
        word.parse::<f64>()
            .ok()
            .filter(|number| number.is_finite() && word.starts_with(|c: char| c.is_ascii_digit()))
    };
    let numbers: Vec<f64> = words.iter().map(plain).collect::<Option<_>>()?;
    let lone_integer = words.len() == 1 && !words[0].contains(['.', 'e']);
    (!numbers.is_empty() && !lone_integer).then_some(numbers)
}

/// What `db12` says on standard error about Python.
#[derive(Default)]
struct Said {
    python: Option<String>,
    correction: Option<&'static str>,
}

impl Said {
    fn of(text: &str) -> Self {
        let after = text.split_once("the python version ").map(|(_, rest)| rest);
        let python = after.and_then(|rest| rest.split_whitespace().next()).map(String::from);
        let correction = if text.contains("Cannot correct the score") {
            Some("none")
        } else if text.contains("Trying to apply a correction") {
            Some("for Python 3")
        } else {
            None
        };
        Self { python, correction }
    }

    fn result(&self, line: usize, copies: f64, measured: BTreeMap<String, f64>) -> Imported {
        Imported {
            line,
            settings: texts([
                ("benchmark", Some("DB12".into())),
                ("calibration", Some("250 HS06 s".into())),
                ("copies", Some(copies.to_string())),
                ("correction", self.correction.map(String::from)),
            ]),
            values: Values { measured, ..Values::default() },
            versions: texts([("python", self.python.clone())]),
            ..Imported::default()
        }
    }
}

fn single(line: usize, score: f64, said: &Said, found: &mut Found) {
    if score <= 0.0 {
        return found.refuse(line, format!("DB12: its score is {score} where a number above 0 is expected"));
    }
    let measured = ["db12", "db12_core"].map(|name| (name.to_string(), score)).into();
    found.take(said.result(line, 1.0, measured));
}

/// One result for all copies and one for each.
fn multiple(printed: &Printed, said: &Said, found: &mut Found) {
    let Printed { line, copies, values, raw } = printed;
    if raw.len() as f64 != *copies {
        return found.refuse(*line, format!("DB12: it has {} scores for {copies} copies", raw.len()));
    }
    let Some(computed) = of_copies(raw) else {
        return found.refuse(*line, "DB12: a copy has no score above 0: it was ended before its time".into());
    };
    for (name, value) in values {
        let own = computed.iter().find(|(metric, _)| metric == name).map(|(_, value)| *value);
        if let (Some(value), Some(own)) = (value, own) {
            if differ(*value, own, TOLERANCE) {
                return found.refuse(
                    *line,
                    format!("DB12: its {name} is {value}, and its copies' scores make {own}"),
                );
            }
        }
    }
    let mut measured: BTreeMap<String, f64> = computed.map(|(name, value)| (name.to_string(), value)).into();
    // What was printed, to its last digit.
    measured.extend(values.iter().filter_map(|(name, value)| Some((name.to_string(), (*value)?))));
    found.take(said.result(*line, *copies, measured));
    for score in raw {
        let mut one = said.result(*line, *copies, BTreeMap::from([("db12_copy".to_string(), *score)]));
        one.settings.insert("part".into(), "one copy".into());
        found.take(one);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Found {
        let mut found = Found::default();
        read(text, &mut found);
        found
    }

    #[test]
    fn one_score_is_found_among_warnings() {
        let text = "WARNING:root:Trying to apply a correction...\nWARNING:root:Cannot correct the score, return the raw norm: the python version 3.12 has not been analyzed.\n7\nLast login 2021\n31.25\n";
        let found = found(text);
        let [result] = found.results.as_slice() else { panic!("{:?}", found.results) };
        assert_eq!((result.values.measured["db12"], result.line), (31.25, 5));
        assert_eq!(
            (result.settings["copies"].as_str(), result.settings["correction"].as_str()),
            ("1", "none")
        );
        assert_eq!(result.versions["python"], "3.12");
    }

    #[test]
    fn several_copies_are_held_against_their_sum() {
        let good = "2 10.0 5.0 4.0 2.0\n2.0 8.0\n";
        let results = found(good).results;
        assert_eq!(results.len(), 3);
        assert_eq!(results[0].values.measured["db12_geometric"], 4.0);
        assert_eq!(results[2].values.measured["db12_copy"], 8.0);
        for (bad, said) in [
            ("2 11.0 5.0 4.0 2.0\n2.0 8.0\n", "its db12 is 11, and its copies' scores make 10"),
            ("2 8.0 4.0 0.0 0.0\n0.0 8.0\n", "a copy has no score above 0"),
            ("3 10.0 5.0 4.0 2.0\n2.0 8.0\n", "the 3 scores of the copies"),
            ("2 10.0 5.0 4.0 2.0\n", "the 2 scores of the copies"),
            ("0.0\n", "its score is 0"),
        ] {
            let found = found(bad);
            assert!(found.results.is_empty(), "{bad}");
            assert!(found.refused[0].reason.contains(said), "{:?}", found.refused);
        }
    }

    #[test]
    fn an_object_has_the_same() {
        let mut value = json!({"raw": [2.0, 8.0], "copies": 2, "sum": 10.0, "arithmetic_mean": 5.0,
            "geometric_mean": 4.0, "median": 2.0});
        let read = |value: &Value| {
            let mut found = Found::default();
            object(value, 1, &mut found);
            found
        };
        assert_eq!(read(&value).results.len(), 3);
        value["raw"] = json!([2.0, null]);
        assert!(read(&value).refused[0].reason.contains("1 scores for 2 copies"));
        value["raw"] = json!("2.0");
        assert!(read(&value).results.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[0-9 .\ne,-]{0,80}") {
            let found = found(&text);
            let all = found.results.iter().flat_map(|result| result.values.measured.values());
            prop_assert!(all.into_iter().all(|value| value.is_finite() && *value > 0.0));
        }
    }
}
