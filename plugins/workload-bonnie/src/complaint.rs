//! What bonnie++ says when it gives no result.
//!
//! Owns the tool's own words of complaint and progress. It must never read a figure.

use crate::lines::Line;

/// At most this many of the tool's lines go into a message.
const COMPLAINTS: usize = 4;
/// At most this many characters of a line.
const SHOWN: usize = 200;
const STAGES: [&str; 7] = [
    "Writing ",
    "Rewriting...",
    "Reading ",
    "start 'em...",
    "Create files in ",
    "Stat files in ",
    "Delete files in ",
];
const SAID: [&str; 19] = [
    "Bonnie: drastic I/O error",
    "drastic I/O error",
    "Can't write block",
    "Can't read a full block",
    "Can't read from pipe",
    "Can't change to directory",
    "Can't create file",
    "Can't create link",
    "Can't create symlink",
    "Can't make directory",
    "Can't delete file",
    "Can't stat file",
    "Can't open file",
    "Can't sync directory",
    "File size should be double RAM",
    "File size too big",
    "You must use the \"-u\" switch",
    "Not enough ram to test",
    "Error in lseek to chunk",
];

/// The complaint that begins on the first line: the lines it takes, and what the tool said.
pub fn at(lines: &[Line]) -> Option<(usize, String)> {
    let said: Vec<&str> =
        lines.iter().map(|line| line.text.as_ref()).take_while(|line| is_said(line)).collect();
    // the tool goes on after this one
    let harmless = said.iter().all(|line| line.starts_with("Can't sync directory"));
    if said.is_empty() || harmless {
        return None;
    }
    Some((said.len(), format!("expected a result of bonnie++; instead it said: {}", last(&said))))
}

fn is_said(line: &str) -> bool {
    let within =
        STAGES.iter().any(|stage| line.starts_with(stage)) && line.contains("...") && !is_progress(line);
    within || SAID.iter().any(|said| line.contains(said)) || line == "Cleaning up test directory after error."
}

/// What the tool said instead of a result: neither its progress, nor its usage, nor a table.
#[must_use]
pub fn complaint(stdout: &str, stderr: &str) -> Option<String> {
    let said = stderr.lines().take_while(|line| !line.starts_with("usage:")).chain(stdout.lines());
    let words: Vec<&str> =
        said.map(str::trim).filter(|line| !line.is_empty() && !is_progress(line)).collect();
    (!words.is_empty()).then(|| last(&words))
}

fn last(lines: &[&str]) -> String {
    let shown = lines[lines.len().saturating_sub(COMPLAINTS)..].iter();
    shown.map(|line| line.chars().take(SHOWN).collect::<String>()).collect::<Vec<_>>().join(" / ")
}

fn is_progress(line: &str) -> bool {
    line.trim_end_matches('.').ends_with("done") || line.starts_with("Using uid:")
}
