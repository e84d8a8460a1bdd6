//! The bars of a metric: its values, and its percentages of the baseline.

use crossvisor_analysis::{CellReport, Row, Verdict};

use super::Source;
use crate::number::{self, Scale};
use crate::svg::Drawing;
use crate::svg::bars::{Bar, Chart, Group};
use crate::table::{baseline_name, footnotes, numbers, scale, words};
use crate::{clean::one_line, table};

/// `None` where nothing has a number.
pub fn values(source: &Source<'_>) -> Option<Drawing> {
    let scale = scale(source.metric);
    let groups = groups(source, |row, cell, bar| Some(value(row, cell, scale, bar)));
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let notes = footnotes(bars().map(|bar| bar.text.as_str()));
    bars().any(|bar| bar.value.is_some()).then(|| {
        Chart {
            id: source.id(""),
            title: source.title(),
            axis: source.axis(&scale.unit(&one_line(&source.metric.spec.unit))),
            notes,
            groups,
            reference: None,
            reach: 0.0,
        }
        .draw()
    })
}

/// `None` where nothing is compared.
pub fn percentages(source: &Source<'_>) -> Option<Drawing> {
    source.metric.rows.iter().any(|row| row.ratio.is_some()).then(|| {
        let name = baseline_name(&source.comparison.baseline);
        Chart {
            id: source.id("-relative"),
            title: format!("{}, % of {name}", source.title()),
            axis: source.axis(&format!("% of {name}")),
            groups: groups(source, percentage),
            reference: Some((100.0, name)),
            reach: 0.0,
            notes: Vec::new(),
        }
        .draw()
    })
}

/// The bars that `fill` wants.
pub fn groups(source: &Source<'_>, fill: impl Fn(&Row, &CellReport, Bar) -> Option<Bar>) -> Vec<Group> {
    let rows = source.metric.rows.iter().zip(&source.workload.cells);
    let bar = |(row, cell)| {
        let row: &Row = row;
        fill(row, cell, source.palette.bar(&row.axes)).map(|bar| (&row.axes, bar))
    };
    source.palette.groups(rows.filter_map(bar).collect())
}

pub fn value(row: &Row, cell: &CellReport, scale: Scale, bar: Bar) -> Bar {
    let Some((summary, numbers)) = row.estimate.summary().zip(numbers(row, cell, scale)) else {
        return Bar { text: words(&row.estimate, cell), ..bar };
    };
    Bar {
        value: Some(summary.mean / scale.divisor),
        whisker: summary.interval.map(|i| (i.low / scale.divisor, i.high / scale.divisor)),
        text: numbers.mean,
        whisker_text: summary.interval.map_or(String::new(), |_| numbers.interval),
        ..bar
    }
}

/// The baseline itself has no bar: it is the line at 100 %.
fn percentage(row: &Row, cell: &CellReport, bar: Bar) -> Option<Bar> {
    let Some(ratio) = row.ratio else {
        let text =
            if row.estimate.summary().is_some() { "no baseline".into() } else { words(&row.estimate, cell) };
        return (!row.is_baseline()).then_some(Bar { text, ..bar });
    };
    let said = row.verdict.filter(|verdict| matches!(verdict, Verdict::Better | Verdict::Worse));
    let said = said.map_or(String::new(), |verdict| format!(" {}", table::verdict(verdict)));
    Some(Bar {
        value: Some(ratio.value * 100.0),
        whisker: ratio.interval.map(|i| (i.low * 100.0, i.high * 100.0)),
        text: format!("{} %{said}", number::percent(ratio.value)),
        whisker_text: ratio
            .interval
            .map_or(String::new(), |i| format!("{}–{} %", number::percent(i.low), number::percent(i.high))),
        ..bar
    })
}
