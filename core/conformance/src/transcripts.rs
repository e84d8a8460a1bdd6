//! The author's own transcripts, replayed.

use std::path::Path;

use crossvisor_plugin::testkit;
use serde_json::Value;

use crate::{Finding, Problem, Subject};

/// Replays the transcripts in the folder `golden` below `tests`, with recorded outputs from its folder `recorded`.
#[must_use]
pub fn transcripts(subject: &dyn Subject, tests: &Path) -> Finding {
    // What is no reply at all becomes a text, which is none either: the comparison says so.
    let answer = |request: &Value| match subject.ask(request.to_string().as_bytes()) {
        Ok(reply) => serde_json::from_slice(&reply).unwrap_or_else(|error| error.to_string().into()),
        Err(error) => error.to_string().into(),
    };
    let faults = testkit::faults(tests, subject.manifest(), false, answer);
    Finding { check: "transcripts".into(), problems: faults.into_iter().map(Problem::error).collect() }
}
