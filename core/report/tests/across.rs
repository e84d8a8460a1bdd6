//! The made-up run beside others made of it, against the file in `tests/golden`. After a wanted change, run with
//! `UPDATE_GOLDEN=1` and read the difference.

mod common;

use common::golden;
use crossvisor_analysis::{Across, across};
use crossvisor_model::{RunRecord, Value};
use crossvisor_report::{ACROSS_COLUMNS, Metrics, across_csv, across_json, across_markdown, across_text};

/// A later run: another kernel, other work of `pi`, a network half as fast, and no guests with e1000.
fn later() -> RunRecord {
    let mut later = common::record();
    later.name = "small-20260401-101500".into();
    later.provenance.guest.kernel = common::HOSTILE.into();
    for (workload, used) in &mut later.plan.workloads {
        if workload.as_str() == "pi" {
            used.options.insert("digits".into(), 4000.into());
        }
    }
    later.plan.cells.retain(|cell| cell.axes.hypervisor.as_str() != "kvm-e1000");
    for sample in later.samples.iter_mut().filter(|sample| &*sample.metric == "out") {
        sample.value = sample.value.measured().map_or(Value::TooFast, |value| Value::Measured(value / 2.0));
    }
    later
}

fn both() -> Across {
    across(&common::record(), &[later()], false)
}

#[test]
fn the_forms_are_as_they_were() {
    golden("across.txt", &across_text(&both(), Metrics::Headline, 80));
    golden("across.md", &across_markdown(&both(), Metrics::All));
    golden("across.csv", &across_csv(&both()).expect("CSV"));
}

#[test]
fn no_line_of_text_is_too_long() {
    for width in [80, 132] {
        for line in across_text(&both(), Metrics::All, width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn programs_get_all_of_it() {
    let json: serde_json::Value = serde_json::from_str(&across_json(&both()).expect("JSON")).expect("JSON");
    assert_eq!(
        (json["format"].as_u64(), json["runs"][0]["cells"].as_array().map(Vec::len)),
        (Some(1), Some(12))
    );
    let csv = across_csv(&both()).expect("CSV");
    assert!(csv.starts_with(&ACROSS_COLUMNS.join(",")));
    assert!(!csv.contains('\u{1b}') && !across_markdown(&both(), Metrics::All).contains("<script"));
}
