//! What can keep a run from starting or going on. What goes wrong in one cell is that cell's outcome instead.

use std::path::PathBuf;

use crossvisor_image::{GuestError, ImageError};
use crossvisor_model::{Name, NameError};
use crossvisor_store::StoreError;
use crossvisor_target::TargetError;
use thiserror::Error;

/// Why a run could not be started or finished.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error("host '{host}': {source}")]
    Host { host: Name, source: TargetError },
    #[error("host '{host}' lacks {}: install them with 'apt install {}'", programs.join(", "), packages.join(" "))]
    Programs { host: Name, programs: Vec<String>, packages: Vec<String> },
    #[error("the plan has no {what} '{name}'")]
    NotInPlan { what: &'static str, name: Name },
    #[error("plugin '{0}' is not loaded")]
    NoPlugin(Name),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error("make an SSH key: {0}")]
    Key(#[from] ssh_key::Error),
    #[error("cannot {action} {path}: {source}")]
    Folder { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "a run called '{0}' is alive or was killed: give this one another --name, or remove the other with 'crossvisor clean'"
    )]
    NameTaken(String),
    #[error(
        "{what}, which the run left when it stopped, cannot be removed, and so it cannot go on: {reason}: mend that and resume it again"
    )]
    Rest { what: String, reason: String },
    #[error("another run uses {0}: wait for it, or set CROSSVISOR_STATE to another folder")]
    Busy(PathBuf),
    #[error("{plugin} cannot say what it would do: {reason}")]
    Outline { plugin: Name, reason: String },
    #[error("host '{host}' is not ready for '{using}': {reason}")]
    Stage { host: Name, using: Name, reason: String },
    #[error("host '{host}' could not be made of guest '{guest}': {reason}")]
    Made { host: Name, guest: Name, reason: String },
    #[error(
        "there is no host '{0}': 'crossvisor host list' shows those there are, 'crossvisor host up' makes one"
    )]
    NotKept(Name),
    #[error("there is a host '{0}' already: 'crossvisor host down {0}' removes it")]
    AlreadyKept(Name),
    #[error("host '{name}' is not wholly removed ({reason}): try 'crossvisor host down {name}' again")]
    NotRemoved { name: Name, reason: String },
    #[error("a thread of this program panicked: please report what it printed")]
    Panicked,
    #[error("interrupted")]
    Interrupted,
}
