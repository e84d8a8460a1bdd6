//! A row of the index: one file and what it holds.
//!
//! Owns the columns of `INDEX.tsv`. It must never read the files themselves.

use std::path::Path;

use serde::Deserialize;

/// One file of the corpus.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Row {
    /// Relative to the corpus.
    pub path: String,
    pub kind: String,
    pub tool_version: String,
    pub special: String,
    /// What a reader must find, as a person wrote it down.
    pub expected: String,
}

/// All rows of the corpus in `folder`.
///
/// # Errors
/// When `INDEX.tsv` cannot be read, or has a row without all the columns.
pub fn rows(folder: &Path) -> csv::Result<Vec<Row>> {
    let mut options = csv::ReaderBuilder::new();
    let index = options.delimiter(b'\t').quoting(false).from_path(folder.join("INDEX.tsv"));
    index?.deserialize().collect()
}
