//! What machines did while they were measured, as tables: one for each cell.
//!
//! Owns which series are together and how their numbers are written. It must never leave out a series that moved.

use std::collections::BTreeMap;

use crossvisor_analysis::Comparison;
use crossvisor_model::{Place, RunRecord, SeriesSummary, TelemetrySummary};
use serde::Serialize;

use crate::clean::one_line;
use crate::number;
use crate::table::{NONE, Setups};

/// The headings of a table.
pub const HEADINGS: [&str; 5] = ["", "host, mean", "host, max", "guests, mean", "guests, max"];

/// One cell's table.
#[derive(Serialize)]
pub struct Told {
    /// `disk, kvm-virtio/file/2`
    pub title: String,
    pub rows: Vec<[String; 5]>,
}

/// A series over the replicates of a cell: of the host, and of all its guests.
#[derive(Default)]
struct Sides<'a> {
    unit: &'a str,
    host: Vec<&'a SeriesSummary>,
    guests: Vec<&'a SeriesSummary>,
}

/// The tables of all cells that were listened to, in the order of the comparison.
pub fn told(record: &RunRecord, comparison: &Comparison) -> Vec<Told> {
    let setups = Setups::of(comparison);
    let cells = comparison.workloads.iter().flat_map(|workload| &workload.cells);
    let table = |cell: &crossvisor_analysis::CellReport| {
        let own = record.telemetry.iter().filter(|summary| summary.cell == cell.cell);
        let rows = rows(own);
        let title = format!("{}, {}", cell.axes.workload, setups.label(&cell.axes));
        (!rows.is_empty()).then_some(Told { title, rows })
    };
    cells.filter_map(table).collect()
}

fn rows<'a>(telemetry: impl Iterator<Item = &'a TelemetrySummary>) -> Vec<[String; 5]> {
    let mut order: Vec<&str> = Vec::new();
    let mut all: BTreeMap<&str, Sides<'_>> = BTreeMap::new();
    for summary in telemetry {
        for series in &summary.series {
            let sides = all.entry(&series.name).or_insert_with(|| {
                order.push(&series.name);
                Sides { unit: &series.unit, ..Sides::default() }
            });
            let side = if summary.place == Place::Host { &mut sides.host } else { &mut sides.guests };
            side.push(series);
        }
    }
    let moved = |sides: &&Sides<'_>| sides.host.iter().chain(&sides.guests).any(|series| series.max != 0.0);
    let row = |name: &&str| {
        let sides = all.get(name).filter(moved)?;
        let [host_mean, host_max] = numbers(&sides.host);
        let [guests_mean, guests_max] = numbers(&sides.guests);
        Some([one_line(&format!("{name} ({})", sides.unit)), host_mean, host_max, guests_mean, guests_max])
    };
    order.iter().filter_map(row).collect()
}

/// The mean over replicates and guests, and the greatest.
fn numbers(series: &[&SeriesSummary]) -> [String; 2] {
    let Some(max) = series.iter().map(|series| series.max).reduce(f64::max) else {
        return [NONE.to_string(), NONE.to_string()];
    };
    let mean = series.iter().map(|series| series.mean).sum::<f64>() / series.len() as f64;
    [mean, max].map(|value| number::significant(value, 3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replicates_and_guests_are_taken_together_and_what_stood_still_is_left_out() {
        let told = |place: serde_json::Value, name: &str, mean: f64, max: f64| -> TelemetrySummary {
            serde_json::from_value(json!({
                "cell": "here/kvm/file/2/disk", "replicate": 1, "place": place, "offer": "system", "source": "system",
                "series": [{ "name": name, "unit": "%", "mean": mean, "max": max }],
            }))
            .expect("a summary")
        };
        let all = [
            told(json!("host"), "cpu user", 40.0, 80.0),
            told(json!({ "guest": 1 }), "cpu user", 10.0, 20.0),
            told(json!({ "guest": 2 }), "cpu user", 20.0, 25.0),
            told(json!("host"), "cpu steal", 0.0, 0.0),
            told(json!("host"), "dom0 cpu", 3.0, 4.0),
        ];
        let expected =
            [["cpu user (%)", "40.0", "80.0", "15.0", "25.0"], ["dom0 cpu (%)", "3.00", "4.00", "-", "-"]];
        assert_eq!(rows(all.iter()), expected.map(|row| row.map(String::from)));
    }
}
