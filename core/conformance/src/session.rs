//! One check in progress: who is asked, what was found, and whether the plugin still lives.

use crossvisor_loader::{Plugin, PluginError};
use crossvisor_model::Manifest;
use crossvisor_plugin::envelope::{Answer, Reply, VERSION};
use crossvisor_plugin::{Failure, Request, Turn};

use crate::Problem;

/// Something that can be checked: a loaded plugin, or a stand-in for one.
pub trait Subject: Sync {
    fn manifest(&self) -> &Manifest;
    /// Sends these bytes as the request, and returns those of the reply, whatever they are.
    ///
    /// # Errors
    /// [`PluginError`] as a loaded plugin has it.
    fn ask(&self, request: &[u8]) -> Result<Vec<u8>, PluginError>;
}

impl Subject for Plugin {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn ask(&self, request: &[u8]) -> Result<Vec<u8>, PluginError> {
        Self::ask(self, request)
    }
}

/// What a plugin said: a turn, or no.
pub(crate) type Said = Result<Turn, Failure>;

pub(crate) struct Session<'a> {
    pub subject: &'a dyn Subject,
    /// Where the check is, for the problems it finds: `offer 'file', size=0`.
    pub place: String,
    problems: Vec<Problem>,
    ended: bool,
}

impl<'a> Session<'a> {
    pub fn new(subject: &'a dyn Subject) -> Self {
        Self { subject, place: String::new(), problems: Vec::new(), ended: false }
    }

    pub fn has_ended(&self) -> bool {
        self.ended
    }

    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    pub fn error(&mut self, text: impl Into<String>) {
        let text = self.placed(text.into());
        self.note(Problem::error(text));
    }

    pub fn warning(&mut self, text: impl Into<String>) {
        let text = self.placed(text.into());
        self.note(Problem::warning(text));
    }

    fn placed(&self, text: String) -> String {
        if self.place.is_empty() { text } else { format!("{}: {text}", self.place) }
    }

    fn note(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Sends bytes; `None` where the plugin broke the contract, which is noted, or has ended before.
    pub fn send(&mut self, request: &[u8]) -> Option<Said> {
        if self.ended {
            return None;
        }
        match self.subject.ask(request) {
            Ok(reply) => self.read(&reply),
            Err(error) => {
                self.ended = matches!(error, PluginError::Ended { .. });
                self.error(error.to_string());
                None
            }
        }
    }

    fn read(&mut self, reply: &[u8]) -> Option<Said> {
        match serde_json::from_slice::<Reply>(reply) {
            Ok(Reply { v: VERSION, answer: Answer::Ok(turn) }) => Some(Ok(turn)),
            Ok(Reply { v: VERSION, answer: Answer::Error(failure) }) => {
                if failure.message.trim().is_empty() {
                    self.error("it refuses without a word why");
                }
                Some(Err(failure))
            }
            Ok(Reply { v, .. }) => {
                self.error(format!("its reply is of envelope version {v} instead of {VERSION}"));
                None
            }
            Err(error) => {
                self.error(format!("its reply is not one of the contract: {error}"));
                None
            }
        }
    }

    /// Sends a request.
    pub fn ask(&mut self, request: &Request) -> Option<Said> {
        match serde_json::to_vec(request) {
            Ok(bytes) => self.send(&bytes),
            Err(error) => {
                self.error(format!("the request has no JSON form: {error}"));
                None
            }
        }
    }
}
