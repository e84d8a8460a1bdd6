//! A panic stays inside the plugin, and a plugin in which it could not does not compile.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crossvisor_plugin::envelope::Answer;
use crossvisor_plugin::model::{Manifest, Name};
use crossvisor_plugin::sdk::{Chosen, respond};
use crossvisor_plugin::{Call, Failure, Left, Plugin, Resume, Turn};

struct Panics;

impl Plugin for Panics {
    fn manifest() -> Manifest {
        panic!("no manifest")
    }
    fn offers() -> &'static [Name] {
        static OFFERS: OnceLock<[Name; 1]> = OnceLock::new();
        OFFERS.get_or_init(|| [Name::new("a").expect("name")])
    }
    fn answer(chosen: &Chosen, _: &Call, _: &Resume) -> Result<Turn, Failure> {
        panic!("offer {} is beyond me", chosen.offer)
    }
}

#[test]
fn a_panic_is_the_error_of_one_call() {
    let request = br#"{"v": 1, "offer": "a", "options": {}, "op": "prepare", "input": {"instances": []}}"#;
    for _ in 0..2 {
        let Answer::Error(failure) = respond::<Panics>(request).answer else { panic!("no error") };
        assert_eq!(failure.message, "the plugin panicked: offer a is beyond me");
        assert_eq!(failure.left, Left::Nothing);
    }
}

#[test]
fn a_request_that_is_none_is_an_error_before_the_plugin_sees_it() {
    let newer = br#"{"v": 2, "offer": "a", "options": {}, "op": "prepare", "input": {"instances": []}}"#;
    let unknown = br#"{"v": 1, "offer": "a", "options": {}, "op": "migrate", "input": {}}"#;
    let offer = br#"{"v": 1, "offer": "b", "options": {}, "op": "prepare", "input": {"instances": []}}"#;
    for (request, told) in [
        (&newer[..], "envelope version 2 is not 1"),
        (unknown, "migrate"),
        (offer, "does not offer 'b'"),
        (b"{", "EOF"),
        (b"", "EOF"),
    ] {
        let Answer::Error(failure) = respond::<Panics>(request).answer else { panic!("no error") };
        assert!(failure.message.contains(told), "{failure}");
    }
}

const PLUGIN: &str = "
use crossvisor_plugin::{*, model::Manifest, sdk::Chosen};
pub struct Mine;
plugin!(storage_mine, storage, Mine);
impl Storage for Mine {
    fn manifest(&self) -> Manifest { panic!() }
    fn create(&self, _: &Chosen, _: &CreateInput, _: &Resume) -> Result<Turn, Failure> { panic!() }
    fn inspect(&self, _: &Chosen, _: &InspectInput, _: &Resume) -> Result<Turn, Failure> { panic!() }
}
";

/// Checks `PLUGIN` with cargo, offline and with the workspace's own versions; returns what the compiler says.
fn check(folder: &Path, panic: &str) -> (bool, String) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        [dependencies]\ncrossvisor-plugin = {{ path = {here:?} }}\n\
        [profile.dev]\npanic = \"{panic}\"\n[workspace]\n"
    );
    fs::create_dir_all(folder.join("src")).expect("src");
    fs::write(folder.join("Cargo.toml"), manifest).expect("manifest");
    fs::write(folder.join("src/lib.rs"), PLUGIN).expect("source");
    fs::copy(here.join("../../Cargo.lock"), folder.join("Cargo.lock")).expect("lock");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--offline", "--quiet", "--target-dir"]);
    // Kept between runs: only the first one compiles what the contract depends on.
    cargo.arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("panic")).current_dir(folder);
    let output = cargo.output().expect("cargo");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_plugin_does_not_compile_with_panics_that_abort() {
    let folder = tempfile::tempdir().expect("folder");
    let (good, said) = check(folder.path(), "unwind");
    assert!(good, "{said}");
    let (good, said) = check(folder.path(), "abort");
    assert!(!good && said.contains("a Crossvisor plugin needs panic = \"unwind\""), "{said}");
}
