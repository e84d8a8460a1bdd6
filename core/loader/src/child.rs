//! A plugin in a process of its own, seen from the program.
//!
//! Owns starting it, one exchange at a time with a deadline, and its end. It must never start one a second time:
//! what brought it down once would do so in every cell.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crossvisor_model::Manifest;
use crossvisor_plugin::abi::{CALL_OK, symbol};
use crossvisor_plugin::envelope::VERSION;
use serde::Deserialize;

use crate::descriptor::Returned;
use crate::exchange::{Fault, Framing, Running};
use crate::file::{Checked, Form};
use crate::host::VERB;
use crate::{Broken, Limits};

/// All of the environment that a plugin sees.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// A script is asked for its manifest by this line.
const MANIFEST_REQUEST: &[u8] = br#"{"v":1,"op":"manifest"}"#;

/// Starts at first need and is called from one thread at a time.
#[derive(Debug)]
pub(crate) struct Child {
    pub name: String,
    pub file: Checked,
    pub host_program: PathBuf,
    pub limits: Limits,
    /// What its sidecar says it says.
    pub described: Option<Manifest>,
    pub state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) enum State {
    Unstarted,
    Running(Running),
    /// Why it is no more.
    Gone(String),
}

impl Child {
    /// One request in, one reply out; the first call starts the process. After an error other than
    /// [`Fault::TooLong`] every later call says why it is gone.
    pub(crate) fn call(&self, request: &[u8]) -> Result<Returned, Fault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Unstarted) {
            *state = match self.start().and_then(|(running, manifest)| self.agree(running, &manifest)) {
                Ok(running) => State::Running(running),
                Err(reason) => State::Gone(reason.to_string()),
            };
        }
        let outcome = match &mut *state {
            State::Running(running) => running.exchange(Some(request), self.limits.call).map_err(|fault| {
                let reason = running.end(&fault, self.limits.call);
                (fault, reason)
            }),
            State::Gone(reason) => return Err(Fault::Gone(reason.clone())),
            State::Unstarted => return Err(Fault::Gone("it was not started".into())),
        };
        outcome.map_err(|(fault, reason)| {
            *state = State::Gone(reason.clone());
            if matches!(fault, Fault::TooLong) { fault } else { Fault::Gone(reason) }
        })
    }

    /// Starts it now and asks what it says of itself.
    pub(crate) fn manifest(&self) -> Result<Manifest, Broken> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (running, manifest) = self.start()?;
        *state = State::Running(running);
        Ok(manifest)
    }

    fn agree(&self, running: Running, manifest: &Manifest) -> Result<Running, Broken> {
        match &self.described {
            Some(described) if described != manifest => Err(Broken::OtherManifest),
            _ => Ok(running),
        }
    }

    fn start(&self) -> Result<(Running, Manifest), Broken> {
        let mut running = self.spawn().map_err(Broken::Start)?;
        let request = (self.file.form == Form::Script).then_some(MANIFEST_REQUEST);
        let returned = match running.exchange(request, self.limits.call) {
            Ok(returned) => returned,
            Err(fault) => return Err(Broken::Ended(running.end(&fault, self.limits.call))),
        };
        let manifest = match running.framing() {
            Framing::Frames if returned.code == CALL_OK => serde_json::from_slice(&returned.reply),
            Framing::Frames => return Err(Broken::NoDescriptor),
            Framing::Lines => serde_json::from_slice::<Introduction>(&returned.reply).map(|reply| reply.ok),
        };
        Ok((running, manifest.map_err(|e| Broken::Manifest(e.to_string()))?))
    }

    fn spawn(&self) -> std::io::Result<Running> {
        // Not closed on exec, so that the child has it; another program started in this moment has it as well,
        // and can do no more with it than read the plugin.
        let file = rustix::io::dup(&self.file.file)?;
        let mut host = Command::new(&self.host_program);
        let framing = match self.file.form {
            Form::Library => Framing::Frames,
            Form::Script => Framing::Lines,
        };
        host.arg(VERB).arg(if framing == Framing::Frames { "library" } else { "script" });
        host.arg(file.as_raw_fd().to_string()).arg(self.limits.memory_bytes.to_string());
        if framing == Framing::Frames {
            host.arg(symbol(&self.name));
        }
        host.env_clear().env("PATH", PATH).current_dir("/");
        host.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(host, framing)
    }
}

/// A script's reply to [`MANIFEST_REQUEST`].
#[derive(Deserialize)]
#[serde(try_from = "Versioned")]
struct Introduction {
    ok: Manifest,
}

#[derive(Deserialize)]
struct Versioned {
    v: u32,
    ok: Manifest,
}

impl TryFrom<Versioned> for Introduction {
    type Error = String;
    fn try_from(reply: Versioned) -> Result<Self, String> {
        match reply.v {
            VERSION => Ok(Self { ok: reply.ok }),
            other => Err(format!("its envelope version is {other} instead of {VERSION}")),
        }
    }
}
