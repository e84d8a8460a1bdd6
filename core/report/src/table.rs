//! One metric as a table of texts: what the text, Markdown and HTML reports have in common.
//!
//! Owns the wording of a row. It must never know a format.

use std::collections::BTreeMap;

use crossvisor_analysis::{
    CellReport, Comparison, Estimate, Lack, MetricComparison, Ratio, Row, Unshown, Verdict,
    WorkloadComparison,
};
use crossvisor_model::{Axes, Baseline, Better, Name};
use serde::Serialize;

use crate::clean::one_line;
use crate::number::{self, Scale};

/// Which metrics a report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metrics {
    /// Those of a summary; all of a workload that declares none.
    Headline,
    All,
}

/// One metric of one workload.
#[derive(Serialize)]
pub struct Table {
    pub workload: String,
    pub label: String,
    /// `KiB/s`, `million cycles`
    pub unit: String,
    /// `higher is better`; empty for a description.
    pub better: &'static str,
    pub headline: bool,
    pub rows: Vec<Line>,
    pub footnotes: Vec<&'static str>,
}

/// One setup of a [`Table`].
#[derive(Serialize)]
pub struct Line {
    /// `kvm-virtio/file/2`
    pub setup: String,
    /// Replicates with a number.
    pub n: String,
    pub numbers: Option<Numbers>,
    /// What each guest keeps among more guests, as a percentage: `62.0`, `-`
    pub kept: String,
    /// What is said in place of numbers.
    pub words: String,
    /// `96.2`, `baseline`, `-`
    pub percent: String,
    /// `91.0–101`, or empty.
    pub percent_interval: String,
    /// `worse`; empty where none is due.
    pub verdict: &'static str,
    /// Why there is no other verdict, or empty.
    pub reason: &'static str,
}

/// The numbers of a [`Line`]; `-` where there is none.
#[derive(Serialize)]
pub struct Numbers {
    /// With the marks that the footnotes explain.
    pub mean: String,
    pub sd: String,
    pub interval: String,
    pub median: String,
    pub range: String,
    pub total: String,
    pub balance: String,
    /// Jain's index.
    pub evenness: String,
}

/// What each guest keeps of what it does among the fewest guests, by setup.
type Kept<'a> = BTreeMap<(&'a Name, &'a Name, Option<&'a Name>, u32), Ratio>;

const LEFT_OUT: &str = "* without values that were too fast to measure: the true mean is better";
const LOST: &str = "† without the replicates that failed or lost a value";
const DOUBTED: &str = "? there are reasons to doubt it: see the values to doubt";
pub const NONE: &str = "-";

/// How setups are written: the host only where there are several.
pub struct Setups {
    several_hosts: bool,
}

impl Setups {
    pub fn of(comparison: &Comparison) -> Self {
        Self::of_cells(comparison.workloads.iter().flat_map(|workload| &workload.cells))
    }

    pub fn of_cells<'a>(cells: impl Iterator<Item = &'a CellReport>) -> Self {
        let mut hosts = cells.map(|cell| &cell.axes.host);
        let first = hosts.next();
        Self { several_hosts: hosts.any(|host| Some(host) != first) }
    }

    pub fn several_hosts(&self) -> bool {
        self.several_hosts
    }

    /// `hypervisor/storage/guests`
    pub fn legend(&self) -> &'static str {
        if self.several_hosts { "host/hypervisor/storage/guests" } else { "hypervisor/storage/guests" }
    }

    /// `kvm-virtio/file/2`
    pub fn label(&self, axes: &Axes) -> String {
        format!("{}/{}", self.machine(axes), axes.guests)
    }

    /// `kvm-virtio/file`
    pub fn machine(&self, axes: &Axes) -> String {
        let storage = axes.storage.as_ref().map_or(NONE, Name::as_str);
        let host = if self.several_hosts { format!("{}/", axes.host) } else { String::new() };
        format!("{host}{}/{storage}", axes.hypervisor)
    }
}

/// What the baseline is called: `bare`, `kvm-virtio/file`; empty where the plan has none.
pub fn baseline_name(baseline: &Baseline) -> String {
    let names = [&baseline.host, &baseline.hypervisor, &baseline.storage];
    let mut parts: Vec<String> = names.into_iter().flatten().map(Name::to_string).collect();
    parts.extend(baseline.guests.map(|guests| guests.to_string()));
    parts.join("/")
}

/// True where a row has a baseline other than itself: only then has a report percentages.
pub fn is_compared(comparison: &Comparison) -> bool {
    let mut rows = comparison.workloads.iter().flat_map(|w| &w.metrics).flat_map(|metric| &metric.rows);
    rows.any(|row| row.baseline.is_some() && !row.is_baseline())
}

/// The heading of the percentages: `% of bare`; `None` where nothing is compared.
pub fn percent_heading(comparison: &Comparison) -> Option<String> {
    is_compared(comparison).then(|| format!("% of {}", baseline_name(&comparison.baseline)))
}

/// The metrics of a workload that are to be shown.
pub fn shown(workload: &WorkloadComparison, metrics: Metrics) -> impl Iterator<Item = &MetricComparison> {
    let all = metrics == Metrics::All || !workload.metrics.iter().any(|metric| metric.spec.headline);
    workload.metrics.iter().filter(move |metric| all || metric.spec.headline)
}

/// The scale a metric is shown in.
pub fn scale(metric: &MetricComparison) -> Scale {
    Scale::of(metric.rows.iter().filter_map(|row| row.estimate.summary()).map(|summary| summary.mean))
}

/// `higher is better`, `lower is better`, or nothing.
pub fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "",
    }
}

/// All tables, in the order of the comparison.
pub fn tables(comparison: &Comparison, metrics: Metrics) -> Vec<Table> {
    let setups = Setups::of(comparison);
    let of_workload = |workload| shown(workload, metrics).map(|metric| table(workload, metric, &setups));
    comparison.workloads.iter().flat_map(of_workload).collect()
}

fn table(workload: &WorkloadComparison, metric: &MetricComparison, setups: &Setups) -> Table {
    let scale = scale(metric);
    let kept = kept(metric);
    let rows = metric.rows.iter().zip(&workload.cells);
    let rows: Vec<Line> = rows.map(|(row, cell)| line(row, cell, scale, setups, &kept)).collect();
    Table {
        workload: workload.workload.to_string(),
        label: one_line(&metric.spec.label),
        unit: scale.unit(&one_line(&metric.spec.unit)),
        better: direction(metric.spec.better),
        headline: metric.spec.headline,
        footnotes: footnotes(rows.iter().filter_map(|row| row.numbers.as_ref()).map(|n| n.mean.as_str())),
        rows,
    }
}

/// What the marks behind these means say.
pub fn footnotes<'a>(means: impl Iterator<Item = &'a str> + Clone) -> Vec<&'static str> {
    let marked = |mark: char| means.clone().any(|mean| mean.contains(mark));
    [LEFT_OUT, LOST, DOUBTED].into_iter().filter(|note| note.chars().next().is_some_and(&marked)).collect()
}

fn kept(metric: &MetricComparison) -> Kept<'_> {
    let points = metric.scaling.iter().flat_map(|curve| {
        let machine = move |guests| (&curve.host, &curve.hypervisor, curve.storage.as_ref(), guests);
        let more = curve.points.iter().skip(1);
        more.filter_map(move |point| Some((machine(point.guests), point.efficiency?)))
    });
    points.collect()
}

fn line(row: &Row, cell: &CellReport, scale: Scale, setups: &Setups, kept: &Kept<'_>) -> Line {
    let numbers = numbers(row, cell, scale);
    let Axes { host, hypervisor, storage, guests, .. } = &row.axes;
    let kept = kept.get(&(host, hypervisor, storage.as_ref(), *guests));
    Line {
        kept: kept.map_or(NONE.to_string(), |ratio| number::percent(ratio.value)),
        setup: setups.label(&row.axes),
        n: row.estimate.summary().map_or(0, |summary| summary.n).to_string(),
        words: if numbers.is_some() { String::new() } else { words(&row.estimate, cell) },
        numbers,
        percent: match &row.ratio {
            Some(ratio) => number::percent(ratio.value),
            None if row.is_baseline() => "baseline".to_string(),
            None => NONE.to_string(),
        },
        percent_interval: row.ratio.and_then(|ratio| ratio.interval).map_or(String::new(), |interval| {
            format!("{}–{}", number::percent(interval.low), number::percent(interval.high))
        }),
        verdict: row.verdict.map_or("", verdict),
        reason: row.verdict.map_or("", reason),
    }
}

/// A verdict in a word or two.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NoDifferenceShown(Unshown::WithinThreshold) => "the same",
        Verdict::NoDifferenceShown(_) => "unclear",
        Verdict::NotEnoughData(Lack::NoValue) => "no data",
        Verdict::NotEnoughData(_) => "too few",
    }
}

/// What stands behind a verdict that is neither better nor worse.
pub fn reason(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better | Verdict::Worse => "",
        Verdict::NoDifferenceShown(unshown) => match unshown {
            Unshown::MayBeChance => "no difference shown: it may be chance",
            Unshown::WithinThreshold => "no difference that matters",
            Unshown::BelowThreshold => "a difference too small to matter",
            Unshown::FewValues => "no difference shown: a few values make it",
            Unshown::AllSame => "no difference shown: all values are the same",
            Unshown::BothTooFast => "no difference shown: both too fast to measure",
        },
        Verdict::NotEnoughData(lack) => match lack {
            Lack::NoValue => "not enough data: no value on one side",
            Lack::OneReplicate => "not enough data: one replicate",
            Lack::PartlyTooFast => "not enough data: some guests were too fast to measure",
            Lack::TooFewForRanks => "not enough data: too few replicates for a rank test",
        },
    }
}

/// What a row without numbers says.
pub fn words(estimate: &Estimate, cell: &CellReport) -> String {
    match estimate {
        Estimate::TooFast { .. } => "too fast to measure",
        Estimate::Partly { too_fast: 1.., .. } => "partly too fast to measure",
        Estimate::Missing { .. } if cell.problems.iter().any(|problem| problem.phase.is_some()) => "failed",
        Estimate::Missing { .. } if !cell.problems.is_empty() => "not tried",
        _ => "not measured",
    }
    .to_string()
}

/// The numbers of a row, where there are any.
pub fn numbers(row: &Row, cell: &CellReport, scale: Scale) -> Option<Numbers> {
    let summary = row.estimate.summary()?;
    let place = number::place(summary, scale);
    let show = |value: f64| number::rounded(value / scale.divisor, place);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_string());
    let left_out = if row.estimate.too_fast() > 0 { "*" } else { "" };
    let lost = matches!(row.estimate, Estimate::Partly { missing: 1.., .. }) || !cell.problems.is_empty();
    let doubted = if row.flags.is_empty() { "" } else { "?" };
    Some(Numbers {
        mean: format!("{}{left_out}{}{doubted}", show(summary.mean), if lost { "†" } else { "" }),
        sd: or_none(summary.relative_sd.map(number::relative_sd)),
        interval: or_none(summary.interval.map(|interval| number::interval(interval, place, scale))),
        median: show(summary.median),
        range: format!("{}–{}", show(summary.min), show(summary.max)),
        total: or_none(row.total_mean.map(|total| number::significant(total / scale.divisor, 4))),
        balance: or_none(row.balance.map(|balance| format!("{}–{}", show(balance.min), show(balance.max)))),
        evenness: or_none(row.balance.and_then(|balance| balance.jain).map(|jain| number::rounded(jain, -3))),
    })
}
