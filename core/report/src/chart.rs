//! Which charts a comparison has: for each headline metric its values and its percentages of the baseline,
//! by number of guests and hypervisor.
//!
//! Owns the choice of bars and their colours. It must never draw: that is `svg`'s part.

use crossvisor_analysis::{CellReport, Comparison, MetricComparison, Row, WorkloadComparison};

use crate::clean::one_line;
use crate::number::{self, Scale};
use crate::svg::{Bar, Chart, Group, STYLE, svg};
use crate::table::{Metrics, Setups, baseline_name, direction, footnotes, numbers, scale, shown, words};

/// All charts as SVG files with the name of each: `disk-write`, `disk-write-relative`.
#[must_use]
pub fn charts(comparison: &Comparison) -> Vec<(String, String)> {
    let draw = |chart: &Chart| (chart.id.clone(), svg(chart, STYLE));
    comparison
        .workloads
        .iter()
        .flat_map(|workload| of_workload(comparison, workload))
        .map(|c| draw(&c))
        .collect()
}

/// The charts of one workload.
pub fn of_workload(comparison: &Comparison, workload: &WorkloadComparison) -> Vec<Chart> {
    let palette = Palette::of(comparison);
    shown(workload, Metrics::Headline)
        .flat_map(|metric| {
            let source = Source { comparison, workload, metric, palette: &palette };
            [source.values(), source.percentages()]
        })
        .flatten()
        .collect()
}

/// The colour of each machine, the same in all charts.
struct Palette {
    setups: Setups,
    machines: Vec<String>,
}

impl Palette {
    fn of(comparison: &Comparison) -> Self {
        let setups = Setups::of(comparison);
        let mut machines = Vec::new();
        for cell in comparison.workloads.iter().flat_map(|workload| &workload.cells) {
            let machine = setups.machine(&cell.axes);
            if !cell.axes.is_bare() && !machines.contains(&machine) {
                machines.push(machine);
            }
        }
        Self { setups, machines }
    }

    /// 0 is the bare host's.
    fn series(&self, machine: &str) -> usize {
        self.machines.iter().position(|known| known == machine).map_or(0, |index| index + 1)
    }
}

struct Source<'a> {
    comparison: &'a Comparison,
    workload: &'a WorkloadComparison,
    metric: &'a MetricComparison,
    palette: &'a Palette,
}

impl Source<'_> {
    fn id(&self, suffix: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        format!("{}-{}{suffix}", self.workload.workload, self.metric.spec.name).chars().map(safe).collect()
    }

    fn title(&self) -> String {
        format!("{}: {}", self.workload.workload, one_line(&self.metric.spec.label))
    }

    fn axis(&self, unit: &str) -> String {
        match direction(self.metric.spec.better) {
            "" => unit.to_string(),
            better => format!("{unit}, {better}"),
        }
    }

    /// `None` where nothing has a number.
    fn values(&self) -> Option<Chart> {
        let scale = scale(self.metric);
        let groups = self.groups(|row, cell, bar| value(row, cell, scale, bar));
        let any = groups.iter().flat_map(|group| &group.bars).any(|bar| bar.value.is_some());
        any.then(|| Chart {
            id: self.id(""),
            title: self.title(),
            axis: self.axis(&scale.unit(&one_line(&self.metric.spec.unit))),
            notes: footnotes(groups.iter().flat_map(|group| &group.bars).map(|bar| bar.text.as_str())),
            groups,
            reference: None,
        })
    }

    /// `None` where nothing is compared.
    fn percentages(&self) -> Option<Chart> {
        self.metric.rows.iter().any(|row| row.ratio.is_some()).then(|| {
            let name = baseline_name(&self.comparison.baseline);
            Chart {
                id: self.id("-relative"),
                title: format!("{}, % of {name}", self.title()),
                axis: self.axis(&format!("% of {name}")),
                groups: self.groups(percentage),
                reference: Some((100.0, name)),
                notes: Vec::new(),
            }
        })
    }

    /// One group for each number of guests, with the bars that `fill` wants.
    fn groups(&self, fill: impl Fn(&Row, &CellReport, Bar) -> Option<Bar>) -> Vec<Group> {
        let mut counts: Vec<u32> = self.metric.rows.iter().map(|row| row.axes.guests).collect();
        counts.sort_unstable();
        counts.dedup();
        let bars = |guests: u32| {
            let rows = self.metric.rows.iter().zip(&self.workload.cells);
            let own = rows.filter(|(row, _)| row.axes.guests == guests);
            own.filter_map(|(row, cell)| fill(row, cell, self.bar(row))).collect::<Vec<_>>()
        };
        let group = |guests: u32| Group {
            label: if guests == 1 { "1 guest".to_string() } else { format!("{guests} guests") },
            bars: bars(guests),
        };
        counts.into_iter().map(group).filter(|group| !group.bars.is_empty()).collect()
    }

    /// A bar without its value.
    fn bar(&self, row: &Row) -> Bar {
        let machine = self.palette.setups.machine(&row.axes);
        Bar {
            series: self.palette.series(&machine),
            label: machine.trim_end_matches("/-").to_string(),
            value: None,
            whisker: None,
            text: String::new(),
            whisker_text: String::new(),
        }
    }
}

fn value(row: &Row, cell: &CellReport, scale: Scale, bar: Bar) -> Option<Bar> {
    let Some((summary, numbers)) = row.estimate.summary().zip(numbers(row, cell, scale)) else {
        return Some(Bar { text: words(&row.estimate, cell), ..bar });
    };
    Some(Bar {
        value: Some(summary.mean / scale.divisor),
        whisker: summary.interval.map(|i| (i.low / scale.divisor, i.high / scale.divisor)),
        text: numbers.mean,
        whisker_text: summary.interval.map_or(String::new(), |_| numbers.interval),
        ..bar
    })
}

/// The baseline itself has no bar: it is the line at 100 %.
fn percentage(row: &Row, cell: &CellReport, bar: Bar) -> Option<Bar> {
    let Some(ratio) = row.ratio else {
        let text =
            if row.estimate.summary().is_some() { "no baseline".into() } else { words(&row.estimate, cell) };
        return (!row.is_baseline()).then_some(Bar { text, ..bar });
    };
    Some(Bar {
        value: Some(ratio.value * 100.0),
        whisker: ratio.interval.map(|i| (i.low * 100.0, i.high * 100.0)),
        text: format!("{} %", number::percent(ratio.value)),
        whisker_text: ratio
            .interval
            .map_or(String::new(), |i| format!("{}–{} %", number::percent(i.low), number::percent(i.high))),
        ..bar
    })
}
