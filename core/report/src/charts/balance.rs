//! The guests of each cell beside each other.

use crossvisor_analysis::balance::guests;
use crossvisor_analysis::{CellReport, Row};

use super::Source;
use super::bars::groups;
use crate::clean::one_line;
use crate::number::{Scale, rounded};
use crate::svg::Drawing;
use crate::svg::bars::{Bar, Chart};
use crate::table::scale;

/// A dot for each guest's mean over the replicates; `None` where no cell has several guests with numbers.
pub fn balance(source: &Source<'_>) -> Option<Drawing> {
    let scale = scale(source.metric);
    let groups = groups(source, |row, _: &CellReport, bar| dots(row, scale, bar));
    (!groups.is_empty()).then(|| {
        Chart {
            id: source.id("-balance"),
            title: format!("{}, guest by guest", source.title()),
            axis: source.axis(&scale.unit(&one_line(&source.metric.spec.unit))),
            groups,
            reference: None,
            reach: 0.0,
            notes: vec!["a dot is a guest; right, Jain's index: 1 when all guests did the same"],
        }
        .draw()
    })
}

fn dots(row: &Row, scale: Scale, bar: Bar) -> Option<Bar> {
    let balance = row.balance?;
    let dots: Vec<f64> = guests(&row.replicates).values().map(|mean| mean / scale.divisor).collect();
    Some(Bar {
        value: Some(balance.max / scale.divisor),
        dots,
        text: balance.jain.map_or("-".to_string(), |jain| rounded(jain, -3)),
        ..bar
    })
}
