//! Metrics that a scenario describes: the first lines are where they stand (JSON pointer, column, separator), the rest
//! is what a program printed.
#![no_main]

use crossvisor_fuzz::{Offered, text};
use crossvisor_workload_command::Command;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fn metric(name: &str, place: Value) -> Value {
    let mut metric = json!({"name": name, "label": name, "unit": "s", "better": "lower"});
    metric.as_object_mut().expect("an object").extend(place.as_object().expect("an object").clone());
    metric
}

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    let mut lines = text.splitn(3, '\n');
    let [pointer, column, printed] = [(); 3].map(|()| lines.next().unwrap_or_default());
    let separator = ["comma", "semicolon", "tab", "space"][column.len() % 4];
    let metrics = json!([
        metric("pointed", json!({"json": pointer})),
        metric("in column", json!({"csv": column, "nth": -1, "separator": separator})),
        metric("second", json!({"csv": column, "nth": 2})),
        metric("matched", json!({"regex": r"^value:?\s*(\S+)"})),
    ]);
    let options = [("argv".to_string(), json!(["tool"])), ("metrics".to_string(), metrics)];
    Offered::with::<Command>("command", options.into()).parses("command", printed);
});
