//! Results of bonnie++ that people kept, as the contract wants them.
//!
//! Owns the settings by which results are told apart, and how much of a piece is done with. It must never read a
//! figure.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crossvisor_plugin::model::Values;
use crossvisor_plugin::{ImportInput, ImportOutput, Imported, Refused};

use crate::cell::{FileSize, Files, Reading};
use crate::find::{Find, What, find};
use crate::lines::{Line, lines};
use crate::published;
use crate::record::{Readings, Record};
use crate::stage::STAGES;

/// A result that begins this many lines before the end of a piece is whole, and so is one that begins earlier.
const WHOLE: usize = 64;

/// What a piece of a file holds.
pub fn import(input: &ImportInput) -> ImportOutput {
    let lines = lines(&input.text);
    let mut found = find(&lines);
    found.extend(published::find(&lines));
    found.sort_by_key(|find| find.lines.start);
    let cut = if input.last { lines.len() } else { cut(&found, lines.len()) };
    let mut output = ImportOutput { used: end(&lines, cut), ..ImportOutput::default() };
    for find in found.into_iter().take_while(|find| find.lines.start < cut) {
        let line = lines[find.lines.start].number;
        match find.what {
            What::Result { record, warnings, .. } => output.results.push(imported(line, &record, warnings)),
            What::Refused(reason) => output.refused.push(Refused { line, reason }),
        }
    }
    output
}

fn end(lines: &[Line], count: usize) -> usize {
    count.checked_sub(1).map_or(0, |last| lines[last].end)
}

/// How many lines of a piece are done with: all but the last, and never a part of what was found.
fn cut(found: &[Find], lines: usize) -> usize {
    let open = found.iter().rev().scan(lines.saturating_sub(WHOLE), |cut, find| {
        if find.lines.end > *cut {
            *cut = (*cut).min(find.lines.start);
        }
        Some(*cut)
    });
    open.last().unwrap_or(lines.saturating_sub(WHOLE))
}

fn imported(line: usize, record: &Record, warnings: Vec<String>) -> Imported {
    Imported {
        line,
        machine: record.machine.clone(),
        settings: settings(record),
        values: values(&record.stages),
        warnings,
        versions: versions(record),
    }
}

/// The version of the tool where the output says it.
pub fn versions(record: &Record) -> BTreeMap<String, String> {
    record.version.iter().map(|version| ("bonnie++".into(), version.clone())).collect()
}

/// What must be the same for two results to be compared.
fn settings(record: &Record) -> BTreeMap<String, String> {
    let setup = &record.setup;
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let files = setup.files.unwrap_or_default();
    let size = |size: Option<FileSize>| match size? {
        FileSize::Bytes(bytes) => Some(format!("{bytes} B")),
        FileSize::Link => Some("hard links".into()),
        FileSize::Symlink => Some("symbolic links".into()),
    };
    let said = [
        ("characters", record.characters().map(String::from)),
        ("chunk", setup.chunk_bytes.map(|bytes| scaled(bytes, "B", "KiB"))),
        ("concurrency", number(setup.concurrency)),
        ("directories", number(files.directories)),
        ("largest file", size(files.max)),
        ("smallest file", files.min.map(|bytes| format!("{bytes} B"))),
        ("files", setup.files.map(|Files { number, .. }| format!("{number} x 1024"))),
        ("format", record.format.clone()),
        ("seekers", number(record.seekers())),
        ("seeks", number(setup.seeks)),
        ("size", setup.size_mib.map(|mib| scaled(mib, "MiB", "GiB"))),
    ];
    said.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// A number of units, or of the 1024 times larger ones where it is a whole number of them.
fn scaled(number: u64, unit: &str, larger: &str) -> String {
    if number > 0 && number % 1024 == 0 {
        format!("{} {larger}", number / 1024)
    } else {
        format!("{number} {unit}")
    }
}

/// A metric, the stage it belongs to, and which of the stage's readings it is.
type Metric = (String, usize, fn(&Readings) -> Reading);

/// All metrics in the order of their names, which maps are built from fastest.
fn metrics() -> &'static [Metric] {
    static METRICS: OnceLock<Vec<Metric>> = OnceLock::new();
    METRICS.get_or_init(|| {
        let of_stage = STAGES.iter().enumerate().flat_map(|(index, stage)| {
            let speed: Metric = (stage.name.into(), index, |readings| readings.speed);
            let cpu: Metric = (stage.cpu(), index, |readings| readings.cpu);
            let latency: Metric = (stage.latency(), index, |readings| readings.latency);
            [speed, cpu, latency]
        });
        let mut metrics: Vec<Metric> = of_stage.collect();
        metrics.sort_by(|one, other| one.0.cmp(&other.0));
        metrics
    })
}

fn values(stages: &[Readings]) -> Values {
    let all = || metrics().iter().map(|(name, stage, reading)| (name, reading(&stages[*stage])));
    let measured = |(name, reading): (&String, Reading)| match reading {
        Reading::Measured(value) => Some((name.clone(), value)),
        _ => None,
    };
    let missing = |(name, reading): (&String, Reading)| match reading {
        Reading::Unknown(reason) => Some((name.clone(), reason.to_string())),
        _ => None,
    };
    let too_fast = |(name, reading): (&String, Reading)| (reading == Reading::TooFast).then(|| name.clone());
    Values {
        measured: all().filter_map(measured).collect(),
        too_fast: all().filter_map(too_fast).collect(),
        missing: all().filter_map(missing).collect(),
        flags: BTreeMap::new(),
    }
}
