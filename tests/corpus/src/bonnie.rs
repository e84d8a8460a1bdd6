//! What the claims about bonnie++ files mean.
//!
//! Owns the words for stages, sizes and errors. It must never take a claim for right that no figure or text shows.

use crossvisor_model::Value;
use crossvisor_plugin::Imported;

use crate::offered::{measured, value};
use crate::verdict::{Kind, Verdict};
use crate::{Claim, Offered, Row};

/// Files of bonnie++.
pub struct Bonnie;

/// The stages by the names of the CSV heading.
const STAGES: [(&str, &str); 12] = [
    ("putc", "putc"),
    ("put_block", "write"),
    ("rewrite", "rewrite"),
    ("getc", "getc"),
    ("get_block", "read"),
    ("seeks", "seeks"),
    ("seq_create", "seq_create"),
    ("seq_stat", "seq_stat"),
    ("seq_del", "seq_del"),
    ("ran_create", "ran_create"),
    ("ran_stat", "ran_stat"),
    ("ran_del", "ran_del"),
];
const SEED: &str = "a seed is another in every run and would keep all results apart";
const EXIT: &str = "an exit status is not in the file";
const NO_RESULT: &str = "there is no result that could have a version";
const PROGRESS: &str = "how far a failed run came is in the text of its refusal, not as a number";
const CUT: &str = "the table cuts the name; that of the line is kept";

impl Kind for Bonnie {
    type Found = Offered;

    fn read(row: &Row, content: &[u8]) -> Offered {
        Offered::read("bonnie", row, content)
    }

    fn check(claim: &Claim, found: &Offered, _: &Row) -> Verdict {
        let results = of_subject(&claim.subject, found.results());
        match claim.key.as_str() {
            "runs" | "rows" | "results" | "platforms" => number_of(claim, found.results().len()),
            "status" if claim.subject == "exit" => Verdict::Cannot(EXIT),
            "status" => {
                Verdict::of(found.results().is_empty() && !found.refusals().is_empty(), found.refusals())
            }
            "error" | "errors" | "kind" | "text" | "stage" => is_said(&claim.value, &found.refusals()),
            "RAM" => is_said(&claim.value.replace(' ', ""), &found.refusals()),
            "completed" => Verdict::Cannot(PROGRESS),
            "seed" => Verdict::Cannot(SEED),
            "version" if found.results().is_empty() => Verdict::Cannot(NO_RESULT),
            "values" | "rates" => of_group(claim, &results),
            "" => of_text(claim, found),
            _ => any(&results, |result| of_result(claim, result)),
        }
    }
}

/// The results that the words before a key mean: `run2`, `run raid0#1`, `xen pv`; all where there are none.
fn of_subject<'a>(subject: &str, results: &'a [Imported]) -> Vec<&'a Imported> {
    let name = ["run", "row"].iter().find_map(|word| subject.strip_prefix(word)).unwrap_or(subject).trim();
    if let Ok(index) = name.parse::<usize>() {
        return results.iter().skip(index.saturating_sub(1)).take(1).collect();
    }
    if ["", "csv", "I/O", "file", "distinct"].contains(&name) {
        return results.iter().collect();
    }
    let (name, nth) =
        name.split_once('#').map_or((name, None), |(name, nth)| (name, nth.parse::<usize>().ok()));
    let machine = |result: &&Imported| result.machine.as_ref().is_some_and(|machine| machine.contains(name));
    let of_name: Vec<&Imported> = results.iter().filter(machine).collect();
    match nth {
        Some(nth) => of_name.into_iter().skip(nth.saturating_sub(1)).take(1).collect(),
        None => of_name,
    }
}

/// Right where one of the results is; else what the first has.
fn any(results: &[&Imported], check: impl Fn(&Imported) -> Verdict) -> Verdict {
    let verdicts: Vec<Verdict> = results.iter().map(|result| check(result)).collect();
    let best = verdicts.iter().find(|verdict| !matches!(verdict, Verdict::Wrong(_))).or(verdicts.first());
    best.cloned().unwrap_or_else(|| Verdict::Wrong("no such result".into()))
}

fn of_result(claim: &Claim, result: &Imported) -> Verdict {
    let setting = |name: &str| result.settings.get(name).map(String::as_str);
    let number = |name: &str| setting(name).and_then(|text| text.split(' ').next());
    let wanted = claim.value.split(' ').next().unwrap_or_default();
    match claim.key.as_str() {
        "size" => Verdict::of(mib(setting("size")) == mib(Some(wanted)), setting("size").unwrap_or("none")),
        "num_files" if wanted == "null" => Verdict::of(setting("files").is_none(), "files"),
        "num_files" => Verdict::text(wanted, number("files")),
        "max_size" | "max" if wanted == "symlink" => Verdict::text("symbolic links", setting("largest file")),
        "max_size" | "max" if wanted == "link" => Verdict::text("hard links", setting("largest file")),
        "max_size" | "max" => Verdict::text(wanted, number("largest file")),
        "min_size" | "min" => Verdict::text(wanted, number("smallest file")),
        "dirs" => Verdict::text(wanted, setting("directories")),
        "io_chunk_size" => Verdict::text(&claim.value, setting("chunk")),
        "concurrency" => Verdict::text(wanted, setting("concurrency")),
        "format" => Verdict::text(wanted, setting("format")),
        "fields" => Verdict::text(format_of(wanted), setting("format").map(family)),
        "name" => of_name(claim, result),
        "version" => Verdict::text(wanted, result.versions.get("bonnie++").map(String::as_str)),
        "cache" => Verdict::of(
            result.machine.as_ref().is_some_and(|name| name.contains(&claim.value)),
            "no such name",
        ),
        "seeks" if !claim.value.contains("/s") && wanted != "null" => Verdict::text(wanted, setting("seeks")),
        key => of_metric(claim, key, result),
    }
}

/// The versions that print this number of fields.
fn format_of(fields: &str) -> &'static str {
    match fields {
        "27" => "1",
        "45" => "1.90",
        "47" | "48" => "1.93",
        _ => "1.98",
    }
}

/// The first version that prints this format.
fn family(format: &str) -> &'static str {
    match format {
        "1" => "1",
        "2" | "1.90" | "1.91" | "1.92" => "1.90",
        format if format < "1.98" => "1.93",
        _ => "1.98",
    }
}

/// A name; an empty one may come from the table beside the line.
fn of_name(claim: &Claim, result: &Imported) -> Verdict {
    match (claim.value.trim_matches('"'), &result.machine) {
        ("", Some(machine)) => Verdict::of(claim.note.contains(machine.as_str()), machine),
        ("", None) => Verdict::Right,
        (wanted, machine) => Verdict::text(wanted, machine.as_deref()),
    }
}

fn of_metric(claim: &Claim, key: &str, result: &Imported) -> Verdict {
    let stage = key.trim_end_matches("_latency").trim_end_matches("_cpu");
    let Some((_, ours)) = STAGES.iter().find(|(name, _)| *name == stage) else {
        return Verdict::Wrong(format!("no check for '{key}'"));
    };
    let metric = key.replacen(stage, ours, 1);
    let found = value(result, &metric);
    match claim.value.as_str() {
        "null" if claim.note.contains("too fast") => {
            Verdict::of(found == Some(Value::TooFast), format!("{found:?}"))
        }
        "null" => Verdict::of(found.is_none(), format!("{found:?}")),
        "unknown" => Verdict::of(matches!(found, Some(Value::Missing(_))), format!("{found:?}")),
        _ => {
            let Some((number, unit)) = claim.number() else {
                return Verdict::Wrong(format!("no number in '{}'", claim.value));
            };
            let scale = match unit {
                "MiB/s" | "s" => 1024.0,
                "GiB/s" => 1024.0 * 1024.0,
                "us" => 1e-3,
                _ => 1.0,
            };
            let scale = if unit == "s" { 1e3 } else { scale };
            let speed = Verdict::number(number, measured(result, &metric).map(|found| found / scale));
            match claim.number_after("cpu") {
                Some(cpu) => speed.and(Verdict::number(cpu, measured(result, &format!("{metric}_cpu")))),
                None => speed,
            }
        }
    }
}

/// `I/O values=null`, `file rates=unknown`: all stages of a half.
fn of_group(claim: &Claim, results: &[&Imported]) -> Verdict {
    let stages = if claim.subject == "file" { &STAGES[6..] } else { &STAGES[..6] };
    any(results, |result| {
        stages.iter().fold(Verdict::Right, |all, (name, _)| all.and(of_metric(claim, name, result)))
    })
}

/// A claim without a key: `name(csv)=alpha`, `strip CR`.
fn of_text(claim: &Claim, found: &Offered) -> Verdict {
    let results: Vec<&Imported> = found.results().iter().collect();
    match claim.value.strip_prefix("name=") {
        Some(_) if claim.note == "table" => Verdict::Cannot(CUT),
        Some(name) => any(&results, |result| Verdict::text(name, result.machine.as_deref())),
        None if claim.value == "strip CR" => {
            let machine = |result: &Imported| result.machine.as_ref().is_some_and(|name| name.contains('\r'));
            Verdict::of(!found.results().iter().any(machine), "a carriage return")
        }
        None => Verdict::Wrong(format!("no check for '{}'", claim.value)),
    }
}

fn number_of(claim: &Claim, found: usize) -> Verdict {
    Verdict::text(&claim.value, Some(&found.to_string()))
}

/// Whether the refusals have most of the words.
fn is_said(words: &str, refusals: &str) -> Verdict {
    let refusals = refusals.to_lowercase();
    let letters = |c: char| !(c.is_alphanumeric() || "-/".contains(c));
    let words = words.to_lowercase();
    let long: Vec<&str> = words.split(letters).filter(|word| word.len() > 2).collect();
    let said = long.iter().filter(|word| refusals.contains(**word)).count();
    Verdict::of(!long.is_empty() && 2 * said >= long.len(), refusals)
}

/// A size in MiB: `2G`, `7400M`, `2 GiB`.
fn mib(text: Option<&str>) -> Option<u64> {
    let text = text?;
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    Some(if text[digits..].trim().starts_with('G') { number * 1024 } else { number })
}
