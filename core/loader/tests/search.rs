//! Which of several plugins is used, and what is said of clashes.

mod common;

use std::path::Path;

use common::{compile, folder, name, request, search};
use crossvisor_loader::{Broken, Linked, LoadError, Loaded, Origin, PluginError, load_all, trust};
use crossvisor_model::{Kind, Manifest, Offer};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Call, CreateInput, Failure, InspectInput, Resume, Storage, Turn, finish, plugin};

struct Spare;

impl Storage for Spare {
    fn manifest(&self) -> Manifest {
        let offer = Offer::new(name("spare"), "");
        Manifest {
            name: name("storage-spare"),
            version: "0.1".into(),
            kind: Kind::Storage,
            summary: String::new(),
            offers: vec![offer],
        }
    }
    fn create(&self, _: &Chosen, _: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("no room"))
    }
    fn inspect(&self, _: &Chosen, input: &InspectInput, _: &Resume) -> Result<Turn, Failure> {
        assert_eq!(input.volume.format, "raw");
        finish(Vec::new(), &input.volume.format)
    }
}

plugin!(storage_spare, storage, Spare);

const LINKED: Linked = &[("storage-spare", entry)];

/// Every candidate with its state, sorted.
fn states(loaded: &Loaded) -> Vec<String> {
    let mut all: Vec<_> = loaded.candidates.iter().map(|c| format!("{} {}", c.name, c.state)).collect();
    all.sort();
    all
}

fn load(explicit: &[(&str, &Path)], folders: &[&Path]) -> Loaded {
    let home = folder();
    let mut search = search(home.path());
    for folder in folders {
        for file in std::fs::read_dir(folder).expect("folder") {
            trust(&file.expect("file").path(), &search).expect("trust");
        }
    }
    search.explicit = explicit.iter().map(|&(n, path)| (name(n), path.into())).collect();
    search.folders = folders.iter().map(|&folder| folder.into()).collect();
    load_all(&search, LINKED)
}

#[test]
fn a_linked_plugin_is_called_through_the_same_contract() {
    let loaded = load(&[], &[]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let plugin = &loaded.plugins["storage-spare"];
    assert_eq!(plugin.origin, Origin::Linked);
    assert_eq!(plugin.call(&request("spare")).expect("turn").output, "raw");
    assert_eq!(loaded.manifests()["storage-spare"].offers[0].name.as_str(), "spare");
}

#[test]
fn a_panic_of_a_linked_plugin_is_an_error_of_the_one_call() {
    let loaded = load(&[], &[]);
    let plugin = &loaded.plugins["storage-spare"];
    let mut other = request("spare");
    if let Call::Inspect(input) = &mut other.call {
        input.volume.format = "qcow2".into();
    }
    let said = plugin.call(&other).expect_err("panics");
    assert!(
        matches!(&said, PluginError::Failed { failure, .. } if failure.message.contains("panicked")),
        "{said}"
    );
    assert!(plugin.call(&request("spare")).is_ok());
}

#[test]
fn a_file_wins_over_what_is_linked_and_an_explicit_one_over_every_file() {
    let (first, second) = (folder(), folder());
    let found = compile(first.path(), "storage-spare", &[]);
    let loaded = load(&[], &[first.path()]);
    assert_eq!(loaded.plugins["storage-spare"].origin, Origin::Path(found));

    let chosen = compile(second.path(), "storage-spare", &[]);
    let loaded = load(&[("storage-spare", &chosen)], &[first.path(), second.path()]);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(loaded.plugins["storage-spare"].origin, Origin::Path(chosen));
    // The one in the first folder, the chosen one's other way to be found, and the linked one.
    let shadowed = "storage-spare shadowed";
    assert_eq!(states(&loaded), ["storage-spare loaded", shadowed, shadowed, shadowed]);
}

#[test]
fn two_files_of_one_plugin_are_an_error_that_names_both() {
    let (first, second) = (folder(), folder());
    let one = compile(first.path(), "storage-spare", &[]);
    let other = compile(second.path(), "storage-spare", &[]);
    compile(second.path(), "storage-good", &[]);
    let loaded = load(&[], &[first.path(), second.path()]);
    assert_eq!(loaded.plugins.keys().map(|n| n.as_str()).collect::<Vec<_>>(), ["storage-good"]);
    let [problem] = loaded.problems.as_slice() else { panic!("{:?}", loaded.problems) };
    let clash = "storage-spare clash";
    assert_eq!(states(&loaded), ["storage-good loaded", clash, clash, "storage-spare shadowed"]);
    let text = problem.to_string();
    for part in [&*one.to_string_lossy(), &*other.to_string_lossy(), "--plugin storage-spare=PATH"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_broken_file_is_not_replaced_in_silence_and_does_not_harm_the_others() {
    let folder = folder();
    std::fs::write(folder.path().join("libcrossvisor_storage_spare.so"), "#!/bin/sh\n").expect("file");
    compile(folder.path(), "storage-good", &[]);
    let loaded = load(&[], &[folder.path()]);
    assert_eq!(loaded.plugins.keys().map(|n| n.as_str()).collect::<Vec<_>>(), ["storage-good"]);
    assert!(matches!(loaded.problems.as_slice(), [LoadError::Broken { reason: Broken::Ended(_), .. }]));
}

#[test]
fn an_offer_of_two_plugins_is_an_error_that_names_both() {
    let folder = folder();
    compile(folder.path(), "storage-one", &["OFFER=\"same\""]);
    compile(folder.path(), "storage-two", &["OFFER=\"same\""]);
    let loaded = load(&[], &[folder.path()]);
    assert_eq!(loaded.plugins.keys().map(|n| n.as_str()).collect::<Vec<_>>(), ["storage-spare"]);
    let text = loaded.problems.iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains("storage 'same' is offered by plugin 'storage-one'"), "{text}");
    assert!(text.contains("plugin 'storage-two'"), "{text}");
    assert_eq!(states(&loaded), ["storage-one clash", "storage-spare loaded", "storage-two clash"]);
}

#[test]
fn an_explicit_plugin_given_twice_or_missing_is_an_error() {
    let folder = folder();
    let good = compile(folder.path(), "storage-good", &[]);
    let none = folder.path().join("none.so");
    let loaded = load(&[("storage-good", &good), ("storage-good", &good), ("storage-none", &none)], &[]);
    assert!(loaded.plugins.contains_key("storage-good"));
    let text: Vec<_> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(text[0], "--plugin is given twice for 'storage-good': give it once");
    assert!(text[1].contains("cannot load plugin 'storage-none'") && text[1].contains("none.so"), "{text:?}");
}
