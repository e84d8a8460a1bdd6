//! Reports of HEP benchmarks that other programs wrote: HEPscore, the HEP Benchmark Suite, HEP workloads, DB12.
//!
//! Owns which form a text has, and what of it belongs to which benchmark. It must never take a part of a report that
//! contradicts itself without saying so.

mod db12_text;
mod document;
mod hepscore;
mod suite;
mod workload;

use std::collections::BTreeMap;

use crossvisor_plugin::{ImportOutput, Imported, Refused};
use serde_json::Value;

pub use suite::SPEC;
pub use workload::STATISTICS;

use document::Document;

/// The setting that tells the result of one workload from that of the whole benchmark.
pub const WORKLOAD: &str = "workload";

/// The results of a text and what is refused, with the metrics that `wanted` names.
pub fn read(file: &str, text: &str, wanted: impl Fn(&str) -> bool) -> ImportOutput {
    let mut found = Found::default();
    let documents = document::all(text);
    if documents.is_empty() {
        db12_text::read(text, &mut found);
    }
    for document in documents {
        match document {
            Ok(document) => classify(file, &document, &mut found),
            Err(refused) => found.refused.push(refused),
        }
    }
    let others = found.keep(wanted);
    if found.results.is_empty() && found.refused.is_empty() {
        found.refuse(1, nothing(&others));
    }
    ImportOutput { used: text.len(), results: found.results, refused: found.refused }
}

fn nothing(others: &[String]) -> String {
    let expected = "expected a report of HEPscore, the HEP Benchmark Suite, a HEP workload or DB12";
    if others.is_empty() {
        return format!("{expected}, and found none of their numbers");
    }
    format!("it has {}, and nothing of the benchmark asked for; import it as 'hep'", others.join(", "))
}

fn classify(file: &str, document: &Document, found: &mut Found) {
    let (value, line) = (&document.value, document.line);
    let known = |name: &&String| suite::is_profile(name);
    let has = |name: &str| value.get(name).is_some();
    if has("profiles") {
        suite::report(value, line, found);
    } else if has("wl-scores") || has("benchmarks") && has("settings") {
        hepscore::read(value, line, None, found);
    } else if has("report") && (has("run_info") || has("app")) {
        workload::summary(file, value, line, found);
    } else if has("raw") && has("copies") {
        db12_text::object(value, line, found);
    } else if value.as_object().is_some_and(|object| object.keys().any(|name| known(&name))) {
        suite::profiles(value, &suite::Host::default(), line, found);
    } else {
        found.refuse(
            line,
            "a JSON object of another kind: expected 'profiles', 'wl-scores', 'report' or 'raw' in it".into(),
        );
    }
}

/// What was found so far.
#[derive(Default)]
pub struct Found {
    results: Vec<Imported>,
    refused: Vec<Refused>,
}

impl Found {
    fn refuse(&mut self, line: usize, reason: String) {
        self.refused.push(Refused { line, reason });
    }

    fn take(&mut self, result: Imported) {
        self.results.push(result);
    }

    /// Leaves only the metrics that are wanted, and no result without one; says what else there was.
    fn keep(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut others = Vec::new();
        for result in &mut self.results {
            if !result.values.measured.keys().any(|metric| wanted(metric) && !suite::is_fact(metric)) {
                others.extend(result.settings.get("benchmark").cloned());
                result.values.measured.clear();
            }
            result.values.measured.retain(|metric, _| wanted(metric));
            result.values.flags.retain(|metric, _| wanted(metric));
        }
        self.results.retain(|result| !result.values.measured.is_empty());
        others.sort();
        others.dedup();
        others
    }
}

/// A finite number; reports write some of them as text.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    number.is_finite().then_some(number)
}

/// What stands at a place of a document, as text; `None` for nothing and for what has parts.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The settings, or versions, that are there.
fn texts<const N: usize>(pairs: [(&str, Option<String>); N]) -> BTreeMap<String, String> {
    pairs.into_iter().filter_map(|(name, text)| Some((name.to_string(), text?))).collect()
}

/// Whether two figures that should be the same differ by more than this share of the first.
fn differ(printed: f64, computed: f64, share: f64) -> bool {
    (printed - computed).abs() > share * printed.abs()
}
