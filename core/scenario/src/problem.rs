//! A problem: one mistake in a scenario, with its place, for a person to read.
//!
//! Owns how a problem looks as text. It must never print, and never end up with a control character of the
//! scenario in its text.

use std::fmt;

use crossvisor_model::text::is_harmful;

/// No more problems of one scenario are collected; what comes after them is often the same mistake again.
pub const MAX_PROBLEMS: usize = 1000;

/// One mistake in a scenario. Its `Display` is `file:line:column: error: …`, the line with the place marked by
/// carets, and the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Bytes from the start of the source.
    pub offset: usize,
    /// Bytes; 0 marks a place between two characters.
    pub length: usize,
    /// What is wrong, and with what.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The line of the source, without its end; of a long line the part around the place.
    pub excerpt: String,
    /// How many characters of the line lie before `excerpt`.
    pub skipped: usize,
    /// How many characters of `excerpt` are meant, from `column` of the line; at least 1.
    pub carets: usize,
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message, excerpt, skipped, .. } = self;
        writeln!(f, "{file}:{line}:{column}: error: {message}")?;
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let indent: String = excerpt
            .chars()
            .take(column.saturating_sub(skipped + 1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {excerpt}")?;
        write!(f, "{margin} | {indent}{}", "^".repeat(self.carets))?;
        match &self.help {
            Some(help) => write!(f, "\n{margin} = help: {help}"),
            None => Ok(()),
        }
    }
}

/// `text` with its control characters (except tabs) and those that turn the direction of writing made harmless for a
/// terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c != '\t' && is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// The first `most` characters; `…` stands for the rest.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_string(),
    }
}
