//! The nouns that every other crate speaks in: units, names, axes, cells, actions, samples.
//!
//! Owns plain serialisable data and the rules that make a value of it valid. It must never do
//! I/O, read a clock, or depend on another crate of this workspace.

pub mod action;
pub mod axes;
pub mod catalog;
pub mod difference;
pub mod domain;
pub mod event;
pub mod host;
pub mod manifest;
pub mod name;
pub mod options;
pub mod plan;
pub mod provenance;
pub mod record;
pub mod sample;
pub mod telemetry;
pub mod text;
pub mod unit;

pub use action::{Action, Exec, ExecResult, Place, Step, StepResult};
pub use axes::{Axes, Cell, CellId};
pub use catalog::{Catalog, GuestOffer, HostOffer};
pub use difference::Difference;
pub use domain::{Accel, DomainSpec, Forward, Multiboot, Network, Volume, VolumeSource};
pub use event::{CellStatus, Event, Outcome, Phase, Stamped};
pub use host::{HostAddress, HostGuest, HostSpec};
pub use manifest::{Kind, Manifest, MetricSpec, Offer};
pub use name::{Name, NameError};
pub use options::{OptionKind, OptionSpec, Options};
pub use plan::{
    Adaptive, Baseline, Caches, Deadlines, GuestRequest, Load, Measuring, Plan, Use, Visit, Warmup,
};
pub use provenance::{ImportFacts, ImportedFile, Provenance, SetupFacts};
pub use record::RunRecord;
pub use sample::{Better, Sample, Value, Values, Window};
pub use telemetry::{Recording, Series, SeriesSummary, Telemetry, TelemetrySummary};
pub use unit::{Bytes, Seconds, Share, UnitError};
