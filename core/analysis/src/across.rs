//! Several runs side by side: cells that have the same axes, metric by metric.
//!
//! Owns which values of two runs are matched, and which of them are too unlike to be ranked. It must never rank
//! those unless it was told to.

use std::collections::BTreeSet;

use crossvisor_model::{Better, CellId, Difference, MetricSpec, RunRecord};
use serde::{Deserialize, Serialize};

use crate::judge::{correct, examine};
use crate::ranks::RankTables;
use crate::unlike::{in_general, of_cells, of_metrics};
use crate::verdict::{LEVEL, LEVEL_ADAPTIVE, Rules};
use crate::{CellReport, MetricComparison, Ratio, Row, WorkloadComparison, compare};

/// Runs compared with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Across {
    /// The name of the first run.
    pub baseline: String,
    /// Differences smaller than this share do not matter: what the first run's plan says.
    pub threshold: Option<f64>,
    /// The chance of a false verdict in each family of comparisons that is put up with: the headline metrics of all
    /// runs are one, all other metrics a second.
    pub level: f64,
    /// True where things too unlike to be ranked were ranked all the same.
    pub unlike_allowed: bool,
    /// The others, in the order they were given.
    pub runs: Vec<RunAcross>,
}

/// A run beside the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunAcross {
    pub run: String,
    /// Of circumstances and plan, whatever cells they matter to.
    pub differences: Vec<Difference>,
    /// The cells that both have, in the order of the first run.
    pub cells: Vec<CellAcross>,
    pub only_baseline: Lone,
    pub only_run: Lone,
}

/// A cell of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellAcross {
    pub baseline: CellReport,
    pub run: CellReport,
    /// Why none of its metrics is ranked, where that is not allowed.
    pub unlike: Vec<Difference>,
    pub metrics: Vec<MetricAcross>,
}

/// A metric of a cell of two runs. `run` has the ratio, the tests and the verdict against `baseline`; without them are
/// what is too unlike and what is no score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricAcross {
    #[serde(flatten)]
    pub spec: MetricSpec,
    /// Why this metric is not ranked, beside what the cells have: another unit, which is never allowed.
    pub unlike: Vec<Difference>,
    pub baseline: Row,
    pub run: Row,
}

/// What only one of two runs has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lone {
    pub cells: BTreeSet<CellId>,
    /// Of workloads that both have: `disk: write`.
    pub metrics: BTreeSet<String>,
}

impl CellAcross {
    /// Whether this metric of it may be ranked.
    #[must_use]
    pub fn ranks(&self, metric: &MetricAcross, unlike_allowed: bool) -> bool {
        metric.unlike.is_empty() && (unlike_allowed || self.unlike.is_empty())
    }
}

/// Compares the other runs with the first. What is too unlike is ranked only where that is allowed, other units never.
#[must_use]
pub fn across(first: &RunRecord, others: &[RunRecord], unlike_allowed: bool) -> Across {
    let records = || std::iter::once(first).chain(others);
    let adaptive = records().any(|record| record.plan.adaptive.is_some());
    let level = if adaptive { LEVEL_ADAPTIVE } else { LEVEL };
    let threshold = first.plan.threshold.map(|share| share.0);
    let base = compare(first).workloads;
    let mut runs: Vec<RunAcross> = others.iter().map(|other| beside(first, &base, other)).collect();
    judge(&mut runs, unlike_allowed, Rules { level, threshold });
    Across { baseline: first.name.clone(), threshold, level, unlike_allowed, runs }
}

/// A run beside the first, without verdicts.
fn beside(first: &RunRecord, base: &[WorkloadComparison], other: &RunRecord) -> RunAcross {
    let own = compare(other).workloads;
    let cells = base.iter().flat_map(|workload| {
        let partner = own.iter().find(|own| own.workload == workload.workload);
        partner.into_iter().flat_map(move |partner| matched(first, workload, other, partner))
    });
    RunAcross {
        run: other.name.clone(),
        differences: in_general(first, other),
        cells: cells.collect(),
        only_baseline: lone(base, &own),
        only_run: lone(&own, base),
    }
}

/// The cells that two runs have of a workload.
fn matched<'a>(
    first: &'a RunRecord,
    base: &'a WorkloadComparison,
    other: &'a RunRecord,
    own: &'a WorkloadComparison,
) -> impl Iterator<Item = CellAcross> + 'a {
    base.cells.iter().enumerate().filter_map(move |(at, cell)| {
        let place = own.cells.iter().position(|own| own.cell == cell.cell)?;
        let metric = |metric: &MetricComparison| {
            let partner = own.metrics.iter().find(|own| own.spec.name == metric.spec.name)?;
            Some(MetricAcross {
                spec: metric.spec.clone(),
                unlike: of_metrics(&metric.spec, &partner.spec),
                baseline: alone(&metric.rows[at]),
                run: alone(&partner.rows[place]),
            })
        };
        Some(CellAcross {
            unlike: of_cells((first, cell), (other, &own.cells[place])),
            metrics: base.metrics.iter().filter_map(metric).collect(),
            baseline: cell.clone(),
            run: own.cells[place].clone(),
        })
    })
}

/// A row without what it has from the other rows of its own run.
fn alone(row: &Row) -> Row {
    Row { baseline: None, ratio: None, tests: None, verdict: None, needed: None, ..row.clone() }
}

/// What `own` has and `other` has not.
fn lone(own: &[WorkloadComparison], other: &[WorkloadComparison]) -> Lone {
    let mut lone = Lone::default();
    for workload in own {
        let partner = other.iter().find(|other| other.workload == workload.workload);
        let cells = workload.cells.iter().map(|cell| &cell.cell);
        let has = |cell: &CellId| partner.is_some_and(|other| other.cells.iter().any(|c| c.cell == *cell));
        lone.cells.extend(cells.filter(|cell| !has(cell)).cloned());
        let Some(partner) = partner else { continue };
        let has = |name: &str| partner.metrics.iter().any(|metric| metric.spec.name == name);
        let names = workload.metrics.iter().map(|metric| &metric.spec.name).filter(|name| !has(name));
        lone.metrics.extend(names.map(|name| format!("{}: {name}", workload.workload)));
    }
    lone
}

/// Gives all that may be ranked its ratio, its tests and its verdict.
fn judge(runs: &mut [RunAcross], unlike_allowed: bool, rules: Rules) {
    let mut tables = RankTables::default();
    let mut ranked: Vec<&mut MetricAcross> = Vec::new();
    for cell in runs.iter_mut().flat_map(|run| &mut run.cells) {
        let alike = cell.unlike.is_empty();
        let may = |metric: &&mut MetricAcross| metric.unlike.is_empty() && (alike || unlike_allowed);
        ranked.extend(cell.metrics.iter_mut().filter(may));
    }
    for metric in &mut ranked {
        let sides = metric.run.estimate.comparable().zip(metric.baseline.estimate.comparable());
        metric.run.ratio = sides.and_then(|(own, base)| Ratio::of(own, base));
        if metric.spec.better != Better::Neither {
            match examine(&metric.run, &metric.baseline, metric.spec.better, &mut tables) {
                Ok(tests) => metric.run.tests = Some(tests),
                Err(verdict) => metric.run.verdict = Some(verdict),
            }
        }
    }
    for headline in [true, false] {
        let family = ranked.iter_mut().filter(|metric| metric.spec.headline == headline);
        correct(family.map(|metric| (&mut metric.run, metric.spec.better)), rules);
    }
}
