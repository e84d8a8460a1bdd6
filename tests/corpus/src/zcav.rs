//! What the claims about logs of zcav mean.
//!
//! Owns the words for positions and speeds. It must never take a claim for right that no figure shows.

use crossvisor_model::Value;
use crossvisor_plugin::Imported;

use crate::offered::{measured, value};
use crate::verdict::{Kind, Verdict};
use crate::{Claim, Offered, Row};

/// Logs of zcav.
pub struct Zcav;

const METRICS: [(&str, &str); 7] = [
    ("points", "parts"),
    ("min", "slowest"),
    ("max", "fastest"),
    ("mean", "mean"),
    ("average", "mean"),
    ("first", "first"),
    ("last", "last"),
];

impl Kind for Zcav {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("zcav", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        let name = claim.name();
        let all = at("all", found.results());
        if let Some(position) = name.strip_prefix("at ") {
            return of_part(claim, position, found.results());
        }
        if let Some((_, metric)) = METRICS.iter().find(|(word, _)| *word == name) {
            return of_value(claim, all, metric);
        }
        match name.as_str() {
            "loops" => {
                Verdict::text(&claim.value, all.and_then(|log| log.settings.get("loops")).map(String::as_str))
            }
            "version" => {
                Verdict::text(&claim.value, all.and_then(|log| log.versions.get("zcav")).map(String::as_str))
            }
            "" if claim.value.starts_with("unit is K/s") => {
                let first = all.and_then(|log| measured(log, "first"));
                Verdict::of(first.is_some_and(|speed| speed > 1000.0), format!("{first:?} KiB/s"))
            }
            _ => Verdict::Wrong(format!("no check for '{name}'")),
        }
    }
}

/// The result for a position: `600 MiB`, or `all`.
fn at<'a>(position: &str, results: &'a [Imported]) -> Option<&'a Imported> {
    results.iter().find(|result| result.settings.get("position").is_some_and(|said| said == position))
}

/// `at 600 MB=54979 K/s`, `at 0 MB speed=59758 K/s`, `at 0 MB time=1.71 s`.
fn of_part(claim: &Claim, position: &str, results: &[Imported]) -> Verdict {
    let mut words = position.split(' ');
    let (number, unit) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let unit = unit.replace("MB", "MiB").replace("GB", "GiB");
    let metric = if claim.key == "time" { "time" } else { "speed" };
    of_value(claim, at(&format!("{number} {unit}"), results), metric)
}

fn of_value(claim: &Claim, result: Option<&Imported>, metric: &str) -> Verdict {
    let Some(result) = result else {
        return Verdict::Wrong("no such part".into());
    };
    if claim.value == "null" {
        let found = value(result, metric);
        return Verdict::of(found == Some(Value::TooFast), format!("{found:?}"));
    }
    let Some((number, unit)) = claim.number() else {
        return Verdict::Wrong(format!("no number in '{}'", claim.value));
    };
    let scale = if unit == "MiB/s" { 1024.0 } else { 1.0 };
    Verdict::number(number, measured(result, metric).map(|found| found / scale))
}
