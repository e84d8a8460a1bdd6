//! What can go wrong with plugins, in words for the person who must mend it.
//!
//! Owns the error types of this crate. It must never decide what an error means for a run.

use std::path::PathBuf;

use crossvisor_model::{Kind, Name};
use crossvisor_plugin::Failure;
use crossvisor_plugin::abi::{ABI_MAJOR, MAGIC};
use thiserror::Error;

use crate::Origin;

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
}

/// What is wrong with one library.
#[derive(Debug, Error)]
pub enum Broken {
    #[error("cannot look at {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("it is not a regular file")]
    NotAFile,
    #[error("every user may write to {path}: chmod o-w {path}", path = .0.display())]
    WorldWritable(PathBuf),
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
    #[error("plugin '{plugin}' replied with more than {limit} bytes: report it to its author")]
    TooLong { plugin: Name, limit: usize },
    #[error("plugin '{plugin}' replied with something that is not a reply of the contract: {reason}")]
    Garbage { plugin: Name, reason: String },
}
