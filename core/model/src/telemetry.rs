//! Telemetry: what machines did while they were measured, second by second, and what comes of it in a report.

use serde::{Deserialize, Serialize};

use crate::{CellId, Name, Place, Window};

/// What one source told, reading by reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recording {
    /// The ends of the spans that the values are of, in seconds since the source started, ascending. The first span
    /// begins where the source started.
    pub at_s: Vec<f64>,
    pub series: Vec<Series>,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One quantity over the spans of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// `cpu steal`, `disk vda r/s`, `guest 1 cpu`.
    pub name: String,
    /// `%`, `KiB/s`, `ms` …
    pub unit: String,
    /// One for each span, the mean over it or, of a level, the value at its end; null where it is not known.
    pub values: Vec<Option<f64>>,
}

/// A recording as a run keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    pub cell: CellId,
    /// From 1.
    pub replicate: u32,
    pub place: Place,
    /// The offer that it is of, and the name of the source within it.
    pub offer: Name,
    pub source: Name,
    /// When the source started, in seconds since the run started.
    pub start_s: f64,
    pub recording: Recording,
}

/// A recording in few numbers: a line of `telemetry.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TelemetrySummary {
    pub cell: CellId,
    /// From 1.
    pub replicate: u32,
    pub place: Place,
    pub offer: Name,
    pub source: Name,
    pub series: Vec<SeriesSummary>,
}

/// A series while its cell was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesSummary {
    pub name: String,
    pub unit: String,
    /// Of the spans, each weighed by the time of it that was measured.
    pub mean: f64,
    /// Of every span that was measured in part.
    pub max: f64,
}

impl Telemetry {
    /// What it says of the time that was measured; series without a known value in it are left out.
    #[must_use]
    pub fn summary(&self, measured: &[Window]) -> TelemetrySummary {
        let ends = &self.recording.at_s;
        let starts = std::iter::once(&0.0).chain(ends);
        let weights: Vec<f64> =
            starts.zip(ends).map(|(&from, &to)| self.weight(from, to, measured)).collect();
        TelemetrySummary {
            cell: self.cell.clone(),
            replicate: self.replicate,
            place: self.place,
            offer: self.offer.clone(),
            source: self.source.clone(),
            series: self.recording.series.iter().filter_map(|series| series.summary(&weights)).collect(),
        }
    }

    /// Seconds of a span that were measured.
    fn weight(&self, from_s: f64, to_s: f64, measured: &[Window]) -> f64 {
        let (from, to) = (self.start_s + from_s, self.start_s + to_s);
        measured.iter().map(|window| (to.min(window.end_s) - from.max(window.start_s)).max(0.0)).sum()
    }
}

impl Series {
    fn summary(&self, weights: &[f64]) -> Option<SeriesSummary> {
        let known = || {
            let values = self.values.iter().zip(weights);
            values
                .filter_map(|(value, weight)| Some(((*value)?, *weight)))
                .filter(|(value, weight)| value.is_finite() && *weight > 0.0)
        };
        let total: f64 = known().map(|(_, weight)| weight).sum();
        let max = known().map(|(value, _)| value).reduce(f64::max)?;
        let mean = known().map(|(value, weight)| value * weight).sum::<f64>() / total;
        Some(SeriesSummary { name: self.name.clone(), unit: self.unit.clone(), mean, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telemetry(values: &[Option<f64>]) -> Result<Telemetry, crate::NameError> {
        let series = Series { name: "cpu user".into(), unit: "%".into(), values: values.to_vec() };
        Ok(Telemetry {
            cell: CellId("here/bare/-/1/pi".into()),
            replicate: 1,
            place: Place::Host,
            offer: Name::new("system")?,
            source: Name::new("system")?,
            start_s: 10.0,
            recording: Recording { at_s: vec![1.0, 2.0, 4.0], series: vec![series], warnings: Vec::new() },
        })
    }

    #[test]
    fn spans_count_by_the_time_of_them_that_was_measured() -> Result<(), crate::NameError> {
        let window = |start_s, end_s| Window { start_s, end_s };
        let of = |values: &[Option<f64>], windows: &[Window]| -> Result<_, crate::NameError> {
            let summary = telemetry(values)?.summary(windows);
            // The ends of windows are sums of seconds: the last digits are not exact.
            Ok(summary.series.first().map(|series| ((series.mean * 1e6).round() / 1e6, series.max)))
        };
        let values = [Some(100.0), Some(50.0), Some(20.0)];
        assert_eq!(of(&values, &[window(11.0, 14.0)])?, Some((30.0, 50.0)));
        assert_eq!(of(&values, &[window(11.5, 12.5)])?, Some((35.0, 50.0)));
        assert_eq!(of(&values, &[window(10.2, 10.3), window(13.0, 13.1)])?, Some((60.0, 100.0)));
        assert_eq!(of(&[None, Some(50.0), Some(f64::NAN)], &[window(10.0, 14.0)])?, Some((50.0, 50.0)));
        assert_eq!(of(&values, &[window(20.0, 30.0)])?, None);
        assert_eq!(of(&values, &[])?, None);
        Ok(())
    }
}
