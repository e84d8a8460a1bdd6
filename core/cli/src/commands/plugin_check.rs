//! `crossvisor plugin check`: the findings of the conformance suite, one line a check.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crossvisor_conformance::{check, passed, transcripts, Finding, Severity};
use crossvisor_loader::{load_one, name_of, Plugin, SearchPath, TrustError};
use crossvisor_model::Seconds;

use crate::exit::{Exit, Failure};
use crate::output::{self, printable};

/// # Errors
/// [`Failure`] when the file is not called as a plugin is, or standard output does not take the findings.
pub fn execute(file: &Path, deadline: Seconds, tests: Option<&Path>, as_json: bool) -> Result<Exit, Failure> {
    let findings = match load(file, deadline)? {
        Ok(plugin) => {
            let replayed = tests.map(|tests| transcripts(&plugin, tests));
            replayed.into_iter().chain(check(&plugin)).collect()
        }
        Err(reason) => vec![Finding::failed("it loads", reason)],
    };
    output::show(|out| {
        if as_json {
            serde_json::to_writer_pretty(&mut *out, &findings)?;
            return writeln!(out);
        }
        findings.iter().try_for_each(|finding| text(finding, out))
    })?;
    Ok(if passed(&findings) { Exit::Good } else { Exit::Cells })
}

/// Loads the plugin as one that is not bundled, wherever it lies: it must not be able to harm this process.
fn load(file: &Path, deadline: Seconds) -> Result<Result<Plugin, String>, Failure> {
    let name = name_of(file).ok_or_else(|| TrustError::Name(file.into()))?;
    let mut search = SearchPath { bundled: None, ..SearchPath::from_environment(Vec::new()) };
    search.limits.call = Duration::try_from_secs_f64(deadline.0).unwrap_or(Duration::MAX);
    Ok(load_one(&name, file, &search).map_err(|error| error.to_string()))
}

fn text(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let verdict = match finding.problems.iter().map(|problem| problem.severity).max() {
        None => "ok",
        Some(Severity::Warning) => "warning",
        Some(Severity::Error) => "FAILED",
    };
    writeln!(out, "{verdict:<8} {}", finding.check)?;
    for problem in &finding.problems {
        let word = if problem.severity == Severity::Error { "error" } else { "warning" };
        // Texts may have lines; none of them begins where a line of a check does.
        let text = printable(&problem.text).replace('\n', "\n           ");
        writeln!(out, "         {word}: {text}")?;
    }
    Ok(())
}
