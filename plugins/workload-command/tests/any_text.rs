//! No output makes the parser panic, and none of it becomes a number that is not written there.

use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{ParseInput, Workload};
use crossvisor_workload_command::Command;
use proptest::prelude::*;
use serde_json::json;

fn chosen() -> Chosen {
    let metric = |name: &str, source: &str, place: &str, nth: i64| json!({"name": name, "label": name, "unit": "s", "better": "lower", source: place, "nth": nth});
    let metrics = json!([
        metric("a", "json", "/a/0", 1),
        metric("b", "csv", "b", -1),
        metric("c", "csv", "2", 2),
        metric("d", "regex", "d=(.*)", 1),
    ]);
    let options = [("argv".to_string(), json!(["tool"])), ("metrics".to_string(), metrics)];
    Chosen { offer: "command".parse().expect("name"), options: options.into() }
}

fn input(stdout: &str) -> ParseInput {
    let input = json!({
        "round": "command", "exit": 0, "stdout": stdout, "stderr": "", "wall_s": 1.0,
        "instance": {
            "index": 1, "place": {"guest": 1}, "folder": "/var/tmp/bench", "probe": "/usr/local/bin/crossvisor-probe",
            "memory_bytes": 536_870_912, "cpus": 1, "peer": {"address": "10.0.2.2", "port": 5301}
        }
    });
    serde_json::from_value(input).expect("an input")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_output_is_read_or_refused(pieces in prop::collection::vec("\\PC{0,9}|\\{\"a\":|\\[|1.5|,|\n|b,b|d=|\"", 0..60)) {
        let text = pieces.concat();
        if let Ok(output) = Command.parse(&chosen(), &input(&text)) {
            for sample in output.samples.iter().skip(1) {
                let read = sample.value.measured();
                prop_assert!(read.is_none_or(|_| text.contains(|c: char| c.is_ascii_digit())), "{sample:?} of {text:?}");
            }
        }
    }
}
