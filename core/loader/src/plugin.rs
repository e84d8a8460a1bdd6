//! A loaded plugin: what it says of itself, where it came from, and how it is asked.
//!
//! Owns the envelope's way in and out. It must never act on a turn.

use std::fmt;
use std::path::PathBuf;

use crossvisor_model::Manifest;
use crossvisor_plugin::abi::CALL_OK;
use crossvisor_plugin::envelope::{Answer, Reply, VERSION};
use crossvisor_plugin::{Request, Turn};

use crate::PluginError;
use crate::descriptor::{Entry, REPLY_LIMIT};

/// Where a plugin came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A library, by the path it was found at.
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

/// A plugin that is open and has passed every check. It may be called from several threads at once.
#[derive(Clone, Debug)]
pub struct Plugin {
    pub manifest: Manifest,
    pub origin: Origin,
    pub(crate) entry: Entry,
}

impl Plugin {
    /// Asks for the next turn of an operation.
    ///
    /// # Errors
    /// [`PluginError::Failed`] when the plugin refuses; another [`PluginError`] when it does not keep the contract.
    pub fn call(&self, request: &Request) -> Result<Turn, PluginError> {
        let request = serde_json::to_vec(request)
            .map_err(|source| PluginError::Request { plugin: self.manifest.name.clone(), source })?;
        self.call_bytes(&request)
    }

    /// Sends these bytes as the request, whatever they are: how a plugin answers what no engine sends.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub fn call_bytes(&self, request: &[u8]) -> Result<Turn, PluginError> {
        let plugin = || self.manifest.name.clone();
        let returned = self.entry.call(request);
        if returned.too_long {
            return Err(PluginError::TooLong { plugin: plugin(), limit: REPLY_LIMIT });
        }
        if returned.code != CALL_OK {
            return Err(PluginError::Internal { plugin: plugin(), code: returned.code });
        }
        let reply: Reply = serde_json::from_slice(&returned.reply)
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
}
