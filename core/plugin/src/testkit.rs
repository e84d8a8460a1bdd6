//! The test kit for plugins written in Rust: golden transcripts, without a hypervisor or a volume at hand.
//!
//! Owns the files of a plugin's transcripts. It must never be part of a plugin, only of its tests.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sdk::{Plugin, respond};
use crate::transcript::{Exchange, Transcript};

/// Replays every transcript in the folder `golden` of a crate's `tests` folder to the plugin, with outputs from its
/// folder `recorded`. With `BLESS=1` in the environment the files are rewritten with the replies as they are.
///
/// ```no_run
/// # use crossvisor_plugin::{Plugin, model, sdk, Call, Resume, Turn, Failure};
/// # struct Mine;
/// # impl Plugin for Mine {
/// #     fn manifest() -> model::Manifest { unreachable!() }
/// #     fn answer(_: &sdk::Chosen, _: &Call, _: &Resume) -> Result<Turn, Failure> { unreachable!() }
/// # }
/// crossvisor_plugin::testkit::golden::<Mine>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
/// ```
///
/// # Panics
/// With all differences, when a reply is not the recorded one, breaks the contract, or names a metric that is not
/// in the manifest; when a file does not read; when there is no transcript.
pub fn golden<P: Plugin>(tests: impl AsRef<Path>) {
    let tests = tests.as_ref();
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let folder = tests.join("golden");
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("folder entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no transcript in {}", folder.display());
    let faults: Vec<String> = files.iter().flat_map(|file| replay::<P>(tests, file, bless)).collect();
    assert!(faults.is_empty(), "{}\nBLESS=1 takes the replies as they are", faults.join("\n"));
}

/// Replays one file; returns what is wrong.
fn replay<P: Plugin>(tests: &Path, file: &Path, bless: bool) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut transcript: Transcript =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let recorded = |name: &str| fs::read_to_string(tests.join("recorded").join(name)).ok();
    let answer = |request: &Value| {
        serde_json::to_value(respond::<P>(request.to_string().as_bytes())).expect("a reply has a JSON form")
    };
    let mut exchanges = match transcript.replay(recorded, answer) {
        Ok(exchanges) => exchanges,
        Err(error) => return vec![format!("{}: {error}", file.display())],
    };
    if bless {
        transcript.bless(&exchanges);
        let text = serde_json::to_string_pretty(&transcript).expect("a transcript has a JSON form");
        fs::write(file, text + "\n").unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        exchanges.iter_mut().for_each(|exchange| exchange.expected.clone_from(&exchange.got));
    }
    let check = |exchange: &Exchange| exchange.check().and_then(|()| metrics::<P>(exchange)).err();
    exchanges.iter().filter_map(check).map(|fault| format!("{}: {fault}", file.display())).collect()
}

/// A reply names only metrics of its offer.
fn metrics<P: Plugin>(exchange: &Exchange) -> Result<(), String> {
    let offers = P::manifest().offers;
    let offer = offers.iter().find(|offer| exchange.request["offer"] == offer.name.as_str());
    let samples = exchange.got.pointer("/ok/output/samples").and_then(Value::as_array);
    let named = samples.into_iter().flatten().map(|sample| &sample["metric"]);
    let known = |metric: &Value| offer.is_some_and(|offer| offer.metrics.iter().any(|m| *metric == m.name));
    named
        .filter(|metric| !known(metric))
        .try_for_each(|metric| Err(format!("{metric} is not in the manifest")))
}
