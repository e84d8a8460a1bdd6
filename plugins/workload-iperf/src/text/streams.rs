//! The streams of one direction, as one end counts them.
//!
//! Owns the choice of the rows that are totals and their sum. It must never make a sum of some of the streams.

use std::collections::BTreeMap;

use crate::detail::Detail;
use crate::report::Total;
use crate::text::row::{Id, Row};

/// A printed sum has three digits, and so has each of its parts.
const ROUNDING: f64 = 0.015;
/// Streams of one test end together but for this share of the time.
const TOGETHER: f64 = 0.1;
/// Rows meet, in seconds.
const MEET_S: f64 = 0.05;

/// What one end counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    pub total: Total,
    /// 0: only a sum was printed.
    pub streams: usize,
    pub spread: Option<[f64; 2]>,
    pub details: BTreeMap<Detail, f64>,
    pub flags: Vec<String>,
    pub notes: Vec<String>,
}

/// Counts the rows of one end.
///
/// # Errors
/// Why they are no whole: a stream without its total, none at all, or nothing that was transferred.
pub fn count(rows: &[&Row], expected: usize) -> Result<Counted, String> {
    let mut of_id: BTreeMap<&Id, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| of_id.entry(&row.id).or_default().push(row));
    let sum = of_id.remove(&Id::Sum).and_then(|rows| total_of(&rows).ok());
    of_id.remove(&Id::Both);
    let streams = of_id.len();
    let mut totals = Vec::new();
    let mut open = None;
    for rows in of_id.values() {
        match total_of(rows) {
            Ok(total) => totals.push(total),
            Err(reason) => open = open.or(Some(reason)),
        }
    }
    let of = streams.max(expected);
    let counted = match (totals.as_slice(), sum) {
        ([], Some(sum)) if streams == 0 => Counted::of(sum, &[sum], 0, Vec::new()),
        _ if totals.len() < of => {
            let reason = open.unwrap_or_else(|| "its row is not there".into());
            return Err(format!(
                "expected a total for each of {of} streams, found {}: {reason}",
                totals.len()
            ));
        }
        ([], _) => return Err("expected rows with a rate, found none".into()),
        ([only], _) => Counted::of(only, &totals, 1, Vec::new()),
        (all, sum) => several(all, sum),
    };
    match counted.total.bytes.is_some_and(|bytes| bytes > 0.0) {
        true => Ok(counted),
        false => Err("expected data, found 0 bytes".into()),
    }
}

/// The row over the whole time.
fn total_of<'r>(rows: &[&'r Row]) -> Result<&'r Row, String> {
    let end = rows.iter().fold(0.0_f64, |end, row| end.max(row.end_s));
    let from_start = rows.iter().rev().find(|row| row.start_s < MEET_S && row.end_s >= end - MEET_S);
    from_start.copied().ok_or_else(|| format!("only intervals up to {end} s are there"))
}

fn several(all: &[&Row], sum: Option<&Row>) -> Counted {
    let mut flags = Vec::new();
    let ends = || all.iter().map(|row| row.end_s);
    let (first, last) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    if first < (1.0 - TOGETHER) * last {
        flags.push(format!("its streams ran for different times: {first} s to {last} s"));
    }
    let bytes: f64 = all.iter().map(|row| row.bytes).sum();
    let fits = |sum: &&Row| (sum.bytes - bytes).abs() <= ROUNDING * bytes;
    let mut counted = match (sum.filter(fits), sum) {
        (Some(sum), _) => Counted::of(sum, all, all.len(), flags),
        (None, other) => {
            let printed =
                if other.is_some() { "the sum that was printed is not theirs" } else { "no sum was printed" };
            let mut counted = Counted::of(all[0], all, all.len(), flags);
            counted.notes.push(format!("added up from {} streams; {printed}", all.len()));
            counted
        }
    };
    if sum.filter(fits).is_none() {
        let bits_per_second = all.iter().map(|row| row.bits_per_second).sum();
        counted.total = Total { seconds: last, bytes: Some(bytes), bits_per_second };
    }
    counted
}

impl Counted {
    fn of(total: &Row, parts: &[&Row], streams: usize, flags: Vec<String>) -> Self {
        let rates = || parts.iter().map(|row| row.bits_per_second);
        let spread = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
        Self {
            total: Total {
                seconds: total.end_s - total.start_s,
                bytes: Some(total.bytes),
                bits_per_second: total.bits_per_second,
            },
            streams,
            spread: (parts.len() > 1).then_some(spread),
            details: details(parts.iter().map(|row| row.details.as_slice())),
            flags,
            notes: Vec::new(),
        }
    }
}

/// The details of several streams as one; a detail that is not known of all of them is left out.
pub fn details<'d>(parts: impl Iterator<Item = &'d [(Detail, f64)]>) -> BTreeMap<Detail, f64> {
    let parts: Vec<_> = parts.collect();
    let together = |detail: &Detail| {
        let values: Option<Vec<f64>> = parts
            .iter()
            .map(|part| part.iter().find(|(known, _)| known == detail).map(|(_, value)| *value))
            .collect();
        let values = values.filter(|values| !values.is_empty())?;
        #[allow(clippy::cast_precision_loss)] // a number of streams
        let count = values.len() as f64;
        let value = match detail {
            Detail::Window => values.into_iter().fold(0.0, f64::max),
            _ if detail.adds_up() => values.iter().sum(),
            _ => values.iter().sum::<f64>() / count,
        };
        Some((*detail, value))
    };
    Detail::ALL.iter().filter_map(together).collect()
}
