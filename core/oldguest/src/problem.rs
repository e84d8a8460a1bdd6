//! What is wrong in a description of a guest, or should be known of it, and where.
//!
//! Owns how places and quoted pieces look. It must never show more of a text than a few words.

use std::fmt;

use crossvisor_model::text::is_harmful;
use serde::Serialize;

use crate::OldGuest;

/// No more problems of one description are kept.
const MOST: usize = 200;
/// Characters that are quoted of a text.
const QUOTED: usize = 60;

/// What became of one description.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// `None`: there is no guest in the text.
    pub guest: Option<OldGuest>,
    /// In the order of their lines.
    pub problems: Vec<Problem>,
}

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is wrong for the tool it was written for, or could not be read.
    Error,
    /// It works, and means something else than it seems to, or makes results hard to compare.
    Warning,
}

/// One thing that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    /// From 1.
    pub line: usize,
    /// From 1, in characters; 0: the whole line.
    pub column: usize,
    /// What is wrong, with what, and how it was taken.
    pub message: String,
}

impl fmt::Display for Problem {
    /// `3:7: error: …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        match self.column {
            0 => write!(f, "{}: {severity}: {}", self.line, self.message),
            column => write!(f, "{}:{column}: {severity}: {}", self.line, self.message),
        }
    }
}

/// A place in the text: a line and a column, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub line: usize,
    pub column: usize,
}

/// Problems as they are found.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    pub fn error(&mut self, at: Place, message: impl Into<String>) {
        self.add(Severity::Error, at, message.into());
    }

    pub fn warning(&mut self, at: Place, message: impl Into<String>) {
        self.add(Severity::Warning, at, message.into());
    }

    pub fn has_error(&self, line: usize) -> bool {
        self.0.iter().any(|problem| problem.severity == Severity::Error && problem.line == line)
    }

    fn add(&mut self, severity: Severity, at: Place, message: String) {
        if self.0.len() < MOST {
            self.0.push(Problem { severity, line: at.line, column: at.column, message });
        }
    }

    pub fn sorted(mut self) -> Vec<Problem> {
        self.0.sort_by_key(|problem| (problem.line, problem.column));
        if self.0.len() == MOST {
            let (line, column) = self.0.last().map_or((1, 0), |last| (last.line, last.column));
            let message = format!("there is more, but {MOST} problems are enough: mend these first");
            self.0.push(Problem { severity: Severity::Error, line, column, message });
        }
        self.0
    }
}

/// `'text'`, cut where it is long and without characters that steer a terminal.
pub(crate) fn quoted(text: &str) -> String {
    let more = if text.chars().nth(QUOTED).is_some() { "…" } else { "" };
    let shown: String =
        text.chars().take(QUOTED).map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect();
    format!("'{shown}{more}'")
}

/// `U+201C`
pub(crate) fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}
