//! The campaign: the program is killed at every point of a run, and must leave nothing behind and lose nothing.
//!
//! Owns the machine it runs on, the points, and how leaks, losses and wrong touches are found. It looks from outside
//! only: the program has no switch for it.

pub mod decoys;
pub mod guest;
pub mod kill;
pub mod machine;
pub mod point;
pub mod samples;
pub mod scene;
pub mod tally;
pub mod trial;

pub use kill::Killed;
pub use machine::Machine;
pub use point::Point;
pub use scene::Scene;
pub use tally::Tally;
pub use trial::{After, trial};
