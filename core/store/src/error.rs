//! What can go wrong with files.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why something could not be stored or read back.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("cannot {action} {path}: {source}")]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: {reason}")]
    Damaged { path: PathBuf, line: usize, reason: String },
    #[error("{0} is not a run directory: it has no run.json")]
    NotARun(PathBuf),
    #[error("{0} is being written by another process: wait until that has ended")]
    Busy(PathBuf),
    #[error("{path} was written in format {found}; this program reads format {known}")]
    Format { path: PathBuf, found: u32, known: u32 },
    #[error("{path} was written in format {found}: its report can be made, but it cannot go on")]
    Old { path: PathBuf, found: u32 },
    #[error("{path} holds '{found}', which has no JSON form")]
    Unwritable { path: PathBuf, found: &'static str },
}

impl StoreError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}
