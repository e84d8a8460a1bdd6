//! What the plugin says of itself.
//!
//! Owns names, options and their limits. It must never depend on a request.

use crossvisor_plugin::model::{
    Better, Kind, Manifest, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec,
};
use serde_json::json;

/// The workload's own metric.
pub const WALL: &str = "wall";
const ARGUMENTS: u64 = 1000;

pub fn manifest() -> Result<Manifest, NameError> {
    let wall = MetricSpec::new(WALL, "time of the program", "s", Better::Lower).headline();
    let command = Offer {
        options: options(),
        metrics: vec![wall],
        ..Offer::new(Name::new("command")?, "any program; its metrics are found in what it prints")
    };
    Ok(Manifest {
        name: Name::new("workload-command")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "programs that have no plugin".into(),
        offers: vec![command],
    })
}

fn options() -> Vec<OptionSpec> {
    let words = || OptionKind::Words { min: 1, max: ARGUMENTS };
    vec![
        OptionSpec::new(
            "argv",
            words(),
            None,
            "the program and its arguments, without a shell; {folder}, {index}, {cpus}, {memory} (bytes), {peer} and \
             {port} stand for those of the instance; must be set",
        ),
        OptionSpec::new("prepare", words(), None, "a program that is run before, not measured; unset: none"),
        OptionSpec::new(
            "timeout",
            OptionKind::Duration { min: 1.0, max: 7.0 * 86_400.0 },
            json!(86_400.0),
            "ended after this time",
        ),
        OptionSpec::new(
            "metrics",
            OptionKind::Metrics { sources: sources(), keys: keys() },
            None,
            "what is measured beside the time, and where it is found; unset: nothing",
        ),
    ]
}

fn sources() -> Vec<OptionSpec> {
    let source = |name: &str, kind, help: &str| OptionSpec::new(name, kind, None, help);
    vec![
        source("json", OptionKind::Pointer, "JSON pointer into a document that begins a line"),
        source("csv", OptionKind::Text, "a column, by its heading or its number, from 1"),
        source(
            "regex",
            OptionKind::Pattern,
            "regular expression, line by line; the value is its group 'value', else its first group, else all of it",
        ),
    ]
}

fn keys() -> Vec<OptionSpec> {
    let choice = |of: &[&str]| OptionKind::Choice { of: of.iter().map(ToString::to_string).collect() };
    vec![
        OptionSpec::new(
            "nth",
            OptionKind::Integer { min: -1_000_000, max: 1_000_000 },
            json!(1),
            "which of several: 1 is the first, -1 the last",
        ),
        OptionSpec::new(
            "separator",
            choice(&["comma", "semicolon", "tab", "space"]),
            json!("comma"),
            "between the columns",
        ),
        OptionSpec::new(
            "from",
            choice(&["stdout", "stderr"]),
            json!("stdout"),
            "where the program prints it",
        ),
    ]
}
