//! What the bundled backings have in common: the host's programs that more than one of them needs, and what these print.
//!
//! Owns the argument vectors of these programs and the reading of their output. It must never run one, and never know
//! which backing asks.

pub mod copy;
pub mod folder;
pub mod lvm;
pub mod modes;
mod results;
pub mod size;

pub use results::{printed, program};
