//! What more guests at once make of a metric, as curves.

use crossvisor_analysis::{Scaling, ScalingPoint};

use super::Source;
use crate::number::{percent, significant};
use crate::svg::Drawing;
use crate::svg::curves::{Chart, Curve, Point};

/// Curves that can be told apart in one chart.
const MOST: usize = 8;

/// One chart of all curves, or where these are too many one for each hypervisor of each host, all with the same axis.
pub fn curves(source: &Source<'_>) -> Vec<Drawing> {
    let scaling: Vec<&Scaling> = source.metric.scaling.iter().filter(|curve| is_drawn(curve)).collect();
    let parts: Vec<Vec<&Scaling>> = match scaling.len() {
        0 => Vec::new(),
        1..=MOST => vec![scaling],
        _ => scaling
            .chunk_by(|a, b| (&a.host, &a.hypervisor) == (&b.host, &b.hypervisor))
            .map(<[_]>::to_vec)
            .collect(),
    };
    let single = parts.len() == 1;
    let charts: Vec<Chart> = parts.iter().map(|part| chart(source, part, single)).collect();
    let reach = charts.iter().map(reach).fold(0.0, f64::max);
    charts.into_iter().map(|chart| Chart { reach, ..chart }.draw()).collect()
}

/// The line of guests that do not hinder each other is shown as far as it helps to see the curves.
fn reach(chart: &Chart) -> f64 {
    let most = chart.curves.iter().flat_map(|curve| &curve.points).map(|point| point.guests).max();
    f64::from(most.unwrap_or(1)).min(chart.highest() * 1.5)
}

fn is_drawn(curve: &Scaling) -> bool {
    curve.points.iter().filter(|point| point.speedup.is_some()).count() > 1
}

fn chart(source: &Source<'_>, part: &[&Scaling], single: bool) -> Chart {
    let of = part.first().filter(|_| !single);
    let host = |curve: &Scaling| {
        let on = if source.palette.several_hosts { format!("{}/", curve.host) } else { String::new() };
        format!("{on}{}", curve.hypervisor)
    };
    let name = of.map_or(String::new(), |curve| format!(", {}", host(curve)));
    let suffix = of.map_or(String::new(), |curve| format!("-{}-{}", curve.host, curve.hypervisor));
    Chart {
        id: source.id(&format!("-scaling{suffix}")),
        title: format!("{}, more guests{name}", source.title()),
        axis: "work of all guests, times that of the fewest; right, what each keeps".to_string(),
        curves: part.iter().take(MOST).map(|scaling| curve(source, scaling, &host(scaling))).collect(),
        reach: 0.0,
    }
}

fn curve(source: &Source<'_>, scaling: &Scaling, machine: &str) -> Curve {
    let storage = scaling.storage.as_ref().map_or(String::new(), |storage| format!("/{storage}"));
    let last = scaling.points.iter().rev().find_map(|point| point.efficiency);
    Curve {
        name: format!("{machine}{storage}"),
        end: last.map_or(String::new(), |ratio| format!("{} %", percent(ratio.value))),
        series: source.palette.series(&scaling.hypervisor),
        points: scaling.points.iter().filter_map(point).collect(),
    }
}

fn point(point: &ScalingPoint) -> Option<Point> {
    let (efficiency, value) = point.efficiency.zip(point.speedup)?;
    let times = value / efficiency.value;
    let interval = efficiency.interval.filter(|interval| interval.low < interval.high);
    Some(Point {
        guests: point.guests,
        value,
        whisker: interval.map(|interval| (interval.low * times, interval.high * times)),
        text: format!("{} times, each {} %", significant(value, 3), percent(efficiency.value)),
    })
}
