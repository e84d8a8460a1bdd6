//! The SDK: implement one trait, name it in [`plugin!`](crate::plugin!), and the library is a plugin.

mod export;
mod kinds;
mod library;

use crossvisor_model::{Manifest, Name, Options, StepResult};
use serde::Serialize;
use serde_json::Value;

use crate::envelope::{Call, Failure, ImportInput, ImportOutput, Turn};

use kinds::unknown_operation;
pub use kinds::{Hypervisor, Storage, Telemetry, Workload, hypervisor, storage, telemetry, workload};
pub use library::{call, descriptor, respond};

/// Where an operation stands: what the plugin remembered, and what came of its last steps.
#[derive(Clone, Debug, Default)]
pub struct Resume {
    /// Null at the first turn.
    pub state: Value,
    /// Empty at the first turn.
    pub results: Vec<StepResult>,
}

/// The offer that is meant, with its checked options.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub offer: Name,
    pub options: Options,
}

impl Chosen {
    /// A number option: an integer, whole bytes of a size, or seconds of a duration. `None` when it is unset.
    #[must_use]
    pub fn number(&self, option: &str) -> Option<f64> {
        self.options.get(option).and_then(Value::as_f64)
    }

    /// A whole number or whole bytes. `None` when it is unset.
    #[must_use]
    pub fn whole(&self, option: &str) -> Option<u64> {
        self.options.get(option).and_then(Value::as_u64)
    }

    /// A word. `None` when it is unset.
    #[must_use]
    pub fn word(&self, option: &str) -> Option<&str> {
        self.options.get(option).and_then(Value::as_str)
    }

    /// A switch; false when it is unset.
    #[must_use]
    pub fn is_on(&self, option: &str) -> bool {
        self.options.get(option).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// A turn that ends the operation with `output`.
///
/// # Errors
/// [`Failure`] when `output` has no JSON form.
pub fn finish(steps: Vec<crossvisor_model::Step>, output: impl Serialize) -> Result<Turn, Failure> {
    let output =
        serde_json::to_value(output).map_err(|e| Failure::new(format!("output has no JSON form: {e}")))?;
    Ok(Turn { steps, done: true, output, state: Value::Null })
}

/// Any plugin: a manifest and an answer to every request. Implemented by [`plugin!`](crate::plugin!).
pub trait Plugin {
    fn manifest() -> Manifest;
    /// The names of the manifest's offers; a request for another is refused before `answer` sees it.
    fn offers() -> &'static [Name];
    /// # Errors
    /// [`Failure`] as the operation has it, or for an operation of another kind of plugin.
    fn answer(chosen: &Chosen, call: &Call, resume: &Resume) -> Result<Turn, Failure>;
    /// The answer to an import, whose output may be large: it goes into the reply as it is.
    ///
    /// # Errors
    /// [`Failure`] of the plugin, or for a plugin that has nothing to import.
    fn import(_: &Chosen, _: &ImportInput) -> Result<ImportOutput, Failure> {
        Err(unknown_operation("plugin of this kind"))
    }
}
