//! A loaded plugin: what it says of itself, where it came from, and how it is asked.
//!
//! Owns the envelope's way in and out. It must never act on a turn.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crossvisor_model::{Manifest, Name, Options};
use crossvisor_plugin::abi::CALL_OK;
use crossvisor_plugin::envelope::{Answer, Reply, VERSION};
use crossvisor_plugin::limits::REPLY_BYTES;
use crossvisor_plugin::{Call, Failure, ImportInput, ImportOutput, Request, Turn};
use serde::Deserialize;

use crate::PluginError;
use crate::child::Child;
use crate::descriptor::Entry;
use crate::file::Form;

/// Where a plugin came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, by the path it was found at.
    Path(PathBuf),
    /// Linked into the program.
    Linked,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Linked => f.pad("linked into the program"),
        }
    }
}

/// A plugin that has passed every check. It may be called from several threads; one in a process of its own
/// answers them one after another, and ends with the last clone of this.
#[derive(Clone, Debug)]
pub struct Plugin {
    pub manifest: Manifest,
    pub origin: Origin,
    pub(crate) way: Way,
}

/// The reply to an import. It may be large: as a [`Reply`] it would be held in a form between.
#[derive(Deserialize)]
struct ImportReply {
    v: u32,
    ok: Option<Turn<ImportOutput>>,
    error: Option<Failure>,
}

/// How a plugin is reached.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    InProcess(Entry),
    Child(Arc<Child>),
}

impl Plugin {
    /// Asks for the next turn of an operation.
    ///
    /// # Errors
    /// [`PluginError::Failed`] when the plugin refuses; another [`PluginError`] when it does not keep the contract.
    pub fn call(&self, request: &Request) -> Result<Turn, PluginError> {
        let plugin = || self.manifest.name.clone();
        let request = serde_json::to_vec(request)
            .map_err(|source| PluginError::Request { plugin: plugin(), source })?;
        let reply: Reply = serde_json::from_slice(&self.ask(&request)?)
            .map_err(|e| PluginError::Garbage { plugin: plugin(), reason: e.to_string() })?;
        if reply.v != VERSION {
            let reason = format!("its envelope version is {} instead of {VERSION}", reply.v);
            return Err(PluginError::Garbage { plugin: plugin(), reason });
        }
        match reply.answer {
            Answer::Ok(turn) => Ok(turn),
            Answer::Error(failure) => Err(PluginError::Failed { plugin: plugin(), failure }),
        }
    }

    /// Has results of an offer's tool read, which takes one turn.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn import(
        &self,
        offer: &Name,
        options: &Options,
        input: ImportInput,
    ) -> Result<ImportOutput, PluginError> {
        let request = Request {
            v: VERSION,
            offer: offer.clone(),
            options: options.clone(),
            call: Call::Import(input),
            state: serde_json::Value::Null,
            results: Vec::new(),
        };
        let request = serde_json::to_vec(&request)
            .map_err(|source| PluginError::Request { plugin: self.manifest.name.clone(), source })?;
        let reply: ImportReply =
            serde_json::from_slice(&self.ask(&request)?).map_err(|e| self.garbage(&e))?;
        match reply {
            ImportReply { v: VERSION, ok: Some(turn), .. } => Ok(turn.output),
            ImportReply { v: VERSION, error: Some(failure), .. } => {
                Err(PluginError::Failed { plugin: self.manifest.name.clone(), failure })
            }
            ImportReply { v: VERSION, .. } => Err(self.garbage(&"it has neither 'ok' nor 'error'")),
            ImportReply { v, .. } => {
                Err(self.garbage(&format!("its envelope version is {v} instead of {VERSION}")))
            }
        }
    }

    fn garbage(&self, reason: &impl ToString) -> PluginError {
        PluginError::Garbage { plugin: self.manifest.name.clone(), reason: reason.to_string() }
    }

    /// Sends any bytes as a request and returns the bytes of the reply, whatever they are. To a script the
    /// request must be one line, without its end.
    ///
    /// # Errors
    /// [`PluginError`] when there is no reply, or one that is too long.
    pub fn ask(&self, request: &[u8]) -> Result<Vec<u8>, PluginError> {
        let plugin = || self.manifest.name.clone();
        let returned = match &self.way {
            Way::InProcess(entry) => entry.call(request),
            Way::Child(child) => {
                child.call(request).map_err(|reason| PluginError::Ended { plugin: plugin(), reason })?
            }
        };
        if returned.too_long {
            return Err(PluginError::TooLong { plugin: plugin(), limit: REPLY_BYTES });
        }
        if returned.code != CALL_OK {
            return Err(PluginError::Internal { plugin: plugin(), code: returned.code });
        }
        Ok(returned.reply)
    }

    /// How it is run, for people: `in process`, `in a process of its own`, `as a script`.
    #[must_use]
    pub fn way(&self) -> &'static str {
        match &self.way {
            Way::InProcess(_) => "in process",
            Way::Child(child) if child.file.form == Form::Library => "in a process of its own",
            Way::Child(_) => "as a script",
        }
    }
}
