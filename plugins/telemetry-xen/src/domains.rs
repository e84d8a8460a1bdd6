//! From what xentop printed while guests worked to a recording: the CPU of dom0 and of each domain.
//!
//! Owns the names of the series. The first table has no rates and makes no span.

use std::collections::BTreeMap;

use crossvisor_plugin::model::{Name, Recording};
use crossvisor_plugin::recorder::Recorder;
use crossvisor_plugin::stamps;

use crate::xenmon::top::{self, RATE, Table};

/// The recording that the output of a followed xentop makes; `guests` are the domains of the cell's guests.
pub fn record(text: &str, guests: &BTreeMap<Name, u32>) -> Recording {
    let mut recorder = Recorder::default();
    let mut warnings = Vec::new();
    let mut seen = 0_usize;
    for piece in stamps::read(text) {
        let (tables, refused) = top::tables(piece.text);
        warnings.extend(
            refused.into_iter().map(|refused| refused.reason).take(3_usize.saturating_sub(warnings.len())),
        );
        for table in tables.iter().filter(|table| !table.rows.is_empty()) {
            seen += 1;
            if seen > 1 && recorder.span(piece.at_s) {
                put(table, guests, &mut recorder);
            }
        }
    }
    recorder.finish(warnings, |_| true)
}

fn put(table: &Table, guests: &BTreeMap<Name, u32>, recorder: &mut Recorder) {
    for row in &table.rows {
        let name = match guests.get(row.domain.as_str()) {
            Some(number) => format!("guest {number} cpu"),
            None if row.domain == "Domain-0" => "dom0 cpu".to_string(),
            None => format!("domain {} cpu", row.domain),
        };
        if let Some(percent) = table.value(row, RATE) {
            recorder.put(&name, "% of one CPU", percent);
        }
    }
}
