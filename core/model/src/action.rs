//! Actions: what a plugin wants done, as data. The engine alone does them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where an action happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The machine that runs `crossvisor`.
    Controller,
    /// The host of the cell.
    Host,
    /// A guest of the cell, from 1.
    Guest(u32),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Controller => f.pad("controller"),
            Self::Host => f.pad("host"),
            Self::Guest(index) => f.pad(&format!("guest {index}")),
        }
    }
}

/// A program to run: an argument vector, never a shell line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exec {
    pub on: Place,
    pub argv: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Killed after this many seconds.
    pub timeout_s: f64,
    /// Exit codes that are a success.
    #[serde(default = "zero")]
    pub ok_exit: Vec<i32>,
}

fn zero() -> Vec<i32> {
    vec![0]
}

impl Exec {
    /// A program that succeeds with exit code 0.
    pub fn new<I, S>(on: Place, argv: I, timeout_s: f64) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self { on, argv: argv.into_iter().map(Into::into).collect(), stdin: None, timeout_s, ok_exit: zero() }
    }
}

/// One thing to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Action {
    /// Run a program to its end.
    Exec(Exec),
    /// Delete one file; a file that is not there is a success.
    RemoveFile {
        on: Place,
        path: PathBuf,
    },
    /// Define a domain from libvirt XML.
    DomainDefine {
        xml: String,
    },
    DomainStart {
        name: String,
    },
    /// Stop a domain at once; one that does not run is a success.
    DomainStop {
        name: String,
    },
    /// Ask whether a domain runs; one that is not there does not. Its result is [`StepResult::Domain`].
    DomainState {
        name: String,
    },
    /// Forget a domain's definition with all that belongs to it; one that is not there is a success.
    DomainUndefine {
        name: String,
    },
    /// The measured moment: start `runs` together, after the `servers` answer on their ports, and wait for all of them;
    /// then end the servers. Each output goes to the plugin's `parse`. An instance has at most one run, and the runs are
    /// in the order of their instances; an instance without one takes part only as another's server, or rests.
    Together {
        round: String,
        servers: Vec<Server>,
        runs: Vec<Exec>,
    },
}

/// A program that must be listening before a measured round starts and is ended after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Server {
    pub exec: Exec,
    /// The port of `exec.on`, TCP or UDP, that must be listening.
    pub port: u16,
}

/// An action, what undoes it, and a few words for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// `clone the image`, `define the domain`.
    pub say: String,
    #[serde(flatten)]
    pub action: Action,
    /// Done in reverse order at teardown; written to the journal before the action is tried, so it must
    /// succeed when the action never happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Action>,
}

impl Step {
    pub fn new(say: impl Into<String>, action: Action) -> Self {
        Self { say: say.into(), action, undo: None }
    }

    #[must_use]
    pub fn undone_by(mut self, undo: Action) -> Self {
        self.undo = Some(undo);
        self
    }
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecResult {
    /// `None`: ended by a signal or at its deadline.
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// By the controller's monotonic clock.
    pub wall_s: f64,
}

/// What came of a step that went well; a plugin that is not done gets these back. A step that fails ends the operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepResult {
    Done,
    Exec(ExecResult),
    Domain { active: bool },
}
