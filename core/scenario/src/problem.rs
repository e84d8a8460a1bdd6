//! A problem: one mistake in a scenario, with its place, for a person to read.
//!
//! Owns how a problem looks as text. It must never print, and never end up with a control character of the
//! scenario in its text.

use std::fmt;

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
    /// The line of the source, without its end.
    pub excerpt: String,
    /// How many characters of `excerpt` are meant, from `column`; at least 1.
    pub carets: usize,
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message, excerpt, .. } = self;
        writeln!(f, "{file}:{line}:{column}: error: {message}")?;
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let indent: String = excerpt
            .chars()
            .take(column.saturating_sub(1))
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

/// `text` with its control characters (except tabs) made harmless for a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}
