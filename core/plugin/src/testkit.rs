//! The test kit for plugins: golden transcripts, without a hypervisor or a volume at hand.
//!
//! Owns the files of a plugin's transcripts. It must never be part of a plugin, only of its tests.

use std::fs;
use std::path::{Path, PathBuf};

use crossvisor_model::{Manifest, Options};
use serde::Deserialize;
use serde_json::Value;

use crate::sdk::{Plugin, respond};
use crate::transcript::{Exchange, Transcript};

/// Replays every transcript in the folder `golden` of a crate's `tests` folder to the plugin, with outputs from its
/// folder `recorded`. With `BLESS=1` in the environment a file whose replies differ is rewritten with
/// the replies as they are.
///
/// ```no_run
/// # use crossvisor_plugin::{Plugin, model, sdk, Call, Resume, Turn, Failure};
/// # struct Mine;
/// # impl Plugin for Mine {
/// #     fn manifest() -> model::Manifest { unreachable!() }
/// #     fn offers() -> &'static [model::Name] { &[] }
/// #     fn answer(_: &sdk::Chosen, _: &Call, _: &Resume) -> Result<Turn, Failure> { unreachable!() }
/// # }
/// crossvisor_plugin::testkit::golden::<Mine>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
/// ```
///
/// # Panics
/// With all [`faults`].
pub fn golden<P: Plugin>(tests: impl AsRef<Path>) {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let answer = |request: &Value| {
        let reply = respond::<P>(request.to_string().as_bytes());
        serde_json::to_value(reply).unwrap_or_else(|e| panic!("the reply has no JSON form: {e}"))
    };
    let faults = faults(tests.as_ref(), &P::manifest(), bless, answer);
    assert!(faults.is_empty(), "{}\nBLESS=1 takes the replies as they are", faults.join("\n"));
}

/// Replays the transcripts of a folder to a plugin of any form, and says what is wrong: a reply that is not the
/// recorded one (unless `bless`: then the file is rewritten), breaks the contract, or names a metric that is not in
/// the manifest; a file that does not read; no transcript at all.
pub fn faults(
    tests: &Path,
    manifest: &Manifest,
    bless: bool,
    mut answer: impl FnMut(&Value) -> Value,
) -> Vec<String> {
    let files = match list(&tests.join("golden")) {
        Ok(files) if files.is_empty() => return vec![format!("no transcript in {}/golden", tests.display())],
        Ok(files) => files,
        Err(error) => return vec![format!("cannot read {}/golden: {error}", tests.display())],
    };
    let mut replayed = |file: &PathBuf| {
        let fault = replay(tests, file, manifest, bless, &mut answer).err()?;
        Some(format!("{}: {fault}", file.display()))
    };
    files.iter().filter_map(&mut replayed).collect()
}

fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

/// Replays one file; the error is the first fault in it.
fn replay(
    tests: &Path,
    file: &Path,
    manifest: &Manifest,
    bless: bool,
    answer: impl FnMut(&Value) -> Value,
) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    let mut transcript: Transcript = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let recorded = |name: &str| fs::read_to_string(tests.join("recorded").join(name)).ok();
    let mut exchanges = transcript.replay(recorded, answer).map_err(|e| e.to_string())?;
    if bless && exchanges.iter().any(|exchange| exchange.got != exchange.expected) {
        transcript.bless(&mut exchanges);
        let text = serde_json::to_string_pretty(&transcript).map_err(|e| e.to_string())?;
        fs::write(file, text + "\n").map_err(|e| e.to_string())?;
    }
    exchanges.iter().try_for_each(|exchange| exchange.check().and_then(|()| metrics(manifest, exchange)))
}

/// A reply names only metrics of its offer.
fn metrics(manifest: &Manifest, exchange: &Exchange) -> Result<(), String> {
    let offer = manifest.offers.iter().find(|offer| exchange.request["offer"] == offer.name.as_str());
    let samples = exchange.got.pointer("/ok/output/samples").and_then(Value::as_array);
    let mut named = samples.into_iter().flatten().map(|sample| &sample["metric"]);
    let options = Options::deserialize(&exchange.request["options"]).unwrap_or_default();
    let metrics = offer.map(|offer| offer.metrics_with(&options)).unwrap_or_default();
    let known = |metric: &Value| metrics.iter().any(|m| *metric == m.name);
    let unknown = named.find(|metric| !known(metric));
    unknown.map_or(Ok(()), |metric| Err(format!("the metric {metric} is not in the manifest")))
}
