//! A sample: one measured value of a metric in one replicate on one guest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Accel, CellId};

/// One measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub cell: CellId,
    /// From 1.
    pub replicate: u32,
    /// The guest (on the bare host: the copy of the work), from 1.
    pub instance: u32,
    pub metric: Arc<str>,
    pub unit: Arc<str>,
    pub better: Better,
    #[serde(flatten)]
    pub value: Value,
    /// When the work ran, by the controller's clock; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// Share (0..=1) of this window during which every other instance of the cell was also at work, 1 when alone;
    /// `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// How the machine that did the work executes instructions.
    pub accel: Accel,
    /// Reasons to doubt the value, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A number in the sample's unit.
    Measured(f64),
    /// It ran, and the tool could not tell how fast (bonnie++ prints `+++++`): neither 0 nor infinite, never averaged.
    /// Flattened into a sample it is `"too_fast": null`.
    #[cfg_attr(feature = "schema", schemars(with = "()"))]
    TooFast,
    /// Not measured, and why.
    Missing(String),
}

impl Value {
    #[must_use]
    pub fn measured(&self) -> Option<f64> {
        match self {
            Self::Measured(value) => Some(*value),
            Self::TooFast | Self::Missing(_) => None,
        }
    }
}

/// The values of many metrics at once, each in its metric's unit; a metric is in one of the first three.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Values {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, f64>,
    /// See [`Value::TooFast`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub too_fast: BTreeSet<String>,
    /// Not measured, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// Reasons to doubt a metric's value, for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<String, Vec<String>>,
}

impl Values {
    /// Adds the value of a metric, or why there is none. A value stays, whatever else is said of its metric.
    pub fn put(&mut self, metric: &str, value: Result<f64, String>) {
        match value {
            Ok(value) => {
                self.missing.remove(metric);
                self.measured.insert(metric.into(), value);
            }
            Err(reason) if !self.measured.contains_key(metric) => {
                self.missing.insert(metric.into(), reason);
            }
            Err(_) => {}
        }
    }
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Higher,
    Lower,
    /// A description, not a score (CPU %).
    Neither,
}

/// A span of time in seconds since the run started, by the controller's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub start_s: f64,
    pub end_s: f64,
}

impl Window {
    #[must_use]
    pub fn length_s(self) -> f64 {
        (self.end_s - self.start_s).max(0.0)
    }

    /// The shortest that both are in.
    #[must_use]
    pub fn around(self, other: Self) -> Self {
        Self { start_s: self.start_s.min(other.start_s), end_s: self.end_s.max(other.end_s) }
    }

    /// The share (0..=1) of this window in which all `others` were at work too; 1 without others.
    #[must_use]
    pub fn overlap(self, others: &[Self]) -> f64 {
        let start = others.iter().fold(self.start_s, |latest, w| latest.max(w.start_s));
        let end = others.iter().fold(self.end_s, |first, w| first.min(w.end_s));
        if self.length_s() == 0.0 { 1.0 } else { ((end - start) / self.length_s()).clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_only_the_time_all_were_at_work() {
        let window = |start_s, end_s| Window { start_s, end_s };
        assert!((window(0.0, 10.0).overlap(&[]) - 1.0).abs() < 1e-12);
        assert!((window(0.0, 10.0).overlap(&[window(0.0, 5.0)]) - 0.5).abs() < 1e-12);
        assert!((window(0.0, 10.0).overlap(&[window(2.0, 12.0), window(0.0, 5.0)]) - 0.3).abs() < 1e-12);
        assert!(window(0.0, 1.0).overlap(&[window(2.0, 3.0)]).abs() < 1e-12);
    }

    #[test]
    fn a_metric_of_which_two_things_are_said_is_there_once() {
        let missing = || Err("no number".to_string());
        for said in [[Ok(1.0), missing()], [missing(), Ok(1.0)], [Ok(2.0), Ok(1.0)]] {
            let mut values = Values::default();
            said.into_iter().for_each(|value| values.put("write", value));
            assert_eq!((values.measured.get("write"), values.missing.len()), (Some(&1.0), 0));
        }
    }

    #[test]
    fn a_value_that_was_too_fast_is_never_a_number() {
        assert_eq!(serde_json::to_string(&Value::TooFast).ok().as_deref(), Some("\"too_fast\""));
        assert_eq!(Value::TooFast.measured(), None);
    }
}
