//! What can go wrong with plugins, in words for the person who must mend it.
//!
//! Owns the error types of this crate. It must never decide what an error means for a run.

use std::path::PathBuf;

use crossvisor_model::{Kind, Name};
use crossvisor_plugin::Failure;
use crossvisor_plugin::abi::{ABI_MAJOR, MAGIC};
use thiserror::Error;

use crate::{Origin, State};

/// Why a plugin is not among the loaded ones.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("plugin folder '{}' is not searched because its path is relative: write the whole path", .0.display())]
    RelativeFolder(PathBuf),
    #[error("cannot read plugin folder {}: {source}", folder.display())]
    Folder { folder: PathBuf, source: std::io::Error },
    #[error(
        "plugin '{name}' is found twice, as {} and as {}: remove one, or choose one with --plugin {name}=PATH",
        first.display(),
        second.display()
    )]
    Clash { name: String, first: PathBuf, second: PathBuf },
    #[error("--plugin is given twice for '{0}': give it once")]
    ExplicitTwice(Name),
    #[error(
        "{kind} '{offer}' is offered by plugin '{}' ({}) and by plugin '{}' ({}): neither is used; remove one",
        first.0, first.1, second.0, second.1
    )]
    OfferClash { kind: Kind, offer: Name, first: (Name, Origin), second: (Name, Origin) },
    #[error("cannot load plugin '{name}' ({origin}): {reason}")]
    Broken { name: String, origin: Origin, reason: Broken },
    #[error("no plugin is trusted by the list of consents: {0}")]
    Trust(TrustError),
}

/// Why a consent was not recorded, or is not known.
#[derive(Debug, Error)]
pub enum TrustError {
    #[error(
        "{} is not called as a plugin is: name it libcrossvisor_NAME.so, or crossvisor-plugin-NAME for a script",
        .0.display()
    )]
    Name(PathBuf),
    #[error("{} cannot be trusted: {reason}", path.display())]
    Refused { path: PathBuf, reason: Broken },
    #[error("the list of trusted plugins {} does not read: {reason}", path.display())]
    List { path: PathBuf, reason: String },
    #[error("there is no place for the list of trusted plugins: set HOME or CROSSVISOR_TRUST")]
    NoList,
    #[error("cannot write the list of trusted plugins {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: std::io::Error },
}

/// What is wrong with one plugin.
#[derive(Debug, Error)]
pub enum Broken {
    #[error("cannot look at {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("it is not a regular file")]
    NotAFile,
    #[error("others than its owner may write to {path}: chmod go-w {path}", path = .0.display())]
    Writable(PathBuf),
    /// A folder that is shared on purpose, or that is not the user's to close.
    #[error("others may write to {}: put the file into a folder that only you may write to", .0.display())]
    Shared(PathBuf),
    #[error("{path} belongs to user {uid}, who could change it: chown it to root or to yourself (for root: to root)", path = path.display())]
    Owner { path: PathBuf, uid: u32 },
    #[error("it is not executable, as a script must be: chmod +x {}", .0.display())]
    NotExecutable(PathBuf),
    #[error(
        "it is no program and has no interpreter line: begin it with one, such as #!/usr/bin/env python3"
    )]
    NoInterpreter,
    #[error("its sidecar {} does not read: {reason}", path.display())]
    Sidecar { path: PathBuf, reason: String },
    #[error("its checksum is {found}, but its sidecar says {expected}: get both from where they came from")]
    Checksum { expected: String, found: String },
    #[error("nobody has said that it may run: if you know it, crossvisor plugin trust {}", .0.display())]
    Untrusted(PathBuf),
    #[error("it has changed since it was trusted: if you know why, crossvisor plugin trust {}", .0.display())]
    Changed(PathBuf),
    #[error("its process does not start: {0}")]
    Start(std::io::Error),
    #[error("{0}")]
    Ended(String),
    #[error("it says something else of itself than its sidecar does: write the sidecar again")]
    OtherManifest,
    #[error("it does not open as a shared library: {0}")]
    Open(String),
    #[error(
        "it does not export the function {0}: is it a plugin of this name, for this version of the contract?"
    )]
    Symbol(String),
    #[error("its entry function returns no descriptor")]
    NoDescriptor,
    #[error("its descriptor starts with {0:#018x} instead of {MAGIC:#018x}: it is not a plugin")]
    Magic(u64),
    #[error(
        "it is made for version {0} of the plugin contract, this program speaks version {ABI_MAJOR}: rebuild it"
    )]
    Abi(u16),
    #[error(
        "its descriptor has {0} bytes, less than the contract's: rebuild it with the header of this version"
    )]
    StructSize(u32),
    #[error("its descriptor has no call function")]
    NoCall,
    #[error("its manifest does not read: {0}")]
    Manifest(String),
    #[error("its manifest says that it is plugin '{0}'")]
    OtherName(Name),
}

impl Broken {
    pub(crate) fn state(&self) -> State {
        match self {
            Self::Untrusted(_) | Self::Changed(_) => State::Untrusted,
            Self::Unreadable { .. }
            | Self::NotAFile
            | Self::Writable(_)
            | Self::Shared(_)
            | Self::Owner { .. }
            | Self::NotExecutable(_)
            | Self::NoInterpreter
            | Self::Sidecar { .. }
            | Self::Checksum { .. } => State::Refused,
            _ => State::Broken,
        }
    }
}

/// Why a call of a plugin gave no turn.
#[derive(Debug, Error)]
pub enum PluginError {
    /// The plugin works and says no.
    #[error("plugin '{plugin}': {failure}")]
    Failed { plugin: Name, failure: Failure },
    #[error("the request to plugin '{plugin}' has no JSON form: {source}")]
    Request { plugin: Name, source: serde_json::Error },
    #[error("plugin '{plugin}' broke inside and returned code {code}: report it to its author")]
    Internal { plugin: Name, code: i32 },
    /// It runs in a process of its own, which is no more; the reason says since when it did not answer.
    #[error("plugin '{plugin}' cannot be asked in this run any more: {reason}: report it to its author")]
    Ended { plugin: Name, reason: String },
    #[error("plugin '{plugin}' replied with more than {limit} bytes: report it to its author")]
    TooLong { plugin: Name, limit: usize },
    #[error("plugin '{plugin}' replied with something that is not a reply of the contract: {reason}")]
    Garbage { plugin: Name, reason: String },
}
