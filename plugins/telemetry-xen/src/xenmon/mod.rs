//! Recordings that people kept: xentop, xl list, xl vcpu-list (and xm's), virt-top's CSV.
//!
//! Owns what they have in common. Each of them is looked for in the whole text, since several may stand in one file.

mod list;
#[cfg(test)]
mod tests;
pub mod top;
mod virt_top;

use crossvisor_plugin::model::Values;
use crossvisor_plugin::{ImportOutput, Imported, Refused};

use crate::words;

/// All results of a file, in the order of their lines.
pub fn import(text: &str) -> ImportOutput {
    let mut output = ImportOutput { used: text.len(), ..ImportOutput::default() };
    top::import(text, &mut output);
    list::import(text, &mut output);
    virt_top::import(text, &mut output);
    output.results.sort_by_key(|result| result.line);
    output.refused.sort_by_key(|refused| refused.line);
    if output.results.is_empty() && output.refused.is_empty() {
        let reason = "expected rows under the headings of xentop (NAME STATE CPU(sec) …), xl list or xl vcpu-list \
                      (Name ID …) or virt-top's CSV (Hostname,Time,…); found none";
        output.refused.push(Refused { line: 1, reason: reason.into() });
    }
    output
}

/// A result with what it is of.
fn imported(line: usize, settings: &[(&str, String)], values: Values) -> Imported {
    let settings = settings.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect();
    Imported { line, settings, values, ..Imported::default() }
}

/// Adds what stands for a metric; a word that is no number is a value that is missing.
fn put(values: &mut Values, metric: &str, factor: f64, word: &str) {
    let reason = || match word {
        "" => "its place is empty".into(),
        _ => format!("'{word}' stands in its place"),
    };
    values.put(metric, words::number(word).map(|number| number * factor).ok_or_else(reason));
}

/// Takes a value back, because it stands for none.
fn take_back(values: &mut Values, metric: &str, why: &str) {
    values.measured.remove(metric);
    values.missing.insert(metric.into(), why.into());
}
