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
    /// Nothing before it is started; why it is no more after it has ended.
    pub process: Mutex<Option<Result<Running, String>>>,
}

impl Child {
    /// One request in, one reply out; the first call starts the process.
    ///
    /// # Errors
    /// Why it has ended, also at every later call.
    pub(crate) fn call(&self, request: &[u8]) -> Result<Returned, String> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let process = process.get_or_insert_with(|| self.start_as_described().map_err(|e| e.to_string()));
        let running = process.as_mut().map_err(|reason| reason.clone())?;
        match running.exchange(Some(request), self.limits.call) {
            Ok(returned) => Ok(returned),
            Err(fault) => {
                let reason = running.end(&fault, self.limits.call);
                *process = Err(reason.clone());
                match fault {
                    Fault::TooLong => Ok(Returned { code: CALL_OK, reply: Vec::new(), too_long: true }),
                    _ => Err(reason),
                }
            }
        }
    }

    /// Starts it now and asks what it says of itself.
    pub(crate) fn manifest(&self) -> Result<Manifest, Broken> {
        let (running, manifest) = self.start()?;
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(running));
        Ok(manifest)
    }

    fn start_as_described(&self) -> Result<Running, Broken> {
        let (running, manifest) = self.start()?;
        match &self.described {
            Some(described) if *described != manifest => Err(Broken::OtherManifest),
            _ => Ok(running),
        }
    }

    fn start(&self) -> Result<(Running, Manifest), Broken> {
        let mut running = self.spawn().map_err(Broken::Start)?;
        let is_script = self.file.form == Form::Script;
        let returned = running
            .exchange(is_script.then_some(MANIFEST_REQUEST), self.limits.call)
            .map_err(|fault| Broken::Ended(running.end(&fault, self.limits.call)))?;
        let manifest = if is_script {
            serde_json::from_slice::<Introduction>(&returned.reply).map(|introduction| introduction.ok)
        } else {
            serde_json::from_slice(&returned.reply)
        };
        Ok((running, manifest.map_err(|e| Broken::Manifest(e.to_string()))?))
    }

    fn spawn(&self) -> std::io::Result<Running> {
        // Not closed on exec, so that the child has it; another program started in this moment has it as well,
        // and can do no more with it than read the plugin.
        let file = rustix::io::dup(&self.file.file)?;
        let (descriptor, memory) = (file.as_raw_fd().to_string(), self.limits.memory_bytes.to_string());
        let mut host = Command::new(&self.host_program);
        host.arg(VERB);
        let framing = match self.file.form {
            Form::Library => {
                host.args(["library", &descriptor, &memory, &symbol(&self.name)]);
                Framing::Frames
            }
            Form::Script => {
                host.args(["script", &descriptor, &memory]);
                Framing::Lines
            }
        };
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
