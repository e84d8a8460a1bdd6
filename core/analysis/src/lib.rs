//! Statistics and comparison: what the samples of a run say, and how sure they are.
//!
//! Owns every number derived from samples. It must never do I/O, read a clock, or turn a value that was
//! too fast to measure into a number.

pub mod across;
pub mod balance;
pub mod bootstrap;
mod compare;
pub mod comparison;
pub mod drift;
pub mod estimate;
mod holm;
mod index;
mod judge;
mod outliers;
pub mod overall;
mod ranks;
pub mod ratio;
pub mod repeats;
mod rows;
pub mod scaling;
pub mod summary;
mod suspect;
#[cfg(test)]
mod tests;
mod unlike;
pub mod verdict;
mod welch;

pub use across::{Across, CellAcross, Lone, MetricAcross, RunAcross, across};
pub use balance::Balance;
pub use compare::compare;
pub use comparison::{
    CellReport, Comparison, Flag, InstanceValue, MetricComparison, Problem, Replicate, Row,
    WorkloadComparison,
};
pub use drift::Drift;
pub use estimate::Estimate;
pub use holm::holm;
pub use outliers::is_outlier;
pub use overall::Overall;
pub use ranks::{RankTables, RankTest};
pub use ratio::Ratio;
pub use scaling::{Scaling, ScalingPoint};
pub use summary::{Interval, Summary};
pub use verdict::{Lack, Tests, Unshown, Verdict};
pub use welch::{Welch, hedges_g};
