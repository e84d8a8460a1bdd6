//! The text of a scenario and places in it.
//!
//! Owns the way from a span of bytes to a [`Problem`] with line, column and excerpt. It must never read a file.

use std::sync::Arc;

use crate::problem::{Problem, printable, shortened};

/// Characters of a long line that are shown, and how many of them before the place.
const EXCERPT: usize = 120;
const BEFORE: usize = 40;
/// Characters of a message and of a help: names and lists in them may be long.
const TEXT: usize = 400;

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
    /// Where each line starts, in bytes.
    lines: Arc<[usize]>,
    /// Bytes before `text` in the file: those of a byte order mark, which is no part of it.
    skipped: usize,
}

impl Source {
    pub(crate) fn new(text: &str, file: &str) -> Self {
        let whole = text.len();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file: file.into(), text: text.into(), lines, skipped: whole - text.len() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The number of the line that `offset` is on, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|&start| start <= offset)
    }

    /// A problem at `span`, which must lie on character boundaries of this source. Only the first line of a span
    /// that covers several is marked.
    pub(crate) fn problem(&self, span: Span, message: impl AsRef<str>, help: Option<String>) -> Problem {
        let (before, rest) = self.text.split_at(span.offset.min(self.text.len()));
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = rest.find('\n').map_or(self.text.len(), |at| before.len() + at);
        let marked = rest.get(..span.length).unwrap_or(rest).lines().next().unwrap_or("");
        let place = before[start..].chars().count();
        let (excerpt, skipped) = excerpt(self.text[start..end].trim_end_matches('\r'), place);
        let room = (skipped + excerpt.chars().count()).saturating_sub(place);
        Problem {
            file: self.file.to_string(),
            line: self.line(span.offset),
            column: place + 1,
            offset: self.skipped + before.len(),
            length: span.length.min(rest.len()),
            message: shortened(&printable(message.as_ref()), TEXT),
            help: help.as_deref().map(|help| shortened(&printable(help), TEXT)),
            carets: marked.trim_end().chars().count().min(room).max(1),
            excerpt,
            skipped,
        }
    }
}

/// What is shown of a line for the character `place` of it, and how many characters lie before that.
fn excerpt(line: &str, place: usize) -> (String, usize) {
    let length = line.chars().count();
    if length <= EXCERPT {
        return (printable(line), 0);
    }
    let skipped = place.saturating_sub(BEFORE).min(length - EXCERPT);
    let cut = |at| at == 0 && skipped > 0 || at == EXCERPT - 1 && skipped + EXCERPT < length;
    let part = line.chars().skip(skipped).take(EXCERPT);
    let shown: String = part.enumerate().map(|(at, c)| if cut(at) { '…' } else { c }).collect();
    (printable(&shown), skipped)
}
