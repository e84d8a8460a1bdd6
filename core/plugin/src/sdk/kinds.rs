//! The kinds of plugins: one trait each, and the calls that it gets.

use crossvisor_model::{Action, Manifest, Recording, Step, StepResult};

use super::{Chosen, Resume, finish};
use crate::envelope::{
    AliveInput, AliveOutput, Call, CreateInput, DefineInput, Failure, ImportInput, ImportOutput,
    InspectInput, ParseInput, ParseOutput, RecordInput, SourcesInput, SourcesOutput, StageInput, Turn,
    WorkInput,
};

/// Makes domains.
pub trait Hypervisor {
    fn manifest(&self) -> Manifest;
    /// Only asked of an offer whose manifest says that it `stages`.
    ///
    /// # Errors
    /// [`Failure`] when the host lacks what the run will need.
    fn stage(&self, _: &Chosen, _: &StageInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("this plugin has nothing to stage"))
    }
    /// # Errors
    /// [`Failure`] when the domain cannot be made as asked.
    fn define(&self, chosen: &Chosen, input: &DefineInput, resume: &Resume) -> Result<Turn, Failure>;
    /// Whether libvirt runs the domain. A hypervisor whose guests are no domains of libvirt has its own answer.
    ///
    /// # Errors
    /// [`Failure`] when the steps' results do not tell.
    fn alive(&self, _: &Chosen, input: &AliveInput, resume: &Resume) -> Result<Turn, Failure> {
        match resume.results.first() {
            None => {
                let ask = Action::DomainState { name: input.domain.name.to_string() };
                Ok(Turn { steps: vec![Step::new("look at the domain", ask)], ..Turn::default() })
            }
            Some(StepResult::Domain { active }) => finish(Vec::new(), AliveOutput { alive: *active }),
            Some(other) => Err(Failure::new(format!("the domain's state was answered by {other:?}"))),
        }
    }
}

/// Makes volumes.
pub trait Storage {
    fn manifest(&self) -> Manifest;
    /// Only asked of an offer whose manifest says that it `stages`.
    ///
    /// # Errors
    /// [`Failure`] when the host lacks what the run will need.
    fn stage(&self, _: &Chosen, _: &StageInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("this plugin has nothing to stage"))
    }
    /// # Errors
    /// [`Failure`] when the volume cannot be made as asked.
    fn create(&self, chosen: &Chosen, input: &CreateInput, resume: &Resume) -> Result<Turn, Failure>;
    /// # Errors
    /// [`Failure`] when the steps' results do not tell.
    fn inspect(&self, chosen: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure>;
}

/// Does work and reads what it printed.
pub trait Workload {
    fn manifest(&self) -> Manifest;
    /// # Errors
    /// [`Failure`] when the options do not fit the instances.
    fn prepare(&self, chosen: &Chosen, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure>;
    /// # Errors
    /// [`Failure`] when the options do not fit the instances.
    fn work(&self, chosen: &Chosen, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure>;
    /// # Errors
    /// [`Failure`] with the tool's own words when the output is not a result.
    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure>;
    /// Only asked of an offer whose manifest says that it `imports`.
    ///
    /// # Errors
    /// [`Failure`] when the file cannot be of this tool at all; a part that is no result is told of as refused.
    fn import(&self, _: &Chosen, _: &ImportInput) -> Result<ImportOutput, Failure> {
        Err(Failure::new("this plugin imports nothing"))
    }
}

/// Tells what machines do while guests work.
pub trait Telemetry {
    fn manifest(&self) -> Manifest;
    /// # Errors
    /// [`Failure`] when the options make no sense.
    fn sources(&self, chosen: &Chosen, input: &SourcesInput) -> Result<SourcesOutput, Failure>;
    /// # Errors
    /// [`Failure`] with what was expected when the text is not the source's.
    fn record(&self, chosen: &Chosen, input: &RecordInput) -> Result<Recording, Failure>;
    /// Only asked of an offer whose manifest says that it `imports`.
    ///
    /// # Errors
    /// [`Failure`] when the file cannot be of this tool at all; a part that is no result is told of as refused.
    fn import(&self, _: &Chosen, _: &ImportInput) -> Result<ImportOutput, Failure> {
        Err(Failure::new("this plugin imports nothing"))
    }
}

/// Sends a call to a hypervisor plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a hypervisor's.
pub fn hypervisor(
    plugin: &dyn Hypervisor,
    chosen: &Chosen,
    call: &Call,
    resume: &Resume,
) -> Result<Turn, Failure> {
    match call {
        Call::Stage(input) => plugin.stage(chosen, input, resume),
        Call::Define(input) => plugin.define(chosen, input, resume),
        Call::Alive(input) => plugin.alive(chosen, input, resume),
        _ => Err(unknown_operation("hypervisor")),
    }
}

/// Sends a call to a storage plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a storage plugin's.
pub fn storage(plugin: &dyn Storage, chosen: &Chosen, call: &Call, resume: &Resume) -> Result<Turn, Failure> {
    match call {
        Call::Stage(input) => plugin.stage(chosen, input, resume),
        Call::Create(input) => plugin.create(chosen, input, resume),
        Call::Inspect(input) => plugin.inspect(chosen, input, resume),
        _ => Err(unknown_operation("storage")),
    }
}

/// Sends a call to a workload plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a workload's.
pub fn workload(
    plugin: &dyn Workload,
    chosen: &Chosen,
    call: &Call,
    resume: &Resume,
) -> Result<Turn, Failure> {
    match call {
        Call::Prepare(input) => plugin.prepare(chosen, input, resume),
        Call::Work(input) => plugin.work(chosen, input, resume),
        Call::Parse(input) => finish(Vec::new(), plugin.parse(chosen, input)?),
        Call::Import(input) => finish(Vec::new(), plugin.import(chosen, input)?),
        _ => Err(unknown_operation("workload")),
    }
}

/// Sends a call to a telemetry plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a telemetry plugin's.
pub fn telemetry(plugin: &dyn Telemetry, chosen: &Chosen, call: &Call, _: &Resume) -> Result<Turn, Failure> {
    match call {
        Call::Sources(input) => finish(Vec::new(), plugin.sources(chosen, input)?),
        Call::Record(input) => finish(Vec::new(), plugin.record(chosen, input)?),
        Call::Import(input) => finish(Vec::new(), plugin.import(chosen, input)?),
        _ => Err(unknown_operation("telemetry")),
    }
}

pub(super) fn unknown_operation(kind: &str) -> Failure {
    Failure::new(format!("this operation is not one of a {kind} plugin"))
}
