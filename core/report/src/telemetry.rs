//! What machines did while they were measured, as tables: one for each cell.
//!
//! Owns which series are together and how their numbers are written. It must never leave out a series that moved.

use std::collections::BTreeMap;

use crossvisor_analysis::Comparison;
use crossvisor_model::{Place, RunRecord, SeriesSummary, Telemetry, TelemetrySummary};
use serde::Serialize;

use crate::clean::one_line;
use crate::number;
use crate::svg::spark::spark;
use crate::table::{NONE, Setups};

/// The headings of a table.
pub const HEADINGS: [&str; 5] = ["", "host, mean", "host, max", "guests, mean", "guests, max"];

/// One cell's table.
#[derive(Serialize)]
pub struct Told {
    /// `disk, kvm-virtio/file/2`
    pub title: String,
    pub rows: Vec<Series>,
}

/// One series of a cell.
#[derive(Serialize)]
pub struct Series {
    /// In the order of [`HEADINGS`].
    pub texts: [String; 5],
    /// Lines of the host and of the guests, as SVG; empty where there is none.
    pub lines: [String; 2],
}

/// A series over the replicates of a cell: of the host, and of all its guests.
#[derive(Default)]
struct Sides<'a> {
    unit: &'a str,
    host: Vec<&'a SeriesSummary>,
    guests: Vec<&'a SeriesSummary>,
}

/// The tables of all cells that were listened to, in the order of the comparison; with lines where there are recordings.
pub fn told(record: &RunRecord, comparison: &Comparison, recordings: &[Telemetry]) -> Vec<Told> {
    let setups = Setups::of(comparison);
    let mut of_cells: BTreeMap<_, (Vec<&TelemetrySummary>, Vec<&Telemetry>)> = BTreeMap::new();
    for summary in &record.telemetry {
        of_cells.entry(&summary.cell).or_default().0.push(summary);
    }
    for recording in recordings {
        of_cells.entry(&recording.cell).or_default().1.push(recording);
    }
    let cells = comparison.workloads.iter().flat_map(|workload| &workload.cells);
    let table = |cell: &crossvisor_analysis::CellReport| {
        let (summaries, recordings) = of_cells.get(&cell.cell)?;
        let rows = rows(summaries.iter().copied(), recordings);
        let title = format!("{}, {}", cell.axes.workload, setups.label(&cell.axes));
        (!rows.is_empty()).then_some(Told { title, rows })
    };
    cells.filter_map(table).collect()
}

fn rows<'a>(telemetry: impl Iterator<Item = &'a TelemetrySummary>, recordings: &[&Telemetry]) -> Vec<Series> {
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
        let name_and_unit = one_line(&format!("{name} ({})", sides.unit));
        Some(Series {
            texts: [name_and_unit, host_mean, host_max, guests_mean, guests_max],
            lines: [true, false].map(|of_host| lines(recordings, name, of_host).unwrap_or_default()),
        })
    };
    order.iter().filter_map(row).collect()
}

/// A line for the host, or one for each guest.
fn lines(recordings: &[&Telemetry], name: &str, of_host: bool) -> Option<String> {
    let own = recordings.iter().filter(|telemetry| (telemetry.place == Place::Host) == of_host);
    let found = own.filter_map(|telemetry| {
        let series = telemetry.recording.series.iter().find(|series| series.name == name)?;
        Some((telemetry.recording.at_s.as_slice(), series.values.as_slice()))
    });
    spark(&found.collect::<Vec<_>>())
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
        let recording: Telemetry = serde_json::from_value(json!({
            "cell": "here/kvm/file/2/disk", "replicate": 1, "place": "host", "offer": "system", "source": "system",
            "start_s": 0.0, "recording": { "at_s": [1.0, 2.0],
                "series": [{ "name": "cpu user", "unit": "%", "values": [5.0, 10.0] }] },
        }))
        .expect("a recording");
        let rows = rows(all.iter(), &[&recording]);
        let texts: Vec<_> = rows.iter().map(|row| row.texts.each_ref().map(String::as_str)).collect();
        assert_eq!(texts, expected);
        let drawn: Vec<_> =
            rows.iter().map(|row| row.lines.each_ref().map(|line| !line.is_empty())).collect();
        assert_eq!(drawn, [[true, false], [false, false]]);
    }
}
