//! Small multiples: the storages of each hypervisor.

use std::collections::BTreeSet;

use crossvisor_analysis::{CellReport, Row};
use crossvisor_model::Name;

use super::Source;
use super::bars::value;
use crate::clean::one_line;
use crate::svg::Drawing;
use crate::svg::bars::{Bar, Chart};
use crate::table::scale;

/// One chart for each hypervisor of each host that was measured on several storages; all have the same axis. None where
/// only one hypervisor was: the chart of all values shows that.
pub fn panels(source: &Source<'_>) -> Vec<Drawing> {
    let mut machines: Vec<(&Name, &Name)> = Vec::new();
    for row in &source.metric.rows {
        let machine = (&row.axes.host, &row.axes.hypervisor);
        if !machines.contains(&machine) && storages(source, machine).len() > 1 {
            machines.push(machine);
        }
    }
    if machines.len() < 2 {
        return Vec::new();
    }
    let charts: Vec<Chart> = machines.into_iter().map(|machine| chart(source, machine)).collect();
    let reach = charts.iter().map(Chart::longest).fold(0.0, f64::max);
    charts.into_iter().map(|chart| Chart { reach, ..chart }.draw()).collect()
}

fn rows<'a>(
    source: &Source<'a>,
    (host, hypervisor): (&'a Name, &'a Name),
) -> impl Iterator<Item = (&'a Row, &'a CellReport)> {
    let rows = source.metric.rows.iter().zip(&source.workload.cells);
    rows.filter(move |(row, _)| (&row.axes.host, &row.axes.hypervisor) == (host, hypervisor))
}

/// Those with a number.
fn storages<'a>(source: &Source<'a>, machine: (&'a Name, &'a Name)) -> BTreeSet<&'a Name> {
    let measured = rows(source, machine).filter(|(row, _)| row.estimate.summary().is_some());
    measured.filter_map(|(row, _)| row.axes.storage.as_ref()).collect()
}

fn chart<'a>(source: &Source<'a>, machine: (&'a Name, &'a Name)) -> Chart {
    let scale = scale(source.metric);
    let bar = |(row, cell): (&'a Row, &'a CellReport)| {
        let storage = row.axes.storage.as_ref()?;
        let bar = Bar { label: storage.to_string(), ..source.palette.bar(&row.axes) };
        Some((&row.axes, value(row, cell, scale, bar)))
    };
    let (host, hypervisor) = machine;
    let on = if source.palette.several_hosts { format!(" on {host}") } else { String::new() };
    Chart {
        id: source.id(&format!("-storages-{host}-{hypervisor}")),
        title: format!("{hypervisor}{on}"),
        axis: source.axis(&scale.unit(&one_line(&source.metric.spec.unit))),
        groups: source.palette.groups(rows(source, machine).filter_map(bar).collect()),
        reference: None,
        reach: 0.0,
        notes: Vec::new(),
    }
}
