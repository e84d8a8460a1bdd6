//! Statistics and comparison: what the samples of a run say, and how sure they are.
//!
//! Owns every number derived from samples. It must never do I/O, read a clock, or turn a value that was
//! too fast to measure into a number.

mod compare;
pub mod comparison;
pub mod estimate;
pub mod ratio;
pub mod summary;
#[cfg(test)]
mod tests;

pub use compare::compare;
pub use comparison::{
    Balance, CellReport, Comparison, Flag, InstanceValue, MetricComparison, Problem, Replicate, Row,
    WorkloadComparison,
};
pub use estimate::Estimate;
pub use ratio::Ratio;
pub use summary::{Interval, Summary};
