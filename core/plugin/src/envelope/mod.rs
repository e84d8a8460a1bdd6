//! The JSON that crosses the contract: requests, replies, and what they hold.

mod domain;
mod import;
mod reply;
mod stage;
mod telemetry;
mod volume;
mod work;

use crossvisor_model::{Name, Options, Recording, StepResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use domain::{AliveInput, AliveOutput, DefineInput, DefineOutput};
pub use import::{ImportInput, ImportOutput, Imported, Refused};
pub use reply::{Answer, Failure, Left, Reply, Turn};
pub use stage::{StageInput, StageOutput};
pub use telemetry::{RecordInput, Source, SourcesInput, SourcesOutput};
pub use volume::{CreateInput, CreateOutput, InspectInput, InspectOutput};
pub use work::{Instance, ParseInput, ParseOutput, ParsedSample, Peer, WorkInput};

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
