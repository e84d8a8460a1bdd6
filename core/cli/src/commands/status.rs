//! `crossvisor status`: how far a run is, and when it will be through.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crossvisor_model::{CellStatus, Outcome, RunRecord, Stamped};
use crossvisor_store::{is_written, lines, RunDirectory};
use serde::Serialize;

use crate::arguments::Status;
use crate::exit::Failure;
use crate::output::{self, long_line};
use crate::progress::{time, Track};

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Going,
    /// It came to its end.
    Ended,
    /// It did not, and no process of this machine writes it.
    Stopped,
    Imported,
}

/// A run as it stands.
#[derive(Debug, Serialize)]
struct Standing {
    run: String,
    scenario: String,
    state: State,
    /// What happens now.
    now: Option<String>,
    good: usize,
    failed: usize,
    skipped: usize,
    visits: usize,
    visits_done: usize,
    /// Since the run started, without the time in which it did not go on; of a run that goes on until now.
    elapsed_s: f64,
    /// Expected; `None` where nothing is left, or nothing is known yet.
    left_s: Option<f64>,
    /// RFC 3339, UTC.
    expected_end: Option<String>,
    failures: Vec<String>,
}

/// # Errors
/// [`Failure`] when it is no run directory or cannot be read.
pub fn execute(asked: &Status) -> Result<(), Failure> {
    let standing = standing(&asked.run, SystemTime::now())?;
    output::show(|out| {
        if asked.json {
            serde_json::to_writer_pretty(&mut *out, &standing)?;
            return writeln!(out);
        }
        text(&standing, &asked.run).iter().try_for_each(|line| writeln!(out, "{}", long_line(line)))
    })
}

fn standing(run: &Path, now: SystemTime) -> Result<Standing, Failure> {
    // Asked first: a run that ends meanwhile has then written its last event.
    let written = is_written(run)?;
    let record = RunDirectory::read(run)?;
    let events = run.join("events.jsonl");
    let (mut track, mut last_s) = (Track::default(), 0.0_f64);
    lines::each(&events, &mut Vec::new(), |stamped: Stamped| {
        last_s = last_s.max(stamped.at_s);
        track.event(&stamped);
    })?;
    let state = state(&record, written);
    let since_last_s = match state {
        // The clock of the events is the run's own: it is carried on from the last of them.
        State::Going => fs::metadata(&events)
            .and_then(|file| file.modified())
            .ok()
            .and_then(|at| now.duration_since(at).ok()),
        _ => None,
    };
    let elapsed_s = last_s + since_last_s.unwrap_or_default().as_secs_f64();
    Ok(Standing::of(&record, &track, state, elapsed_s, now))
}

fn state(record: &RunRecord, written: bool) -> State {
    match (&record.provenance.imported, written, record.complete) {
        (Some(_), ..) => State::Imported,
        (None, true, _) => State::Going,
        (None, false, true) => State::Ended,
        (None, false, false) => State::Stopped,
    }
}

impl Standing {
    fn of(record: &RunRecord, track: &Track, state: State, elapsed_s: f64, now: SystemTime) -> Self {
        let left_s = track.rest(elapsed_s).filter(|_| matches!(state, State::Going | State::Stopped));
        let end = left_s.filter(|_| state == State::Going).and_then(|left_s| {
            let end = now.checked_add(std::time::Duration::try_from_secs_f64(left_s).ok()?)?;
            Some(humantime::format_rfc3339_seconds(end).to_string())
        });
        let (visits_done, visits) = track.visits();
        let outcomes = || record.outcomes.iter();
        let failures: Vec<String> = outcomes().filter_map(failure).collect();
        Self {
            run: record.name.clone(),
            scenario: record.plan.scenario.to_string(),
            state,
            now: (state == State::Going).then(|| track.headline()).filter(|line| !line.is_empty()),
            good: outcomes().filter(|outcome| outcome.status == CellStatus::Good).count(),
            failed: failures.len(),
            skipped: outcomes()
                .filter(|outcome| matches!(outcome.status, CellStatus::Skipped { .. }))
                .count(),
            visits,
            visits_done,
            elapsed_s,
            left_s,
            expected_end: end,
            failures,
        }
    }
}

fn failure(outcome: &Outcome) -> Option<String> {
    let Outcome { cell, replicate, status, .. } = outcome;
    match status {
        CellStatus::Failed { phase, reason } => {
            Some(format!("{cell} (replicate {replicate}) failed in {phase}: {reason}"))
        }
        CellStatus::Good | CellStatus::Skipped { .. } => None,
    }
}

fn text(standing: &Standing, run: &Path) -> Vec<String> {
    let Standing { good, failed, skipped, visits, visits_done, elapsed_s, .. } = standing;
    let run = run.display();
    let state = match standing.state {
        State::Going => "goes on".to_string(),
        State::Ended => "came to its end".to_string(),
        State::Stopped => format!("stopped before its end: 'crossvisor resume {run}' goes on with it"),
        State::Imported => "was imported".to_string(),
    };
    let mut lines = vec![
        format!("run     {}, of scenario {}", standing.run, standing.scenario),
        format!("state   {state}"),
    ];
    lines.extend(standing.now.as_ref().map(|now| format!("now     {now}")));
    lines.push(format!("cells   {good} good, {failed} failed, {skipped} skipped"));
    if standing.state != State::Imported {
        lines.push(format!("visits  {visits_done} of {visits} done"));
        let elapsed = time::duration(*elapsed_s);
        let left = match (standing.state, standing.left_s, &standing.expected_end) {
            (State::Ended, ..) => String::new(),
            (_, Some(left_s), Some(end)) => format!(", about {} left, until {end}", time::duration(left_s)),
            (_, Some(left_s), None) => format!(", about {} left", time::duration(left_s)),
            _ => ", time left unknown".into(),
        };
        lines.push(format!("time    {elapsed}{left}"));
    }
    lines.extend(standing.failures.iter().map(|failure| format!("failed  {failure}")));
    lines
}
