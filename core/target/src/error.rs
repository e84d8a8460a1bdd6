//! What can go wrong on the way to a machine.

use std::path::PathBuf;

use thiserror::Error;

/// Why a machine could not be reached or did not do what it was asked.
#[derive(Debug, Error)]
pub enum TargetError {
    #[error("{what}: did not finish before its deadline")]
    Deadline { what: String },
    #[error("{what}: interrupted")]
    Cancelled { what: String },
    #[error("cannot start '{program}': {source}")]
    Start { program: String, source: std::io::Error },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("ssh to {address}: {message}")]
    Ssh { address: String, message: String },
    #[error("ssh to {address}: the host key is not the one that was given to this guest: refusing to go on")]
    HostKey { address: String },
    #[error("libvirt: {what}: {message}")]
    Libvirt { what: String, message: String },
    #[error(
        "another process uses the embedded libvirt driver in {0}: wait until it has ended, or set CROSSVISOR_STATE to another folder"
    )]
    Busy(PathBuf),
    #[error("{what}: more than {limit} bytes of output")]
    TooMuchOutput { what: String, limit: usize },
    #[error("{what}: ended before it answered: {tail}")]
    EndedEarly { what: String, tail: String },
    #[error(
        "'{0}' cannot be used: the drivers of this machine are 'qemu:///embed' (without a root folder: CROSSVISOR_STATE chooses it), 'qemu:///system' and 'qemu:///session'"
    )]
    Uri(String),
}

impl TargetError {
    /// Adds what was being done to an I/O error.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled { .. })
    }
}
