//! Makes a recording, span by span.
//!
//! Owns that every series has one value for each span, known or not. It must never know what is recorded.

use std::collections::BTreeMap;

use crossvisor_model::{Recording, Series};

/// The most spans of a recording: half a day of seconds. Longer ones have several spans made one.
const MOST: usize = 43_200;

/// A recording that grows.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    at_s: Vec<f64>,
    series: Vec<Series>,
    index: BTreeMap<String, usize>,
}

impl Recorder {
    /// Begins the span that ends at `at_s`; false, and no span, where that is not after the last.
    #[must_use]
    pub fn span(&mut self, at_s: f64) -> bool {
        let after = at_s.is_finite() && at_s > self.at_s.last().copied().unwrap_or(0.0);
        if after {
            self.at_s.push(at_s);
            self.series.iter_mut().for_each(|series| series.values.push(None));
        }
        after
    }

    /// The value of a series in the last span; before the first span, and for what is no number, nothing.
    pub fn put(&mut self, name: &str, unit: &str, value: f64) {
        let spans = self.at_s.len();
        if spans == 0 || !value.is_finite() {
            return;
        }
        let index = *self.index.entry(name.into()).or_insert_with(|| {
            let values = vec![None; spans];
            self.series.push(Series { name: name.into(), unit: unit.into(), values });
            self.series.len() - 1
        });
        self.series[index].values[spans - 1] = Some(value);
    }

    /// The recording, without series of which `keep` does not want any.
    #[must_use]
    pub fn finish(self, warnings: Vec<String>, keep: impl Fn(&Series) -> bool) -> Recording {
        let Self { at_s, series, .. } = self;
        let together = at_s.len().div_ceil(MOST).max(1);
        let series = series.into_iter().filter(keep).map(|series| merged(series, &at_s, together)).collect();
        let at_s = at_s.chunks(together).filter_map(|ends| ends.last().copied()).collect();
        Recording { at_s, series, warnings }
    }
}

/// A series in which so many spans are one: the mean by time of those that are known.
fn merged(series: Series, at_s: &[f64], together: usize) -> Series {
    if together == 1 {
        return series;
    }
    let starts = std::iter::once(0.0).chain(at_s.iter().copied());
    let lengths: Vec<f64> = starts.zip(at_s).map(|(start, end)| end - start).collect();
    let mean = |(values, lengths): (&[Option<f64>], &[f64])| {
        let known = || values.iter().zip(lengths).filter_map(|(value, length)| Some(((*value)?, length)));
        let total: f64 = known().map(|(_, length)| length).sum();
        (total > 0.0).then(|| known().map(|(value, length)| value * length).sum::<f64>() / total)
    };
    let values = series.values.chunks(together).zip(lengths.chunks(together)).map(mean).collect();
    Series { values, ..series }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_a_value_for_each_span() {
        let mut recorder = Recorder::default();
        recorder.put("early", "%", 1.0);
        assert!(recorder.span(1.0));
        recorder.put("a", "%", 1.0);
        assert!(!recorder.span(1.0) && !recorder.span(f64::NAN));
        assert!(recorder.span(2.5));
        recorder.put("b", "%", 2.0);
        recorder.put("a", "%", f64::NAN);
        let recording = recorder.finish(Vec::new(), |_| true);
        let values: Vec<_> = recording.series.iter().map(|s| (s.name.as_str(), s.values.clone())).collect();
        assert_eq!(recording.at_s, [1.0, 2.5]);
        assert_eq!(values, [("a", vec![Some(1.0), None]), ("b", vec![None, Some(2.0)])]);
    }

    #[test]
    fn a_long_recording_has_spans_made_one() {
        let mut recorder = Recorder::default();
        for second in 1..=MOST + 1 {
            assert!(recorder.span(second as f64));
            recorder.put("a", "%", if second % 2 == 0 { 3.0 } else { 1.0 });
        }
        let recording = recorder.finish(Vec::new(), |_| true);
        assert_eq!(recording.at_s.len(), MOST / 2 + 1);
        assert_eq!((recording.at_s[0], recording.series[0].values[0]), (2.0, Some(2.0)));
        assert_eq!(recording.at_s.last(), Some(&((MOST + 1) as f64)));
    }
}
