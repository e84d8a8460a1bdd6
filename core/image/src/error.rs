//! What can go wrong with definitions and images, in words for the person who must mend it.
//!
//! Owns the error types of this crate. It must never print.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a guest definition cannot be used.
#[derive(Debug, Error)]
pub enum GuestError {
    #[error("no guest is called '{name}': there are {known}")]
    Unknown { name: String, known: String },
    #[error("{file}:{line}:{column}: {message}")]
    Syntax { file: String, line: usize, column: usize, message: String },
    #[error("{file}: {message}")]
    Invalid { file: String, message: String },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
}

/// Why there is no image.
#[derive(Debug, Error)]
pub enum ImageError {
    #[error("program {program} is not installed: apt install {package}")]
    Missing { program: &'static str, package: &'static str },
    #[error("cannot {stage}: {program} failed with {status}; its last words:\n{tail}")]
    Failed { stage: &'static str, program: String, status: String, tail: String },
    #[error("interrupted; nothing is left of the unfinished image")]
    Interrupted,
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("the new system has no {0} in /boot: add a kernel and initramfs-tools to the guest's packages")]
    NoKernel(&'static str),
    #[error(
        "{} of the new system is not an ELF file of 32 bits: QEMU can start no other by multiboot; correct \
         boot.multiboot.kernel of the guest",
        .0.display()
    )]
    NoMultiboot(PathBuf),
    #[error("cannot make a key: {0}")]
    Key(#[from] ssh_key::Error),
}

impl ImageError {
    /// Names the place of an I/O error.
    pub(crate) fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |source| Self::Io { action, path: path.into(), source }
    }
}
