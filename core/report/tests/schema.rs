//! The schema in the tree is that of the types, and holds what the report really writes. `BLESS=1` writes it anew.

mod common;

use std::path::Path;

use crossvisor_analysis::compare;
use crossvisor_report::{json, schema};
use serde_json::Value;

fn written() -> Value {
    let record = common::record();
    serde_json::from_str(&json(&record, &compare(&record)).expect("JSON")).expect("JSON")
}

fn holds(document: &Value) -> bool {
    jsonschema::draft202012::new(&schema().to_value()).expect("a schema").is_valid(document)
}

#[test]
fn the_schema_in_the_tree_is_that_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/report.schema.json");
    let text = serde_json::to_string_pretty(&schema()).expect("JSON") + "\n";
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, &text).expect("schema");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{} is not the schema of its type: BLESS=1 writes it anew", file.display());
}

#[test]
fn a_report_is_as_the_schema_says_and_a_changed_one_is_not() {
    let document = written();
    assert!(holds(&document));
    for (pointer, wrong) in [
        ("/format", Value::from("one")),
        ("/comparison/workloads/0/cells/0/axes/guests", Value::from("two")),
        ("/comparison/workloads/0/metrics/0/rows/0/state", Value::from("fine")),
        ("/comparison/workloads/0/metrics/0/rows/0/replicates/0/instances", Value::Null),
        ("/provenance/hosts", Value::from("here")),
    ] {
        let mut changed = document.clone();
        *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is in the report")) = wrong;
        assert!(!holds(&changed), "{pointer}");
    }
}
