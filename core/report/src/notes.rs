//! What a report says beside its numbers: what failed, what is doubtful, what the words mean.
//!
//! Owns the grouping of reasons and flags, so that each is said once. It must never know a format.

use crossvisor_analysis::{CellReport, Comparison, Estimate, Row};
use crossvisor_model::RunRecord;
use serde::Serialize;

use crate::clean::{clean, one_line};
use crate::table::Setups;

/// The line that no reader may miss.
pub const EMULATED: &str = "emulated (accel: tcg): compare shapes, not figures";

/// A text and the places it holds for.
#[derive(Serialize)]
pub struct Note {
    pub text: String,
    pub places: Vec<String>,
}

fn add(notes: &mut Vec<Note>, text: String, place: &str) {
    let place = one_line(place);
    match notes.iter_mut().find(|note| note.text == text) {
        Some(note) if note.places.contains(&place) => {}
        Some(note) => note.places.push(place),
        None => notes.push(Note { text, places: vec![place] }),
    }
}

/// `quickstart: 18 cells, 2 replicates each, 1 cell failed`
pub fn headline(record: &RunRecord, comparison: &Comparison) -> String {
    let cells = || comparison.workloads.iter().flat_map(|workload| &workload.cells);
    let failed = cells().filter(|cell| !cell.problems.is_empty()).count();
    let plural = |count: usize| if count == 1 { "cell" } else { "cells" };
    let outcome = match failed {
        0 => String::new(),
        _ => format!(", {failed} {} with failures", plural(failed)),
    };
    let all = cells().count();
    let repeat = record.plan.repeat;
    let each = if repeat == 1 { "1 replicate".to_string() } else { format!("{repeat} replicates") };
    format!("scenario {}: {all} {}, {each} each{outcome}", record.plan.scenario, plural(all))
}

/// The notices of the run, and that it is not complete.
pub fn notices(record: &RunRecord) -> Vec<String> {
    let unfinished = "the run did not come to its end: cells are missing";
    let notices = record.notices.iter().map(|notice| one_line(notice));
    notices.chain((!record.complete).then(|| unfinished.to_string())).collect()
}

/// Why replicates failed or were not tried, by reason.
pub fn problems(comparison: &Comparison) -> Vec<Note> {
    let mut notes = Vec::new();
    for cell in comparison.workloads.iter().flat_map(|workload| &workload.cells) {
        for problem in &cell.problems {
            let what = problem.phase.map_or("not tried".to_string(), |phase| format!("failed in {phase}"));
            let place = format!("{} replicate {}", cell.cell, problem.replicate);
            add(&mut notes, format!("{what}: {}", clean(&problem.reason)), &place);
        }
    }
    notes
}

/// Every row of every metric, with its cell and its name for people: `disk kvm-virtio/file/2 write`.
fn rows(comparison: &Comparison) -> impl Iterator<Item = (String, &Row, &CellReport)> {
    let setups = Setups::of(comparison);
    let metrics = comparison.workloads.iter().flat_map(|w| w.metrics.iter().map(move |metric| (w, metric)));
    let rows =
        metrics.flat_map(|(w, metric)| metric.rows.iter().zip(&w.cells).map(move |pair| (metric, pair)));
    rows.map(move |(metric, (row, cell))| {
        let place = format!("{} {} {}", row.axes.workload, setups.label(&row.axes), metric.spec.name);
        (place, row, cell)
    })
}

/// Reasons to doubt values, with the metrics they hold for.
pub fn flags(comparison: &Comparison) -> Vec<Note> {
    let mut notes = Vec::new();
    for (place, row, _) in rows(comparison) {
        row.flags.iter().for_each(|flag| add(&mut notes, one_line(&flag.text), &place));
    }
    notes
}

/// Values that are missing though no replicate of their cell failed, by reason.
pub fn missing(comparison: &Comparison) -> Vec<Note> {
    let mut notes = Vec::new();
    for (place, row, _) in rows(comparison).filter(|(_, _, cell)| cell.problems.is_empty()) {
        if let Estimate::Missing { reasons } = &row.estimate {
            reasons.iter().for_each(|reason| add(&mut notes, one_line(reason), &place));
        }
    }
    notes
}

/// Warnings of cells.
pub fn warnings(comparison: &Comparison) -> Vec<Note> {
    let mut notes = Vec::new();
    for cell in comparison.workloads.iter().flat_map(|workload| &workload.cells) {
        for warning in &cell.warnings {
            add(&mut notes, one_line(warning), &cell.cell.0);
        }
    }
    notes
}

/// The words of the tables.
pub fn legend(comparison: &Comparison) -> String {
    format!(
        "A setup is {} at once (on the bare host: copies of the work at once). n: replicates; each is the mean \
         over its guests. SD/E: standard deviation by mean. 95 %: interval of the mean by Student's t; of a \
         percentage by the delta method on logarithms. One replicate has no interval.",
        Setups::of(comparison).legend()
    )
}

/// What repeats the run.
pub fn repeat(record: &RunRecord) -> String {
    format!("crossvisor run {}.yaml", record.plan.scenario)
}
