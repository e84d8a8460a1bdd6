//! The report as one HTML page that needs nothing else: no network, no script.
//!
//! Owns what the template is given. It must never mark foreign text as safe: only our own SVG is.

use std::collections::BTreeSet;

use crossvisor_analysis::{Comparison, MetricComparison, WorkloadComparison};
use crossvisor_model::{RunRecord, Telemetry};
use minijinja::value::Value;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::ReportError;
use crate::charts::{self, Pictures};
use crate::clean::one_line;
use crate::notes;
use crate::svg::{Drawing, STYLE};
use crate::table::{Metrics, Setups, Table, percent_heading, shown, tables};

/// One workload's part of the page.
#[derive(Serialize)]
struct Section {
    name: String,
    /// `bonnie: threads 1, size 67108864`
    work: String,
    blocks: Vec<Block>,
    /// Metrics that are not in the summary.
    others: Vec<Table>,
}

/// A metric: its charts, and behind them its table.
#[derive(Serialize)]
struct Block {
    charts: Vec<Value>,
    storages: Vec<Value>,
    table: Table,
}

/// The headline metrics of all workloads, setup by setup.
#[derive(Serialize)]
struct Overview {
    groups: Vec<(String, usize)>,
    columns: Vec<String>,
    rows: Vec<OverviewRow>,
    footnotes: BTreeSet<&'static str>,
}

#[derive(Serialize)]
struct OverviewRow {
    setup: String,
    values: Vec<OverviewValue>,
}

#[derive(Serialize)]
struct OverviewValue {
    mean: String,
    /// In place of numbers.
    words: String,
    percent: String,
    /// `worse`; empty where there are not enough data for one.
    verdict: &'static str,
}

/// The report as an HTML page, with a line for each series of the `recordings`: of one replicate of each cell at most.
///
/// # Errors
/// [`ReportError::Page`] when the template fails, which no record makes it do.
pub fn html(
    record: &RunRecord,
    comparison: &Comparison,
    recordings: &[Telemetry],
) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.add_template("page.html", include_str!("page.html"))?;
    let all = tables(comparison, Metrics::All);
    let page = environment.get_template("page.html")?.render(context! {
        name => one_line(&record.name),
        description => one_line(&record.plan.description),
        headline => notes::headline(record, comparison),
        emulated => notes::emulated(record, comparison),
        notices => notes::notices(record, comparison),
        overall => notes::overall(comparison),
        overall_chart => charts::overall(comparison).map(|chart| Value::from_safe_string(chart.svg(""))),
        findings => crate::findings::findings(comparison),
        overview => overview(comparison, &all),
        percent_heading => percent_heading(comparison),
        problems => notes::problems(comparison),
        missing => notes::missing(comparison),
        flags => notes::flags(comparison),
        warnings => notes::warnings(comparison),
        legend => notes::legend(comparison),
        telemetry => crate::telemetry::told(record, comparison, recordings),
        facts => crate::facts::facts(record),
        repeat => notes::repeat(record),
        style => Value::from_safe_string(STYLE.to_string()),
        sections => sections(comparison, record, all),
    })?;
    Ok(page)
}

fn sections(comparison: &Comparison, record: &RunRecord, mut tables: Vec<Table>) -> Vec<Section> {
    let section = |workload: &WorkloadComparison| {
        let rest = tables.split_off(workload.metrics.len().min(tables.len()));
        let own = std::mem::replace(&mut tables, rest);
        let all = shown(workload, Metrics::Headline).count() == own.len();
        let (first, others): (Vec<_>, Vec<_>) =
            own.into_iter().zip(&workload.metrics).partition(|(table, _)| all || table.headline);
        let block = |(table, metric): (Table, &MetricComparison)| {
            let Pictures { large, storages } = charts::of_metric(comparison, workload, metric);
            Block { charts: drawn(&large), storages: drawn(&storages), table }
        };
        Section {
            name: workload.workload.to_string(),
            work: crate::facts::work(record, &workload.workload),
            blocks: first.into_iter().map(block).collect(),
            others: others.into_iter().map(|(table, _)| table).collect(),
        }
    };
    comparison.workloads.iter().map(section).collect()
}

fn drawn(drawings: &[Drawing]) -> Vec<Value> {
    drawings.iter().map(|drawing| Value::from_safe_string(drawing.svg(""))).collect()
}

fn overview(comparison: &Comparison, tables: &[Table]) -> Overview {
    let mut setups: Vec<String> = Vec::new();
    let labels = Setups::of(comparison);
    for cell in comparison.workloads.iter().flat_map(|workload| &workload.cells) {
        let label = labels.label(&cell.axes);
        if !setups.contains(&label) {
            setups.push(label);
        }
    }
    let mut groups = Vec::new();
    let mut columns: Vec<&Table> = Vec::new();
    for workload in &comparison.workloads {
        let own = tables.iter().filter(|table| table.workload == workload.workload.as_str());
        let headline = shown(workload, Metrics::Headline).count();
        let all = headline == workload.metrics.len();
        columns.extend(own.filter(|table| all || table.headline));
        groups.push((workload.workload.to_string(), headline));
    }
    let row = |setup: String| OverviewRow {
        values: columns.iter().map(|table| overview_value(table, &setup)).collect(),
        setup,
    };
    Overview {
        columns: columns.iter().map(|table| format!("{} ({})", table.label, table.unit)).collect(),
        footnotes: columns.iter().flat_map(|table| table.footnotes.iter().copied()).collect(),
        groups: groups.into_iter().filter(|(_, count)| *count > 0).collect(),
        rows: setups.into_iter().map(row).collect(),
    }
}

fn overview_value(table: &Table, setup: &str) -> OverviewValue {
    let Some(line) = table.rows.iter().find(|line| line.setup == setup) else {
        return OverviewValue {
            mean: crate::table::NONE.into(),
            words: String::new(),
            percent: String::new(),
            verdict: "",
        };
    };
    let percent = match line.percent.as_str() {
        "baseline" | crate::table::NONE => String::new(),
        number => format!("{number} %"),
    };
    let mean = line.numbers.as_ref().map_or(String::new(), |numbers| numbers.mean.clone());
    let verdict = if line.reason.starts_with("not enough data") { "" } else { line.verdict };
    OverviewValue { mean, words: line.words.clone(), percent, verdict }
}
