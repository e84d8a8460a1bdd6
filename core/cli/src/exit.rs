//! Exit codes, and which failure has which.
//!
//! Owns the meaning of the numbers a shell sees. It must never print.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crossvisor_engine::EngineError;
use crossvisor_image::{GuestError, ImageError};
use crossvisor_import::ImportError;
use crossvisor_loader::{LoadError, TrustError};
use crossvisor_model::{Name, NameError};
use crossvisor_report::ReportError;
use crossvisor_scenario::{Problem, MAX_PROBLEMS};
use crossvisor_store::StoreError;
use thiserror::Error;

use crate::output::{long_line, printable};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Good = 0,
    /// Some cells failed, the run was interrupted, parts of imported files were refused, or a plugin does not pass its
    /// check.
    Cells = 1,
    /// The scenario or the command line is wrong, or there is nothing to import.
    Usage = 2,
    /// This machine cannot do it.
    Environment = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not be carried out.
#[derive(Debug, Error)]
pub enum Failure {
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{} is larger than {} MiB: is it a scenario?", path.display(), most >> 20)]
    TooLarge { path: PathBuf, most: u64 },
    #[error("{}, line {line}: the scenario is not UTF-8 text: save it as UTF-8", path.display())]
    NotUtf8 { path: PathBuf, line: usize },
    #[error("{}", scenario(.problems, .notes))]
    Scenario { problems: Vec<Problem>, notes: Vec<String> },
    #[error("cannot write {}: {source}", path.display())]
    Unwritable { path: PathBuf, source: std::io::Error },
    #[error("charts are several files: name a folder for them with --output")]
    NoFolder,
    #[error("cannot write the output: {0}")]
    Output(std::io::Error),
    #[error("cannot name the run: {0}: name it with --name")]
    Name(#[from] NameError),
    #[error("{} exists already: give the run another --name, or another folder with --out", .0.display())]
    Exists(PathBuf),
    #[error("{} exists already: choose another folder with --dir", .0.display())]
    FolderExists(PathBuf),
    #[error("{} cannot go on: {reason}", .run.display())]
    NoResume { run: PathBuf, reason: &'static str },
    #[error("cannot start 'ssh': {0}: install openssh-client")]
    Ssh(std::io::Error),
    #[error("cannot watch for signals: {0}")]
    Signals(std::io::Error),
    /// A file named with `--plugin` that does not load.
    #[error(transparent)]
    Plugin(Box<LoadError>),
    #[error("{} guests, and a scenario has one: name a folder for them with --out, or see them with --json", .0)]
    ManyGuests(usize),
    #[error("no guest image is known that a scenario could name: see 'crossvisor guest list'")]
    NoImage,
    #[error("--{0} is for results: leave it out, a guest's description says it")]
    OfResults(&'static str),
    #[error("no plugin imports '{kind}': {known}")]
    NoKind { kind: String, known: String },
    #[error("storage goes with guests: give --hypervisor as well")]
    BareStorage,
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("no plugin '{name}' is loaded: {hint}")]
    NoPlugin { name: Name, hint: String },
    #[error("the plugin cannot be called so: {0}")]
    PluginName(NameError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl Failure {
    /// Names the file of an output error.
    pub fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Unwritable { path: path.into(), source }
    }

    /// The failure for a person: one line, whatever a plugin said, unless the lines are the program's own.
    pub fn shown(&self) -> String {
        match self {
            Self::Scenario { .. } | Self::Image(_) | Self::Engine(EngineError::Image(_)) => {
                printable(&self.to_string())
            }
            _ => long_line(&self.to_string()),
        }
    }

    /// The exit code of this failure.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Unreadable { .. }
            | Self::TooLarge { .. }
            | Self::NotUtf8 { .. }
            | Self::Scenario { .. }
            | Self::Exists(_)
            | Self::FolderExists(_)
            | Self::Plugin(_)
            | Self::PluginName(_)
            | Self::NoPlugin { .. }
            | Self::ManyGuests(_)
            | Self::NoFolder
            | Self::OfResults(_)
            | Self::NoKind { .. }
            | Self::BareStorage
            | Self::Import(ImportError::Guests { .. })
            | Self::Trust(TrustError::Name(_) | TrustError::Refused { .. })
            | Self::Guest(_) => Exit::Usage,
            Self::Store(StoreError::NotARun(_))
            | Self::Engine(EngineError::Outline { .. } | EngineError::Guest(_)) => Exit::Usage,
            Self::Engine(EngineError::Interrupted | EngineError::Image(ImageError::Interrupted))
            | Self::Image(ImageError::Interrupted) => Exit::Cells,
            _ => Exit::Environment,
        }
    }
}

/// Problems that are shown of a scenario.
const SHOWN_PROBLEMS: usize = 20;

/// The first problems with their places, then what else may have to do with them.
fn scenario(problems: &[Problem], notes: &[String]) -> String {
    let at_least = if problems.len() < MAX_PROBLEMS { "" } else { "at least " };
    let count = match problems {
        [_] => "the scenario has a problem".to_string(),
        _ => format!("the scenario has {at_least}{} problems", problems.len()),
    };
    let shown = problems.iter().take(SHOWN_PROBLEMS).map(|problem| format!("\n\n{problem}"));
    let more = problems.len().saturating_sub(SHOWN_PROBLEMS);
    let more = (more > 0).then(|| format!("\n\nand {at_least}{more} more"));
    let notes = notes.iter().map(|note| format!("\n\nnote: {}", long_line(note)));
    count + &shown.chain(more).chain(notes).collect::<String>()
}
