//! The JSON that crosses the contract: requests, replies, and what they hold.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_model::{
    DomainSpec, MetricSpec, Name, Options, Place, Recording, Step, StepResult, Value as SampleValue, Values,
    Volume,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The envelope's version; a plugin refuses another.
pub const VERSION: u32 = 1;

/// What the engine asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    #[cfg_attr(feature = "schema", schemars(extend("const" = VERSION)))]
    pub v: u32,
    /// The offer it is about: `kvm-virtio`.
    pub offer: Name,
    pub options: Options,
    #[serde(flatten)]
    pub call: Call,
    /// What the plugin gave with its last turn; null at the first.
    #[serde(default)]
    pub state: Value,
    /// What came of the steps of its last turn, in order; empty at the first.
    #[serde(default)]
    pub results: Vec<StepResult>,
}

/// The operations, by kind of plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "op", content = "input", rename_all = "snake_case")]
pub enum Call {
    /// Hypervisor or storage, where the offer says that it `stages`: look whether the host has what the run will need,
    /// and get it ready. Asked once on each host before the first guest; what it creates is undone at the end of the
    /// run. Output: [`StageOutput`].
    Stage(StageInput),
    /// Hypervisor: make a domain and start it. Output: none, or [`DefineOutput`].
    Define(DefineInput),
    /// Hypervisor: does the guest still run? Asked now and then while it boots. Output: [`AliveOutput`].
    Alive(AliveInput),
    /// Storage: make a volume. Output: [`CreateOutput`].
    Create(CreateInput),
    /// Storage: what does the volume really take? Output: [`InspectOutput`].
    Inspect(InspectInput),
    /// Workload: get the instances ready; not measured. No output.
    Prepare(WorkInput),
    /// Workload: the measured rounds. No output; each program's output goes to `Parse`.
    Work(WorkInput),
    /// Workload: read what one instance printed in one round. No steps. Output: [`ParseOutput`].
    Parse(ParseInput),
    /// Telemetry: what is to run at a place while guests work? No steps. Output: [`SourcesOutput`].
    Sources(SourcesInput),
    /// Telemetry: read what one source printed. No steps. Output: [`Recording`].
    Record(RecordInput),
    /// Workload or telemetry, where the offer says that it `imports`: read results that its tool printed elsewhere and that people
    /// kept. No steps. Output: [`ImportOutput`].
    Import(ImportInput),
}

impl Call {
    /// Is this the output that the operation must end with?
    ///
    /// # Errors
    /// What is missing or of another type.
    pub fn check_output(&self, output: &Value) -> Result<(), serde_json::Error> {
        match self {
            Self::Prepare(_) | Self::Work(_) => Ok(()),
            Self::Stage(_) => StageOutput::deserialize(output).map(drop),
            Self::Define(_) => Option::<DefineOutput>::deserialize(output).map(drop),
            Self::Alive(_) => AliveOutput::deserialize(output).map(drop),
            Self::Create(_) => CreateOutput::deserialize(output).map(drop),
            Self::Inspect(_) => InspectOutput::deserialize(output).map(drop),
            Self::Parse(_) => ParseOutput::deserialize(output).map(drop),
            Self::Import(_) => ImportOutput::deserialize(output).map(drop),
            Self::Sources(_) => SourcesOutput::deserialize(output).map(drop),
            Self::Record(_) => Recording::deserialize(output).map(drop),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageInput {
    /// The guest's image on the host, raw.
    pub golden: PathBuf,
    /// Its length in bytes.
    pub golden_bytes: u64,
    /// A folder on the host that is the run's own.
    pub folder: PathBuf,
    /// A name for what is made, unique on the host.
    pub name: Name,
    /// The most guests that the run has here at once.
    pub guests: u32,
    /// Of each guest.
    pub memory_bytes: u64,
    /// Of each guest.
    pub vcpus: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageOutput {
    /// Storage: what `create` gets as `golden` from now on, where it is not the image's file.
    #[serde(default)]
    pub golden: Option<PathBuf>,
    /// What a person should know of the host: `{"xen version": "4.17.5"}`.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefineInput {
    pub domain: DomainSpec,
}

/// What became of the domain as it was asked for; what is left out is as asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefineOutput {
    /// Where the console is written on the host.
    #[serde(default)]
    pub console_log: Option<PathBuf>,
    /// The volumes with the cache and I/O modes that are really used, in the order of the request.
    #[serde(default)]
    pub volumes: Option<Vec<Volume>>,
}

/// The guest as it was given to `define`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AliveInput {
    pub domain: DomainSpec,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AliveOutput {
    pub alive: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateInput {
    /// The guest's image on the host, raw.
    pub golden: PathBuf,
    /// Its length in bytes.
    pub golden_bytes: u64,
    /// A folder on the host that is the run's own, where file-backed volumes go.
    pub folder: PathBuf,
    /// The name the volume must carry, unique on the host.
    pub name: Name,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateOutput {
    pub volume: Volume,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectInput {
    pub volume: Volume,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectOutput {
    /// Bytes really allocated on the host; null where that cannot be told.
    pub allocated_bytes: Option<u64>,
    /// Why what is measured on this volume is worth nothing: `the snapshot is full`. Its cell then fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spoiled: Option<String>,
}

impl InspectOutput {
    /// A volume that is in order.
    #[must_use]
    pub fn of(allocated_bytes: Option<u64>) -> Self {
        Self { allocated_bytes, spoiled: None }
    }
}

/// Input of `prepare` and `work`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkInput {
    /// What does the work at once: the guests of the cell, or copies on the bare host.
    pub instances: Vec<Instance>,
}

/// One machine (or, on the bare host, one copy) that does the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instance {
    /// From 1.
    pub index: u32,
    pub place: Place,
    /// An existing empty folder of the run's own at `place`, writable by every user.
    pub folder: PathBuf,
    /// Path of `crossvisor-probe` at `place`.
    pub probe: PathBuf,
    pub memory_bytes: u64,
    pub cpus: u32,
    pub peer: Peer,
    /// The address at which the other instances reach it. Absent where they cannot: behind user networking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// The other end for network work: the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peer {
    /// The address by which the instance reaches the host.
    pub address: String,
    /// A TCP port of the host reserved for this instance; the instance reaches it at `address`.
    pub port: u16,
    /// The address of the host to listen on, so that the instance reaches it: `127.0.0.1`, `::`.
    #[serde(default = "loopback")]
    pub listen: String,
}

fn loopback() -> String {
    "127.0.0.1".into()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParseInput {
    /// The name of the `together` action.
    pub round: String,
    pub instance: Instance,
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Wall-clock seconds of the program, by the controller's clock.
    pub wall_s: f64,
}

impl ParseInput {
    /// How the program ended, for messages: `ended with exit code 1`.
    #[must_use]
    pub fn ending(&self) -> String {
        match self.exit {
            Some(code) => format!("ended with exit code {code}"),
            None => "was ended by a signal or its deadline".into(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParseOutput {
    pub samples: Vec<ParsedSample>,
    /// What a person should know about them.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Versions of the tools that made the output: `{"bonnie++": "2.00a"}`.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
}

/// A value of one of the offer's metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParsedSample {
    /// A name among the offer's metrics.
    pub metric: String,
    #[serde(flatten)]
    pub value: SampleValue,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

impl ParsedSample {
    /// A measured value of `metric`.
    #[must_use]
    pub fn measured(metric: &MetricSpec, value: f64) -> Self {
        Self { metric: metric.name.clone(), value: SampleValue::Measured(value), flags: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourcesInput {
    /// The host, or one of the guests.
    pub place: Place,
    /// The libvirt driver of the host, as its URI begins: `qemu`, `xen`.
    pub driver: String,
    /// Path of `crossvisor-probe` at `place`.
    pub probe: PathBuf,
    /// Between readings.
    pub interval_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourcesOutput {
    /// None where there is nothing to ask at this place.
    pub sources: Vec<Source>,
}

/// A program that tells what its machine does. It runs until its standard input ends, prints as it goes, and prefixes
/// what it prints with lines of times: `crossvisor-probe sample` and `crossvisor-probe follow` do all that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    pub name: Name,
    pub argv: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordInput {
    /// The source's name.
    pub source: Name,
    pub place: Place,
    /// All that it printed; [`stamps`](crate::stamps) reads its lines of times.
    pub text: String,
    /// The cell's guests, by the names of their domains.
    #[serde(default)]
    pub domains: BTreeMap<Name, u32>,
}

/// A piece of a file that people kept: it begins where the last piece that was used ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportInput {
    /// The file's name without its folders, for what is told from it.
    pub file: String,
    /// Whole lines, but for the end of the file. Bytes that are not UTF-8 are U+FFFD.
    pub text: String,
    /// True where the file ends with this piece.
    pub last: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportOutput {
    /// Bytes of the text that are done with; the rest comes again at the head of the next piece. 0 with a piece that is
    /// not the last asks for a longer one. Of the last piece nothing comes again.
    pub used: usize,
    #[serde(default)]
    pub results: Vec<Imported>,
    /// What looks like the tool's output and is no result.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// One result in an imported file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// The line of the piece on which it begins, from 1.
    pub line: usize,
    /// The machine, as the output names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What was asked for and what else makes results comparable, as far as the output tells:
    /// `{"size": "2 GiB", "streams": "4"}`. Results with other settings are not compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    pub values: Values,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Versions of the tools that made it: `{"bonnie++": "1.03e"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

/// A part of an imported file that is no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refused {
    /// The line of the piece, from 1.
    pub line: usize,
    /// What was expected there, and what was found.
    pub reason: String,
}

/// What a script is asked first: to describe itself. A library carries its manifest in its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Introduction {
    /// Its reply is a [`Reply`] with a [`Manifest`](crossvisor_model::Manifest).
    Manifest {
        #[cfg_attr(feature = "schema", schemars(extend("const" = VERSION)))]
        v: u32,
    },
}

/// What a plugin answers: to an operation with a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reply<T = Turn> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = VERSION)))]
    pub v: u32,
    #[serde(flatten)]
    pub answer: Answer<T>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer<T = Turn> {
    Ok(T),
    Error(Failure),
}

/// One turn of an operation: steps to do now, and either the output or a wish to be called again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(bound = "O: schemars::JsonSchema + Serialize + Default"))]
pub struct Turn<O = Value> {
    #[serde(default)]
    pub steps: Vec<Step>,
    /// True: after these steps the operation is over and `output` is its result. False: call again with their results.
    pub done: bool,
    #[serde(default)]
    pub output: O,
    #[serde(default)]
    pub state: Value,
}

/// Why a plugin cannot do what it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct Failure {
    /// What happened and to what, and what to do next.
    pub message: String,
    pub left: Left,
}

/// What a failed operation left behind beyond the undo of its finished steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Left {
    Nothing,
    /// What the undo of the steps removes.
    Known,
    Unknown,
}

impl Failure {
    /// A failure that left nothing behind.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), left: Left::Nothing }
    }
}
