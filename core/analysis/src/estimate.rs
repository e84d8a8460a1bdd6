//! What is known of a metric in a cell.
//!
//! Owns the difference between a number, a value that was too fast, and nothing. It must never let one pass
//! for another.

use serde::{Deserialize, Serialize};

use crate::Summary;

/// What the replicates of a cell say of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Estimate {
    /// Every value is a number.
    Measured { summary: Summary },
    /// Some values are numbers. `summary` is of the replicates in which every guest gave one; with `too_fast`
    /// values left out it is biased: the true mean is better than it.
    Partly { summary: Option<Summary>, too_fast: usize, missing: usize },
    /// Nothing but values that were too fast to measure.
    TooFast { too_fast: usize },
    /// No value at all.
    Missing { reasons: Vec<String> },
}

impl Estimate {
    /// The numbers, where there are any.
    #[must_use]
    pub fn summary(&self) -> Option<&Summary> {
        match self {
            Self::Measured { summary } => Some(summary),
            Self::Partly { summary, .. } => summary.as_ref(),
            Self::TooFast { .. } | Self::Missing { .. } => None,
        }
    }

    /// The numbers fit to be compared: none where values that were too fast are left out.
    #[must_use]
    pub fn comparable(&self) -> Option<&Summary> {
        match self {
            Self::Partly { too_fast: 1.., .. } => None,
            _ => self.summary(),
        }
    }

    /// How many values were too fast to measure.
    #[must_use]
    pub fn too_fast(&self) -> usize {
        match self {
            Self::Partly { too_fast, .. } | Self::TooFast { too_fast } => *too_fast,
            Self::Measured { .. } | Self::Missing { .. } => 0,
        }
    }
}
