//! What a report says beside its numbers: what failed, what is doubtful, what the words mean.
//!
//! Owns the wording, and that each reason and flag is said once. It must never know a format.

use crossvisor_analysis::verdict::LEVEL;
use crossvisor_analysis::{
    CellReport, Comparison, Estimate, MetricComparison, Overall, Problem, Row, WorkloadComparison,
};
use crossvisor_model::{Accel, Adaptive, Name, RunRecord, Share};
use serde::Serialize;

use crate::clean::{clean, one_line};
use crate::number;
use crate::places::{Place, grouped};
use crate::table::{Setups, baseline_name, is_compared};

/// The line that no reader may miss, where guests or the hosts themselves are emulated.
pub fn emulated(record: &RunRecord, comparison: &Comparison) -> Option<String> {
    let emulated = record.provenance.hosts.iter().filter(|(_, host)| host.outer_accel == Some(Accel::Tcg));
    let hosts: Vec<_> = emulated.map(|(name, _)| name.as_str()).collect();
    let hosts = hosts.join(", ");
    let who = match (comparison.emulated(), hosts.as_str()) {
        (false, "") => return None,
        (true, "") => "guests are emulated (accel: tcg)".to_string(),
        (false, hosts) => format!("hosts are emulated ({hosts})"),
        (true, hosts) => format!("guests are emulated (accel: tcg) and so are hosts ({hosts})"),
    };
    Some(format!("{who}: compare shapes, not figures"))
}

/// A text and where it holds.
#[derive(Serialize)]
pub struct Note {
    pub text: String,
    pub places: Vec<String>,
}

/// Each text once, in the order they come.
pub fn notes(said: impl Iterator<Item = (String, Place)>) -> Vec<Note> {
    let mut notes: Vec<(String, Vec<Place>)> = Vec::new();
    for (text, place) in said {
        match notes.iter_mut().find(|(known, _)| *known == text) {
            Some((_, places)) => places.push(place),
            None => notes.push((text, vec![place])),
        }
    }
    let note = |(text, places): (String, Vec<Place>)| Note { text, places: grouped(&places) };
    notes.into_iter().map(note).collect()
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
    if let Some(imported) = &record.provenance.imported {
        let results: usize = imported.files.iter().map(|file| file.results).sum();
        return format!("results of {} from elsewhere: {results} in {all} {}", imported.kind, plural(all));
    }
    let repeat = record.plan.repeat;
    let each = match record.plan.adaptive {
        Some(Adaptive { max, until }) => format!("{repeat} to {max} replicates (until ±{until})"),
        None if repeat == 1 => "1 replicate".to_string(),
        None => format!("{repeat} replicates"),
    };
    format!("scenario {}: {all} {}, {each} each{outcome}", record.plan.scenario, plural(all))
}

/// The notices of the run, what drifted, what is not precise enough, and that the run is not complete.
pub fn notices(record: &RunRecord, comparison: &Comparison) -> Vec<String> {
    let unfinished = "the run did not come to its end: cells are missing";
    let notices = record.notices.iter().map(|notice| one_line(notice));
    let own = drifts(comparison).into_iter().chain(imprecise(record, comparison));
    notices.chain(own).chain((!record.complete).then(|| unfinished.to_string())).collect()
}

/// Metrics that went up or down while the run went on.
fn drifts(comparison: &Comparison) -> Vec<String> {
    let said = |workload: &WorkloadComparison, metric: &MetricComparison| {
        let drift = metric.drift.filter(|drift| drift.p_holm <= LEVEL)?;
        let went = if drift.change < 0.0 { "fell" } else { "rose" };
        Some(format!(
            "{} {} {went} by {} % over the run (Kendall's tau {:.2} of {} blocks): something changed meanwhile; the \
             random order keeps it from favouring a setup",
            workload.workload,
            one_line(&metric.spec.name),
            number::percent(drift.change.abs()),
            drift.tau,
            drift.blocks,
        ))
    };
    let all = comparison.workloads.iter().flat_map(|w| w.metrics.iter().map(move |metric| (w, metric)));
    all.filter_map(|(workload, metric)| said(workload, metric)).collect()
}

/// How many headline values a run that asked for a precision has not brought to it.
fn imprecise(record: &RunRecord, comparison: &Comparison) -> Option<String> {
    let until = record.plan.adaptive?.until;
    let metrics = comparison.workloads.iter().flat_map(|workload| &workload.metrics);
    let rows = metrics.filter(|metric| metric.spec.headline).flat_map(|metric| &metric.rows);
    let (mut all, mut wide, mut most) = (0, 0, 0);
    for row in rows.filter(|row| row.estimate.comparable().is_some()) {
        all += 1;
        wide += usize::from(row.needed.is_some());
        most = most.max(row.needed.unwrap_or(0));
    }
    (wide > 0).then(|| {
        format!(
            "{wide} of {all} headline values are not within {until}: the widest takes about {most} replicates"
        )
    })
}

/// How each setup does over all its workloads.
pub fn overall(comparison: &Comparison) -> Vec<Note> {
    let setups = Setups::of(comparison);
    let name = baseline_name(&comparison.baseline);
    let note = |overall: &Overall| {
        let interval = overall.ratio.interval.map_or(String::new(), |interval| {
            format!(" ({}–{})", number::percent(interval.low), number::percent(interval.high))
        });
        let workloads: Vec<&str> = overall.workloads.iter().map(Name::as_str).collect();
        let setup = setups.label(&overall.axes);
        let percent = number::percent(overall.ratio.value);
        let text = format!(
            "{setup}: {percent} % of {name}{interval}, more being better: geometric mean over {}",
            workloads.join(", ")
        );
        Note { text, places: Vec::new() }
    };
    comparison.overall.iter().map(note).collect()
}

/// Why replicates failed or were not tried, by reason.
pub fn problems(comparison: &Comparison) -> Vec<Note> {
    let setups = Setups::of(comparison);
    let of_cell = |cell: &CellReport| {
        let said = |problem: &Problem| {
            let what = problem.phase.map_or("not tried".to_string(), |phase| format!("failed in {phase}"));
            let setup = format!("{} replicate {}", setups.label(&cell.axes), problem.replicate);
            (format!("{what}: {}", clean(&problem.reason)), of_workload(cell, setup, 0))
        };
        cell.problems.iter().map(said).collect::<Vec<_>>()
    };
    notes(comparison.workloads.iter().flat_map(|workload| &workload.cells).flat_map(of_cell))
}

/// Warnings of cells.
pub fn warnings(comparison: &Comparison) -> Vec<Note> {
    let setups = Setups::of(comparison);
    let cells = comparison.workloads.iter().flat_map(|w| w.cells.iter().map(|cell| (cell, w.cells.len())));
    notes(cells.flat_map(|(cell, all)| {
        let place = || of_workload(cell, setups.label(&cell.axes), all);
        cell.warnings.iter().map(|warning| (one_line(warning), place())).collect::<Vec<_>>()
    }))
}

fn of_workload(cell: &CellReport, setup: String, setups: usize) -> Place {
    Place { of: String::new(), what: cell.axes.workload.to_string(), setup, setups }
}

/// Reasons to doubt values, with the metrics they hold for.
pub fn flags(comparison: &Comparison) -> Vec<Note> {
    let has = |row: &Row| !row.replicates.is_empty();
    of_rows(comparison, has, |row, _| row.flags.iter().map(|flag| &flag.text).collect())
}

/// Values that are missing though no replicate of their cell failed, by reason.
pub fn missing(comparison: &Comparison) -> Vec<Note> {
    of_rows(
        comparison,
        |_| true,
        |row, cell| match &row.estimate {
            Estimate::Missing { reasons } if cell.problems.is_empty() => reasons.iter().collect(),
            _ => Vec::new(),
        },
    )
}

/// What `say` says of rows, metric by metric, where the setups of a metric are the rows that `has` it.
fn of_rows(
    comparison: &Comparison,
    has: fn(&Row) -> bool,
    say: for<'a> fn(&'a Row, &CellReport) -> Vec<&'a String>,
) -> Vec<Note> {
    let setups = Setups::of(comparison);
    let metrics = comparison.workloads.iter().flat_map(|w| w.metrics.iter().map(move |metric| (w, metric)));
    let mut said = Vec::new();
    for (workload, metric) in metrics {
        let all = metric.rows.iter().filter(|row| has(row)).count();
        for (row, cell) in metric.rows.iter().zip(&workload.cells) {
            let place = || Place {
                of: workload.workload.to_string(),
                what: one_line(&metric.spec.name),
                setup: setups.label(&row.axes),
                setups: all,
            };
            said.extend(say(row, cell).into_iter().map(|text| (one_line(text), place())));
        }
    }
    notes(said.into_iter())
}

/// The words of the tables.
pub fn legend(comparison: &Comparison) -> String {
    let mut rows = comparison.workloads.iter().flat_map(|w| &w.metrics).flat_map(|metric| &metric.rows);
    let two = rows.any(|row| row.estimate.summary().is_some_and(|summary| summary.n == 2));
    let compared = if is_compared(comparison) { verdicts(comparison) } else { String::new() };
    format!(
        "A setup is {} at once (on the bare host: copies of the work at once). n: replicates; each is the mean \
         over its guests. SD/E: standard deviation by mean. 95 %: interval of the mean by Student's t{}. \
         One replicate has no interval{}.{compared}",
        Setups::of(comparison).legend(),
        if is_compared(comparison) { "; of a percentage by the delta method on logarithms" } else { "" },
        if two { "; that of two is wide and may begin below 0" } else { "" }
    )
}

fn verdicts(comparison: &Comparison) -> String {
    let threshold = comparison.threshold.map_or(String::new(), |share| {
        format!(" and the difference at least {}; the same: it is less for certain", Share(share))
    });
    format!(
        " better, worse: p ≤ {} by Welch's t test, by Holm's correction over all headline metrics (over all others), \
         borne out by the interval and the rank test{threshold}; unclear: no difference shown; too few: not enough \
         data.",
        comparison.level
    )
}

/// What repeats the run.
pub fn repeat(record: &RunRecord) -> String {
    match &record.provenance.imported {
        Some(imported) => {
            let files: Vec<_> = imported.files.iter().map(|file| one_line(&file.name)).collect();
            format!("crossvisor import {} {}", imported.kind, files.join(" "))
        }
        None => format!("crossvisor run {}.yaml", record.plan.scenario),
    }
}
