//! Old results: logs, mail and pages with output of either iperf.
//!
//! Owns what a person is told of them. It must never read a text itself.

use std::collections::BTreeMap;

use crossvisor_plugin::{Failure, ImportInput, ImportOutput, Imported, Refused};

use crate::read::read;
use crate::report::Report;
use crate::values::{settings, values};

/// Reads a file as a whole: a test may begin on its first line and end on its last.
///
/// # Errors
/// [`Failure`] when nothing in the file is of iperf.
pub fn import(input: &ImportInput) -> Result<ImportOutput, Failure> {
    if !input.last {
        return Ok(ImportOutput::default());
    }
    let found = read(&input.text);
    if found.reports.is_empty() && found.refused.is_empty() {
        return Err(Failure::new(format!(
            "{} holds nothing of iperf: expected a table of iperf 2 or iperf3 ('[ ID] Interval Transfer …'), lines of \
             'iperf -y C', or a document of 'iperf3 -J'; {}",
            input.file,
            begins(&input.text)
        )));
    }
    let refused = found.refused.into_iter();
    Ok(ImportOutput {
        used: input.text.len(),
        results: found.reports.iter().map(imported).collect(),
        refused: refused.map(|part| Refused { line: part.line, reason: part.reason }).collect(),
    })
}

fn imported(report: &Report) -> Imported {
    let program = report.tool.program().to_string();
    let version = report.version.iter().map(|version| (program.clone(), version.clone()));
    Imported {
        line: report.line,
        machine: report.machine.clone(),
        settings: settings(report),
        values: values(report),
        warnings: report.flows.iter().flat_map(|flow| flow.notes.clone()).collect(),
        versions: version.collect::<BTreeMap<_, _>>(),
    }
}

/// The first words of a file, for people.
fn begins(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let words: Option<String> = line.map(|line| line.chars().filter(|c| !c.is_control()).take(60).collect());
    words.map_or("it is empty".into(), |words| format!("it begins: {words}"))
}
