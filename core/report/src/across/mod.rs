//! Several runs side by side: what the forms of that report have in common.
//!
//! Owns the wording and which rows a table has. It must never know a format.

mod json;
mod markdown;
mod sheet;
mod text;

pub use json::json;
pub use markdown::markdown;
pub use sheet::{COLUMNS, csv};
pub use text::text;

use crossvisor_analysis::{CellAcross, CellReport, Lone, MetricAcross, Ratio, Row, RunAcross};
use crossvisor_model::{Better, Difference, MetricSpec};

use crate::Metrics;
use crate::clean::{one_line, shorten};
use crate::notes::{Note, notes};
use crate::number::{self, Scale};
use crate::places::Place;
use crate::table::{self, NONE, Setups, direction, footnotes, numbers, words};

const HEADINGS: [&str; 5] = ["setup", "baseline", "run", "% difference", "verdict"];
/// What is said instead of a verdict of what is too unlike.
const NOT_COMPARED: &str = "not compared";
/// Longer values of circumstances lose their middle.
const LONGEST_VALUE: usize = 70;
const LEGEND: &str = "baseline and run: means. % difference: of the run's mean from the baseline's, with the 95 % \
    interval. better, worse: the difference is not chance (p values are adjusted for all comparisons shown and not \
    shown). the same: a difference that matters is ruled out. unclear: no difference shown. too few, no data: not \
    enough data. Values to doubt and failures are told in the report of each run.";

/// A metric of one workload over the setups that both runs have.
struct Table<'a> {
    workload: &'a str,
    spec: &'a MetricSpec,
    rows: Vec<(&'a CellAcross, &'a MetricAcross)>,
}

/// A [`Table`] as texts.
struct Shown {
    title: String,
    /// Under [`HEADINGS`].
    rows: Vec<[String; 5]>,
    /// Of the rows: what stands behind the verdict, or empty.
    reasons: Vec<&'static str>,
    footnotes: Vec<&'static str>,
}

/// `B beside A, the baseline`
fn title(baseline: &str, run: &RunAcross) -> String {
    one_line(&format!("{} beside {baseline}, the baseline", run.run))
}

fn setups(run: &RunAcross) -> Setups {
    Setups::of_cells(run.cells.iter().map(|cell| &cell.run))
}

/// All tables of a run, in the order of the comparison.
fn tables(run: &RunAcross, metrics: Metrics, unlike_allowed: bool) -> Vec<Shown> {
    let mut tables: Vec<Table> = Vec::new();
    for cell in &run.cells {
        let all = metrics == Metrics::All || !cell.metrics.iter().any(|metric| metric.spec.headline);
        for metric in cell.metrics.iter().filter(|metric| all || metric.spec.headline) {
            let workload = cell.run.axes.workload.as_str();
            let same = |table: &&mut Table| table.workload == workload && table.spec.name == metric.spec.name;
            match tables.iter_mut().find(same) {
                Some(table) => table.rows.push((cell, metric)),
                None => tables.push(Table { workload, spec: &metric.spec, rows: vec![(cell, metric)] }),
            }
        }
    }
    let setups = setups(run);
    tables.iter().map(|table| table.shown(&setups, unlike_allowed)).collect()
}

impl Table<'_> {
    fn shown(&self, setups: &Setups, unlike_allowed: bool) -> Shown {
        let alike = |metric: &&MetricAcross| metric.unlike.is_empty();
        let own = self.rows.iter().map(|(_, metric)| *metric).filter(alike).map(|metric| &metric.run);
        let rows = self.rows.iter().map(|(_, metric)| &metric.baseline).chain(own);
        let scale = Scale::of(rows.filter_map(|row| row.estimate.summary()).map(|summary| summary.mean));
        let rows: Vec<[String; 5]> = self
            .rows
            .iter()
            .map(|(cell, metric)| {
                let own = if metric.unlike.is_empty() {
                    mean(&metric.run, &cell.run, scale)
                } else {
                    "other unit".to_string()
                };
                [
                    setups.label(&cell.run.axes),
                    mean(&metric.baseline, &cell.baseline, scale),
                    own,
                    metric.run.ratio.map_or(NONE.to_string(), difference),
                    verdict(cell, metric, unlike_allowed).to_string(),
                ]
            })
            .collect();
        let MetricSpec { label, unit, better, .. } = self.spec;
        let comma = if *better == Better::Neither { "" } else { ", " };
        let unit = scale.unit(&one_line(unit));
        let direction = direction(*better);
        Shown {
            title: format!("{}: {} ({unit}{comma}{direction})", self.workload, one_line(label)),
            reasons: self.rows.iter().map(|(cell, metric)| reason(cell, metric, unlike_allowed)).collect(),
            footnotes: footnotes(rows.iter().flat_map(|row| [row[1].as_str(), &row[2]])),
            rows,
        }
    }
}

fn mean(row: &Row, cell: &CellReport, scale: Scale) -> String {
    numbers(row, cell, scale).map_or_else(|| words(&row.estimate, cell), |numbers| numbers.mean)
}

/// `-12.3 (-15.0 to -9.10)`
fn difference(ratio: Ratio) -> String {
    let of = |share: f64| {
        let sign = if share < 0.0 { "-" } else { "+" };
        format!("{sign}{}", number::percent(share.abs()))
    };
    let interval = ratio.interval.map(|i| format!(" ({} to {})", of(i.low - 1.0), of(i.high - 1.0)));
    of(ratio.value - 1.0) + &interval.unwrap_or_default()
}

/// Empty for a metric that is no score.
fn verdict(cell: &CellAcross, metric: &MetricAcross, unlike_allowed: bool) -> &'static str {
    if cell.ranks(metric, unlike_allowed) {
        metric.run.verdict.map_or("", table::verdict)
    } else {
        NOT_COMPARED
    }
}

fn reason(cell: &CellAcross, metric: &MetricAcross, unlike_allowed: bool) -> &'static str {
    if cell.ranks(metric, unlike_allowed) {
        metric.run.verdict.map_or("", table::reason)
    } else {
        "not compared: too unlike"
    }
}

/// `guest memory: 512 MiB in the baseline, 256 MiB in the run`
fn worded(difference: &Difference) -> String {
    let [before, now] =
        [&difference.before, &difference.now].map(|value| shorten(&one_line(value), LONGEST_VALUE));
    format!("{}: {before} in the baseline, {now} in the run", one_line(&difference.what))
}

/// What is not the same in the circumstances and the plans.
fn differences(run: &RunAcross) -> Vec<Note> {
    let note = |difference| Note { text: worded(difference), places: Vec::new() };
    run.differences.iter().map(note).collect()
}

/// Why what is not ranked, each reason once.
fn unlike(run: &RunAcross) -> Vec<Note> {
    let labels = setups(run);
    let place = |cell: &CellAcross, what: String| {
        let setup = labels.label(&cell.run.axes);
        Place { of: String::new(), what, setup, setups: 0 }
    };
    let said = run.cells.iter().flat_map(|cell| {
        let workload = &cell.run.axes.workload;
        let whole = cell.unlike.iter().map(|one| (worded(one), place(cell, workload.to_string())));
        let metrics = cell.metrics.iter().flat_map(|metric| {
            let what = format!("{workload} {}", one_line(&metric.spec.name));
            metric.unlike.iter().map(move |one| (worded(one), place(cell, what.clone())))
        });
        whole.chain(metrics).collect::<Vec<_>>()
    });
    notes(said)
}

/// The heading of what is unlike.
fn unlike_title(unlike_allowed: bool) -> &'static str {
    if unlike_allowed { "Compared although unlike (but for units)" } else { "Not compared" }
}

/// What only one side has, counted and named.
fn lone(run: &RunAcross) -> Vec<Note> {
    let note = |side: &str, count: usize, noun: &str, names: Vec<String>| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| Note { text: format!("{count} {noun}{plural} of the {side}"), places: names })
    };
    let of = |side: &'static str, lone: &Lone| {
        let cells = lone.cells.iter().map(ToString::to_string).collect();
        let metrics = lone.metrics.iter().map(|name| one_line(name)).collect();
        [note(side, lone.cells.len(), "cell", cells), note(side, lone.metrics.len(), "metric", metrics)]
    };
    let sides = [of("baseline", &run.only_baseline), of("run", &run.only_run)];
    sides.into_iter().flatten().flatten().collect()
}
