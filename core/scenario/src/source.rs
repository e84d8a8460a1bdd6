//! The text of a scenario and places in it.
//!
//! Owns the way from a span of bytes to a [`Problem`] with line, column and excerpt. It must never read a file.

use std::sync::Arc;

use crate::problem::{Problem, printable};

/// A stretch of a source, in bytes (a byte order mark is not counted).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub offset: usize,
    pub length: usize,
}

impl Span {
    /// Stretches a span that begins with a bracket to the closing bracket at `end`.
    pub(crate) fn close(&mut self, end: Self) {
        if self.length > 0 {
            self.length = (end.offset + end.length).saturating_sub(self.offset);
        }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

/// The text of a scenario and the name of its file. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    file: Arc<str>,
    text: Arc<str>,
    /// Bytes before `text` in the file: those of a byte order mark, which is no part of it.
    skipped: usize,
}

impl Source {
    pub(crate) fn new(text: &str, file: &str) -> Self {
        let whole = text.len();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { file: file.into(), text: text.into(), skipped: whole - text.len() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The number of the line that `offset` is on, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|&&b| b == b'\n').count() + 1
    }

    /// A problem at `span`, which must lie on character boundaries of this source. Only the first line of a span
    /// that covers several is marked.
    pub(crate) fn problem(&self, span: Span, message: impl AsRef<str>, help: Option<String>) -> Problem {
        let (before, rest) = self.text.split_at(span.offset.min(self.text.len()));
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = rest.find('\n').map_or(self.text.len(), |at| before.len() + at);
        let marked = rest.get(..span.length).unwrap_or(rest).lines().next().unwrap_or("");
        Problem {
            file: self.file.to_string(),
            line: self.line(span.offset),
            column: before[start..].chars().count() + 1,
            offset: self.skipped + before.len(),
            length: span.length.min(rest.len()),
            message: printable(message.as_ref()),
            help: help.as_deref().map(printable),
            excerpt: printable(self.text[start..end].trim_end_matches('\r')),
            carets: marked.trim_end().chars().count().max(1),
        }
    }
}
