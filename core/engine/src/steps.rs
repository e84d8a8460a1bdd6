//! Does what a plugin asks for, turn by turn, until it says that the operation is over.

use std::time::{Duration, Instant};

use crossvisor_loader::{Plugin, PluginError};
use crossvisor_model::{Action, Event, Exec, ExecResult, Name, Options, Place, Step, StepResult, Use};
use crossvisor_plugin::envelope::VERSION;
use crossvisor_plugin::limits::TURNS;
use crossvisor_plugin::model::action::Server;
use crossvisor_plugin::{Call, Request};
use crossvisor_target::{Cancel, Machine, TargetError};
use serde_json::Value;
use thiserror::Error;

use crate::EngineError;
use crate::exit::judge;
use crate::hosts::Host;
use crate::rules;
use crate::undo::{self, UndoLog};

/// Why an operation of a plugin did not come to its end.
#[derive(Debug, Error)]
pub enum StepError {
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error("{say}: {source}")]
    Step { say: String, source: TargetError },
    #[error("{say}: {reason}")]
    Round { say: String, reason: String },
    #[error("plugin {plugin}: {reason}")]
    Contract { plugin: Name, reason: String },
    #[error("the volume of guest {guest} is worth nothing for a measurement: {reason}")]
    Spoiled { guest: u32, reason: String },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl StepError {
    pub fn is_spoiled(&self) -> bool {
        matches!(self, Self::Spoiled { .. })
    }

    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Step { source, .. } => source.is_cancelled(),
            Self::Engine(EngineError::Interrupted) => true,
            _ => false,
        }
    }
}

/// The measured round of an `Action::Together`.
pub struct Round<'r> {
    pub name: &'r str,
    pub servers: &'r [Server],
    pub runs: &'r [Exec],
}

/// Where steps are done.
#[derive(Clone, Copy)]
pub struct Steps<'a> {
    pub visit: usize,
    pub host: &'a Host,
    /// By guest number less one.
    pub guests: &'a [&'a dyn Machine],
    pub undo: &'a UndoLog<'a>,
    /// Told what is done, as it is done.
    pub show: &'a (dyn Fn(Event) + Sync),
    pub cancel: &'a Cancel,
}

impl Steps<'_> {
    /// Carries an operation to its end and returns its output. `guest` is told to whoever watches.
    ///
    /// # Errors
    /// [`StepError`] of the first step that fails; what the others created is in the undo log.
    pub fn operate(
        &self,
        (plugin, using): (&Plugin, &Use),
        call: Call,
        guest: Option<u32>,
        deadline: Instant,
        together: &mut dyn FnMut(&Round<'_>) -> Result<(), StepError>,
    ) -> Result<Value, StepError> {
        let mut request = first_request(using, call);
        // Asked every second: not worth a line each.
        let quiet = matches!(request.call, Call::Alive(_));
        for _ in 0..TURNS {
            let turn = plugin.call(&request)?;
            if let Some(reason) = rules::broken(plugin.manifest.kind, &turn.steps) {
                return Err(StepError::Contract { plugin: plugin.manifest.name.clone(), reason });
            }
            request.results.clear();
            for step in &turn.steps {
                if !quiet {
                    (self.show)(Event::StepStarted { visit: self.visit, guest, say: step.say.clone() });
                }
                request.results.push(self.step(step, deadline, together)?);
            }
            if turn.done {
                return Ok(turn.output);
            }
            request.state = turn.state;
        }
        let reason = format!("is not done after {TURNS} turns");
        Err(StepError::Contract { plugin: plugin.manifest.name.clone(), reason })
    }

    fn step(
        &self,
        step: &Step,
        deadline: Instant,
        together: &mut dyn FnMut(&Round<'_>) -> Result<(), StepError>,
    ) -> Result<StepResult, StepError> {
        if let Some(undo) = &step.undo {
            self.undo.announce(self.host, undo)?;
        }
        let failed = |source: TargetError| StepError::Step { say: step.say.clone(), source };
        self.cancel.check(deadline, &step.say).map_err(failed)?;
        match &step.action {
            Action::Exec(exec) => return self.exec(exec, deadline).map(StepResult::Exec).map_err(failed),
            Action::Together { round, servers, runs } => {
                together(&Round { name: round, servers, runs })?;
            }
            Action::RemoveFile { on, path } => {
                self.exec(&undo::remove_file(*on, path), deadline).map_err(failed)?;
            }
            Action::DomainDefine { xml } => self.domains(|d| d.define(xml)).map_err(failed)?,
            Action::DomainStart { name } => self.domains(|d| d.start(name)).map_err(failed)?,
            Action::DomainState { name } => {
                let active =
                    self.host.domains().and_then(|domains| domains.is_active(name)).map_err(failed)?;
                return Ok(StepResult::Domain { active });
            }
            Action::DomainStop { name } => self.domains(|d| d.stop(name)).map_err(failed)?,
            Action::DomainUndefine { name } => self.domains(|d| d.undefine(name)).map_err(failed)?,
        }
        Ok(StepResult::Done)
    }

    fn domains(
        &self,
        act: impl FnOnce(&crossvisor_target::Libvirt) -> Result<(), TargetError>,
    ) -> Result<(), TargetError> {
        act(self.host.domains()?)
    }

    fn exec(&self, exec: &Exec, deadline: Instant) -> Result<ExecResult, TargetError> {
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let exec = Exec { timeout_s: exec.timeout_s.min(left), ..exec.clone() };
        let result = self.machine(exec.on)?.run(&exec, self.cancel)?;
        judge(&exec, &result)?;
        Ok(result)
    }

    /// The machine at a place.
    ///
    /// # Errors
    /// [`TargetError`] for a guest that the cell does not have.
    pub fn machine(&self, place: Place) -> Result<&dyn Machine, TargetError> {
        match place {
            Place::Controller => Ok(&crossvisor_target::Local),
            Place::Host => Ok(&*self.host.machine),
            Place::Guest(number) => {
                let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                index.and_then(|index| self.guests.get(index)).copied().ok_or_else(|| {
                    TargetError::EndedEarly {
                        what: format!("guest {number}"),
                        tail: "the cell has no such guest".into(),
                    }
                })
            }
        }
    }
}

/// The first request of an operation.
pub fn first_request(using: &Use, call: Call) -> Request {
    let options: Options = using.options.clone();
    Request { v: VERSION, offer: using.offer.clone(), options, call, state: Value::Null, results: Vec::new() }
}

/// For steps that must not hold a measured round.
pub fn no_round(round: &Round<'_>) -> Result<(), StepError> {
    let what = format!("round {}", round.name);
    let tail = "a measured round is only possible in a workload's work".to_string();
    Err(StepError::Step { say: what.clone(), source: TargetError::EndedEarly { what, tail } })
}

/// A deadline so many seconds from now.
pub fn in_seconds(seconds: f64) -> Instant {
    Instant::now() + Duration::from_secs_f64(seconds)
}
