//! Plugins as files: what is found where, and a new one from outside the workspace without an edit in it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crossvisor_tests::{BUNDLED, Lab, program_folder, root};
use tempfile::TempDir;

/// A folder with the program and all bundled plugins as files.
fn install(folder: &Path) {
    let copy = |name: &str| {
        fs::copy(program_folder().join(name), folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    };
    copy("crossvisor");
    BUNDLED.iter().for_each(|plugin| copy(&file(plugin)));
}

fn file(plugin: &str) -> String {
    format!("libcrossvisor_{}.so", plugin.replace('-', "_"))
}

/// A folder above which only the user may write, as plugins need it.
fn own_folder() -> TempDir {
    crossvisor_tests::examples::private_folder()
}

/// Runs the program that is in `folder`, with the list of trusted plugins that is in `trust`.
fn run_trusting(trust: &Path, folder: &Path, path: &str, arguments: &[&str]) -> Output {
    let lab = Lab::new();
    let mut command = Command::new(folder.join("crossvisor"));
    command
        .args(arguments)
        .current_dir("/")
        .env("CROSSVISOR_STATE", lab.state())
        .env("CROSSVISOR_PLUGIN_PATH", path)
        .env("CROSSVISOR_TRUST", trust.join("trusted.json"));
    command.output().expect("start")
}

/// The same with nothing trusted.
fn run(folder: &Path, path: &str, arguments: &[&str]) -> Output {
    run_trusting(own_folder().path(), folder, path, arguments)
}

fn plugins(folder: &Path, path: &str, more: &[&str]) -> serde_json::Value {
    let output = run(folder, path, &[more, &["plugin", "list", "--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// Where the listed plugin came from.
fn origin(list: &serde_json::Value, plugin: &str) -> String {
    let all = list["plugins"].as_array().unwrap_or_else(|| panic!("{list}"));
    let one = all.iter().find(|one| one["name"] == plugin).unwrap_or_else(|| panic!("{plugin} in {list}"));
    one["origin"].as_str().unwrap_or_default().to_string()
}

#[test]
fn bundled_plugins_are_files_beside_the_program_and_are_linked_in_for_when_the_file_is_gone() {
    let folder = tempfile::tempdir().expect("folder");
    install(folder.path());
    let list = plugins(folder.path(), "", &[]);
    for plugin in BUNDLED {
        assert_eq!(origin(&list, plugin), folder.path().join(file(plugin)).display().to_string());
    }
    fs::remove_file(folder.path().join(file("workload-hep"))).expect("remove");
    let list = plugins(folder.path(), "", &[]);
    assert_eq!(origin(&list, "workload-hep"), "linked into the program");
    assert!(origin(&list, "storage-file").ends_with(".so"));
}

#[test]
fn a_second_file_of_a_plugin_is_a_clash_that_names_both_until_one_is_chosen() {
    let (folder, other) = (own_folder(), own_folder());
    install(folder.path());
    let second = other.path().join(file("storage-file"));
    fs::copy(program_folder().join(file("storage-file")), &second).expect("copy");
    let path = other.path().to_string_lossy().into_owned();
    let output = run(folder.path(), &path, &["plugin", "list"]);
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for file in [second.clone(), folder.path().join(file("storage-file"))] {
        assert!(said.contains(&file.display().to_string()), "{said}");
    }
    let chosen = format!("storage-file={}", second.display());
    let list = plugins(folder.path(), &path, &["--plugin", &chosen]);
    assert_eq!(origin(&list, "storage-file"), second.display().to_string());
}

const NEW_PLUGIN: &str = r#"
use crossvisor_plugin::model::{Action, Exec, Kind, Manifest, Name, Offer, Place, Step, Volume, VolumeSource};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::*;

pub struct Scratch;
plugin!(storage_scratch, storage, Scratch);

impl Storage for Scratch {
    fn manifest(&self) -> Manifest {
        let name = |text: &str| Name::new(text).unwrap();
        Manifest {
            name: name("storage-scratch"),
            version: "9.9.9".into(),
            kind: Kind::Storage,
            summary: "a throw-away backing".into(),
            offers: vec![Offer::new(name("scratch"), "a copy by dd")],
        }
    }
    fn create(&self, _: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let path = input.folder.join(format!("{}.scratch", input.name));
        let argv = ["dd".to_string(), format!("if={}", input.golden.display()), format!("of={}", path.display())];
        let step = Step::new("copy by dd", Action::Exec(Exec::new(Place::Host, argv, 60.0)))
            .undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
        let volume = Volume::new(VolumeSource::File(path), "raw");
        finish(vec![step], CreateOutput { volume })
    }
    fn inspect(&self, _: &Chosen, _: &InspectInput, _: &Resume) -> Result<Turn, Failure> {
        finish(Vec::new(), InspectOutput::of(None))
    }
}
"#;

const SCENARIO: &str = "
name: outside
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [kvm-virtio], storage: [scratch], guests: [1], workload: [pi]}
";

#[test]
fn a_new_backing_is_a_new_folder_and_no_edit_anywhere_else() {
    let folder = own_folder();
    let contract = root().join("core/plugin").canonicalize().expect("contract");
    let manifest = format!(
        "[package]\nname = \"crossvisor-storage-scratch\"\nversion = \"9.9.9\"\nedition = \"2024\"\n\
        [lib]\nname = \"crossvisor_storage_scratch\"\ncrate-type = [\"cdylib\"]\n\
        [dependencies]\ncrossvisor-plugin = {{ path = {contract:?} }}\n[workspace]\n"
    );
    fs::create_dir(folder.path().join("src")).expect("src");
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("manifest");
    fs::write(folder.path().join("src/lib.rs"), NEW_PLUGIN).expect("source");
    // The workspace's versions, so that nothing has to be looked up.
    fs::copy(root().join("Cargo.lock"), folder.path().join("Cargo.lock")).expect("lock");
    let target = folder.path().join("target");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .expect("cargo");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

    let path = target.join("debug").display().to_string();
    let lab = Lab::new();
    let scenario = lab.scenario("outside", SCENARIO).display().to_string();
    let without = run(&program_folder(), "", &["plan", &scenario]);
    assert_eq!(without.status.code(), Some(2), "{without:?}");
    assert!(String::from_utf8_lossy(&without.stderr).contains("scratch"), "{without:?}");
    let untrusted = run(&program_folder(), &path, &["plan", &scenario]);
    let said = String::from_utf8_lossy(&untrusted.stderr);
    assert!(said.contains("nobody has said that it may run"), "{said}");
    let library = Path::new(&path).join(file("storage-scratch")).display().to_string();
    let trusted = run_trusting(folder.path(), &program_folder(), &path, &["plugin", "trust", &library]);
    assert_eq!(trusted.status.code(), Some(0), "{trusted:?}");
    let with = run_trusting(folder.path(), &program_folder(), &path, &["plan", &scenario]);
    let said = String::from_utf8_lossy(&with.stdout);
    assert_eq!(with.status.code(), Some(0), "{with:?}");
    assert!(said.contains("copy by dd") && said.contains("here/kvm-virtio/scratch/1/pi"), "{said}");
}

#[test]
fn every_scenario_in_the_tree_fits_the_bundled_plugins() {
    for entry in fs::read_dir(root().join("scenarios")).expect("scenarios") {
        let path = entry.expect("entry").path();
        let output = run(&program_folder(), "", &["plan", "--cells", &path.to_string_lossy()]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
