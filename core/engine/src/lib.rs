//! Interprets a plan: makes guests, lets them work together, keeps what they measured, removes everything.
//!
//! Owns the order of phases, the deadlines, the journal's use and the barrier. It knows no hypervisor, no backing
//! and no workload: plugins say what to do, and this crate does it. It must never print.

mod accel;
mod clean;
mod context;
mod course;
mod doubt;
mod error;
mod exit;
mod gate;
mod guest;
mod hosts;
mod identity;
mod log;
mod measure;
mod observer;
mod outline;
mod programs;
mod provenance;
mod quiet;
mod repeats;
mod rules;
mod run;
mod settings;
mod steps;
mod telemetry;
mod undo;
mod visit;
mod volumes;
mod work;
mod work_folder;

pub use clean::{Cleaned, CleanedAction, clean};
pub use error::EngineError;
pub use hosts::kept::{KeepRequest, KeptHost};
pub use hosts::{doctor, kept};
pub use observer::Observer;
pub use outline::{Outline, Planned, PlannedStep, SetupOutline, outline};
pub use run::{RunRequest, Start, Summary, remove_rest, run};
pub use settings::Settings;
