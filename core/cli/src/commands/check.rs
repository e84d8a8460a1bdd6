//! `crossvisor check`: whether a stored run is as it was written.

use crossvisor_store::{check, Finding};

use crate::arguments::Check;
use crate::exit::{Exit, Failure};
use crate::output::{self, count, long_line};

/// # Errors
/// [`Failure`] when it is no run directory, or cannot be read or mended.
pub fn execute(asked: &Check) -> Result<Exit, Failure> {
    let checked = check(&asked.run, asked.repair)?;
    let left = checked.findings.iter().filter(|one| !(asked.repair && one.mended.is_some())).count();
    output::show(|out| {
        for finding in &checked.findings {
            writeln!(out, "{}", long_line(&text(finding, asked.repair)))?;
        }
        if checked.unsealed > 0 {
            writeln!(out, "{} without a checksum", count(checked.unsealed, "line"))?;
        }
        let (lines, raw) = (count(checked.sealed, "line"), count(checked.raw, "raw output"));
        writeln!(
            out,
            "{lines} and {raw} are as they were written, {} not",
            count(checked.findings.len(), "thing")
        )
    })?;
    Ok(if left == 0 { Exit::Good } else { Exit::Cells })
}

fn text(finding: &Finding, repair: bool) -> String {
    let Finding { file, line, reason, mended } = finding;
    let place = line.map_or(file.display().to_string(), |line| format!("{}, line {line}", file.display()));
    match mended {
        Some(mended) if repair => format!("{place}: {reason}: {mended}"),
        Some(_) => format!("{place}: {reason}: --repair mends it"),
        None => format!("{place}: {reason}: only a copy of the file mends it"),
    }
}
