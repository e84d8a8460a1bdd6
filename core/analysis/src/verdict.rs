//! What may be said of a cell beside its baseline.
//!
//! Owns the words and when each is due. It must never call a difference from one sample, nor one that the interval
//! beside it does not bear out.

use crossvisor_model::Better;
use serde::{Deserialize, Serialize};

use crate::{RankTest, Ratio, Welch};

/// The chance of a false call in the whole family of comparisons that is put up with.
pub const LEVEL: f64 = 0.05;
/// The same in a run that stopped repeating when its intervals were narrow: those that are narrow by chance stop
/// first, so that tests at this level have about [`LEVEL`] of false calls.
pub const LEVEL_ADAPTIVE: f64 = 0.03;

/// Better, worse, or why neither can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", content = "reason", rename_all = "snake_case")]
pub enum Verdict {
    Better,
    Worse,
    NoDifferenceShown(Unshown),
    NotEnoughData(Lack),
}

/// Why no difference is shown although there are data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unshown {
    /// Chance alone makes such a difference too often.
    MayBeChance,
    /// The whole interval lies within the threshold: a difference that matters is ruled out.
    WithinThreshold,
    /// There is a difference, smaller than the threshold.
    BelowThreshold,
    /// The means differ, the order of the values does not bear it out: a few values make the difference.
    FewValues,
    /// Every value is the same on both sides.
    AllSame,
    /// Both sides were too fast to measure.
    BothTooFast,
}

/// What is missing for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// One side has no value.
    NoValue,
    /// One side has a single replicate.
    OneReplicate,
    /// Some guests of a replicate were too fast to measure and others were not: it has no place among the others.
    PartlyTooFast,
    /// So few replicates that no order of them could show a difference, and only their order is known.
    TooFewForRanks,
}

/// The tests of a cell against its baseline; the cell is the first list in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tests {
    /// `None` without two numbers on each side, without any spread, and with values that were too fast.
    pub welch: Option<Welch>,
    /// Values that were too fast lie beyond all that were measured.
    pub ranks: Option<RankTest>,
    /// The p value that counts, adjusted for all comparisons of the report: of `welch`, else of `ranks`.
    pub p_holm: Option<f64>,
    /// Of the numbers; positive where the cell's are greater.
    pub hedges_g: Option<f64>,
}

/// The rules of one report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub level: f64,
    /// As a share of the baseline.
    pub threshold: Option<f64>,
}

impl Tests {
    /// The p value that is adjusted.
    pub(crate) fn p(&self) -> Option<f64> {
        self.welch.map(|welch| welch.p).or_else(|| self.ranks.map(|ranks| ranks.p))
    }
}

impl Rules {
    /// The verdict once the p value is adjusted.
    pub(crate) fn verdict(&self, tests: &Tests, ratio: Option<Ratio>, better: Better) -> Verdict {
        let ranks_can = tests.ranks.filter(|ranks| ranks.least_p <= self.level);
        if tests.welch.is_none() && ranks_can.is_none() {
            return Verdict::NotEnoughData(Lack::TooFewForRanks);
        }
        if self.is_within(ratio) {
            return Verdict::NoDifferenceShown(Unshown::WithinThreshold);
        }
        let interval = ratio.and_then(|ratio| ratio.interval);
        let by_chance = tests.p_holm.is_none_or(|p| p > self.level);
        if by_chance || interval.is_some_and(|i| i.low <= 1.0 && 1.0 <= i.high) {
            return Verdict::NoDifferenceShown(Unshown::MayBeChance);
        }
        if ranks_can.is_some_and(|ranks| ranks.p > self.level) {
            return Verdict::NoDifferenceShown(Unshown::FewValues);
        }
        let distance = ratio.map(|ratio| (ratio.value - 1.0).abs());
        if distance.zip(self.threshold).is_some_and(|(distance, least)| distance < least) {
            return Verdict::NoDifferenceShown(Unshown::BelowThreshold);
        }
        let by_ranks = tests.ranks.is_some_and(|ranks| ranks.cliffs_delta > 0.0);
        let greater = tests.welch.map_or(by_ranks, |welch| welch.t > 0.0);
        if greater == (better == Better::Higher) { Verdict::Better } else { Verdict::Worse }
    }

    fn is_within(&self, ratio: Option<Ratio>) -> bool {
        let interval = ratio.and_then(|ratio| ratio.interval);
        interval.zip(self.threshold).is_some_and(|(interval, least)| {
            least > 0.0 && interval.low > 1.0 - least && interval.high < 1.0 + least
        })
    }
}
