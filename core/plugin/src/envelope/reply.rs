//! What a plugin answers.

use crossvisor_model::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a plugin answers: to an operation with a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reply<T = Turn> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = super::VERSION)))]
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
