//! A metric that the scenario describes: where its value stands.
//!
//! Owns the search for it and what counts as a number. It must never take a part of a text for a number: `12,5` and
//! `12 MB` are none.

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::Options;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Deserializer, Value};

use crate::columns::{Column, Separator};

/// Characters of a found text that go into a message.
const SHOWN: usize = 60;

/// One entry of the option `metrics`.
#[derive(Debug, Deserialize)]
struct Written {
    name: String,
    json: Option<String>,
    csv: Option<String>,
    regex: Option<String>,
    #[serde(default = "one")]
    nth: i64,
    #[serde(default)]
    separator: Separator,
    #[serde(default)]
    from: Stream,
}

fn one() -> i64 {
    1
}

/// Where a program prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
}

/// A metric whose value is to be found.
#[derive(Debug)]
pub struct Wanted {
    pub name: String,
    pub from: Stream,
    source: Source,
    /// From 1, or from the end below 0.
    nth: i64,
}

#[derive(Debug)]
enum Source {
    Json(String),
    Csv(Column),
    Regex(Regex),
}

impl Wanted {
    /// The metrics of the option `metrics`, in order.
    ///
    /// # Errors
    /// [`Failure`] for an entry that no scenario can have.
    pub fn all(options: &Options) -> Result<Vec<Self>, Failure> {
        let Some(list) = options.get("metrics") else { return Ok(Vec::new()) };
        let written = Vec::<Written>::deserialize(list)
            .map_err(|e| Failure::new(format!("the option 'metrics' is not a list of metrics: {e}")))?;
        written.into_iter().map(Self::of).collect()
    }

    fn of(written: Written) -> Result<Self, Failure> {
        let Written { name, json, csv, regex, nth, separator, from } = written;
        let refused = |reason: String| Failure::new(format!("metric '{name}': {reason}"));
        if nth == 0 {
            return Err(refused("nth: 0 is none of them; 1 is the first, -1 the last".into()));
        }
        let source = match (json, csv, regex) {
            (Some(pointer), None, None) => Source::Json(pointer),
            (None, Some(column), None) => Source::Csv(Column::new(&column, separator).map_err(refused)?),
            (None, None, Some(pattern)) => {
                let regex = RegexBuilder::new(&pattern).multi_line(true).build();
                Source::Regex(regex.map_err(|e| refused(format!("not a regular expression: {e}")))?)
            }
            _ => return Err(refused("set exactly one of json, csv and regex".into())),
        };
        Ok(Self { name, from, source, nth })
    }

    /// The value in what the program printed.
    ///
    /// # Errors
    /// What was expected and what was found, in words.
    pub fn find(&self, text: &str) -> Result<f64, String> {
        let found = match &self.source {
            Source::Json(pointer) => pointed(text, pointer),
            Source::Csv(column) => column.cells(text),
            Source::Regex(regex) => regex.captures_iter(text).map(|groups| group(&groups)).collect(),
        };
        let what = self.source.describe();
        let at = match usize::try_from(self.nth) {
            Ok(nth) => nth.checked_sub(1),
            Err(_) => {
                usize::try_from(self.nth.unsigned_abs()).ok().and_then(|back| found.len().checked_sub(back))
            }
        };
        let Some(text) = at.and_then(|at| found.get(at)) else {
            return Err(match found.len() {
                0 => format!("expected {what}, found none"),
                count => format!("expected {what} number {}, found {count} of them", self.nth),
            });
        };
        number(text).ok_or_else(|| format!("expected a number as {what}, found '{}'", shown(text)))
    }
}

impl Source {
    fn describe(&self) -> String {
        match self {
            Self::Json(pointer) => format!("a JSON value at '{pointer}'"),
            Self::Csv(column) => column.describe(),
            Self::Regex(regex) => format!("a match of '{regex}'"),
        }
    }
}

/// The value at `pointer` of every document that has one. A document begins a line; text around it is passed over.
fn pointed(text: &str, pointer: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let mut used = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if rest.trim_start_matches([' ', '\t']).starts_with(['{', '[']) {
            let mut values = Deserializer::from_str(rest).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                used = values.byte_offset();
                found.extend(value.pointer(pointer).map(as_text));
            }
        }
        at += used;
    }
    found
}

/// A text without its quotes, anything else as JSON writes it.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

fn group(groups: &regex::Captures<'_>) -> String {
    let found =
        groups.name("value").or_else(|| groups.iter().skip(1).flatten().next()).or_else(|| groups.get(0));
    found.map(|text| text.as_str().to_string()).unwrap_or_default()
}

/// A whole decimal number, and nothing else.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

fn shown(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = text.trim().chars().take(SHOWN).map(clean).collect();
    if text.trim().chars().count() > SHOWN {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wanted(metric: Value) -> Result<Wanted, String> {
        let mut metric = metric;
        metric["name"] = json!("rate");
        let options = Options::from([("metrics".to_string(), json!([metric]))]);
        Wanted::all(&options).map(|mut all| all.remove(0)).map_err(|failure| failure.message)
    }

    fn find(metric: Value, text: &str) -> Result<f64, String> {
        wanted(metric)?.find(text)
    }

    #[test]
    fn a_pointer_looks_into_documents_among_other_text() {
        let text = "note {\n{\"a\": {\"b\": [1, 2.5]}}\n[broken\n  {\"a\": {\"b\": [0, \"4\"]}} trailing\n{\"c\": 1}\n";
        assert_eq!(find(json!({"json": "/a/b/1"}), text), Ok(2.5));
        assert_eq!(find(json!({"json": "/a/b/1", "nth": -1}), text), Ok(4.0));
        assert_eq!(
            find(json!({"json": "/a/b/1", "nth": 3}), text),
            Err("expected a JSON value at '/a/b/1' number 3, found 2 of them".into())
        );
        assert_eq!(
            find(json!({"json": "/x"}), text),
            Err("expected a JSON value at '/x', found none".into())
        );
        assert_eq!(
            find(json!({"json": "/a"}), text).unwrap_err(),
            "expected a number as a JSON value at '/a', found '{\"b\":[1,2.5]}'"
        );
        for none in [
            "{\"v\": null}",
            "{\"v\": true}",
            "{\"v\": \"12,5\"}",
            "{\"v\": \"nan\"}",
            "{\"v\": NaN}",
            "{\"v\": 1",
        ] {
            assert!(find(json!({"json": "/v"}), none).is_err(), "{none}");
        }
    }

    #[test]
    fn a_pattern_has_a_group_or_is_the_value() {
        let text = "rate: 10 MB/s\nrate: 1.5e3 MB/s\nrate: 7,5 MB/s\n";
        assert_eq!(find(json!({"regex": "^rate: (.*) MB/s$"}), text), Ok(10.0));
        assert_eq!(find(json!({"regex": "^(rate): (?<value>.*) MB", "nth": 2}), text), Ok(1500.0));
        assert_eq!(find(json!({"regex": "[0-9]+"}), text), Ok(10.0));
        let comma = find(json!({"regex": "^rate: (.*) MB/s$", "nth": -1}), text);
        assert_eq!(comma.unwrap_err(), "expected a number as a match of '^rate: (.*) MB/s$', found '7,5'");
        assert!(find(json!({"regex": "speed"}), text).unwrap_err().ends_with("found none"));
    }

    #[test]
    fn what_no_scenario_can_have_is_refused() {
        assert!(wanted(json!({})).is_err());
        assert!(wanted(json!({"json": "/a", "csv": "b"})).is_err());
        assert!(wanted(json!({"json": "/a", "nth": 0})).is_err());
        assert!(wanted(json!({"regex": "("})).is_err());
        assert!(wanted(json!({"csv": "0"})).is_err());
    }
}
