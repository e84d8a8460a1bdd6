//! From the text of a scenario to a plan: YAML → [`Scenario`] → [`crossvisor_model::Plan`].
//!
//! Owns the scenario language, the expansion of the matrix, the seeded order of the visits, and every error a
//! person can make in a scenario, each with its place and a suggestion. It must never read a file or a clock,
//! start a process, or ask a machine anything: what there is comes in as a catalogue and this machine's memory.

mod cells;
mod fit;
mod ground;
mod hosts;
mod measuring;
mod metrics;
mod options;
mod order;
mod parse;
mod plan;
mod precision;
mod problem;
mod reader;
mod scenario;
mod source;
mod suggest;
mod tree;
mod uses;

pub use fit::GUEST_OVERHEAD;
pub use parse::parse;
pub use plan::plan;
pub use problem::{MAX_PROBLEMS, Problem};
pub use scenario::{Guest, Scenario};
pub use source::{Span, Spanned};
