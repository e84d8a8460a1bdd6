//! Any text with results of iperf: documents, tables and comma-separated lines of both tools, in any order.
//!
//! Owns the division of a text into its forms. It must never read any of them itself.

use crate::report::{Found, NoResult, Report};
use crate::{csv, json, text};

/// All that a text holds.
#[must_use]
pub fn read(whole: &str) -> Found {
    let mut found = Found::default();
    let mut documents: Vec<Result<Report, NoResult>> = Vec::new();
    let (mut at, mut line) = (0, 1);
    for place in json::places(whole) {
        let between = &whole[at..place.start];
        let said = outside(between, line, &mut found);
        line += newlines(between);
        let mut document = json::read(&whole[place.clone()], line);
        // A complaint belongs to the document before it; before the first there is none.
        blame(documents.last_mut().unwrap_or(&mut document), said);
        documents.push(document);
        line += newlines(&whole[place.clone()]);
        at = place.end;
    }
    let said = outside(&whole[at..], line, &mut found);
    match documents.last_mut() {
        Some(document) => blame(document, said),
        None => found.refused.extend(said),
    }
    for document in documents {
        match document {
            Ok(report) => found.reports.push(report),
            Err(refused) => found.refused.push(refused),
        }
    }
    found
}

/// A document is no result where iperf3 complained beside it.
fn blame(document: &mut Result<Report, NoResult>, said: Option<NoResult>) {
    if let (Ok(report), Some(words)) = (&document, said.and_then(|refused| refused.said)) {
        *document =
            Err(NoResult { line: report.line, reason: format!("iperf3 failed: {words}"), said: None });
    }
}

/// Reads tables and comma-separated lines. Returns a complaint where there is nothing else.
fn outside(text: &str, first: usize, found: &mut Found) -> Option<NoResult> {
    let mut rows = Vec::new();
    let mut others = Vec::new();
    for (line, words) in (first..).zip(text.lines()) {
        match csv::Row::parse(words) {
            Some(row) => rows.push((line, row)),
            None => others.push((line, words)),
        }
    }
    let mut lines = csv::tests(rows);
    let mut tables = text::read(others.into_iter());
    if tables.reports.is_empty() {
        let (said, refused): (Vec<_>, Vec<_>) =
            tables.refused.into_iter().partition(|part| part.said.is_some());
        tables.refused = refused;
        if let Some(report) = lines.reports.last_mut() {
            report.complaints.extend(said.into_iter().filter_map(|refused| refused.said));
        } else if tables.refused.is_empty() && lines.refused.is_empty() {
            return said.into_iter().next();
        } else {
            tables.refused.extend(said);
        }
    }
    for part in [lines, tables] {
        found.reports.extend(part.reports);
        found.refused.extend(part.refused);
    }
    None
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}
