//! The rules of the house, read off the sources and manifests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const UNSAFE_ALLOWED: [&str; 3] = ["core/plugin/", "core/loader/", "guests/probe/src/tsc.rs"];
const PURE: [&str; 4] = ["core/model", "core/scenario", "core/analysis", "core/report"];
const IMPURE_WORDS: [&str; 8] = [
    "std::fs",
    "std::process",
    "std::net",
    "std::env",
    "std::thread",
    "Instant::now",
    "SystemTime::now",
    "std::io::std",
];
const LONGEST_FILE: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("root")
}

/// Folders of crates relative to the root.
fn crates() -> Vec<String> {
    let mut crates = vec!["guests/probe".to_string()];
    for parent in ["core", "plugins"] {
        for entry in fs::read_dir(root().join(parent)).expect(parent) {
            let entry = entry.expect("entry");
            if entry.path().join("Cargo.toml").is_file() {
                crates.push(format!("{parent}/{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    assert!(crates.len() > 15, "{crates:?}");
    crates
}

/// Names under `[dependencies]`.
fn dependencies(folder: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect(folder);
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or("");
    let names = section.lines().skip(1).filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| !name.is_empty() && !name.starts_with('#')).map(String::from).collect()
}

/// Source files of a crate without its tests, by path relative to the root.
fn sources(folder: &str) -> BTreeMap<String, String> {
    sources_below(&root().join(folder).join("src"))
}

fn sources_below(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("source");
                let name = path.strip_prefix(root()).expect("inside").to_string_lossy().into_owned();
                found.insert(name, text);
            }
        }
    }
    found
}

/// The lines before a file's unit tests, without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn ours(dependencies: &[String]) -> Vec<&str> {
    dependencies.iter().filter_map(|name| name.strip_prefix("crossvisor-")).collect()
}

#[test]
fn the_model_depends_on_nothing_of_ours() {
    assert_eq!(ours(&dependencies("core/model")), Vec::<&str>::new());
}

#[test]
fn plugins_see_only_the_contract() {
    for folder in crates().iter().filter(|folder| folder.starts_with("plugins/")) {
        for name in ours(&dependencies(folder)) {
            assert!(
                matches!(name, "plugin" | "model" | "storage-kit"),
                "{folder} depends on crossvisor-{name}"
            );
        }
    }
}

#[test]
fn only_target_links_libvirt_and_libssh2() {
    for folder in crates().iter().filter(|folder| *folder != "core/target") {
        for banned in ["virt", "virt-sys", "ssh2"] {
            assert!(!dependencies(folder).iter().any(|name| name == banned), "{folder} links {banned}");
        }
    }
    assert!(dependencies("core/target").contains(&"virt".to_string()));
}

#[test]
fn pure_crates_do_no_input_output_and_read_no_clock() {
    for folder in PURE {
        for name in ours(&dependencies(folder)) {
            assert!(matches!(name, "model" | "analysis"), "{folder} depends on crossvisor-{name}");
        }
        for (file, text) in sources(folder) {
            for line in code(&text) {
                let word = IMPURE_WORDS.iter().find(|word| line.contains(**word));
                assert_eq!(word, None, "{file}: {line}");
            }
        }
    }
}

#[test]
fn the_core_names_no_plugin_outside_the_command_line_program() {
    for folder in crates().iter().filter(|folder| folder.starts_with("core/") && *folder != "core/cli") {
        for name in ours(&dependencies(folder)) {
            let is_plugin =
                ["hypervisor-", "storage-", "workload-"].iter().any(|kind| name.starts_with(kind));
            assert!(!is_plugin, "{folder} depends on crossvisor-{name}");
        }
    }
}

#[test]
fn unsafe_stays_where_the_contract_needs_it() {
    for folder in crates() {
        for (file, text) in sources(&folder) {
            let allowed = UNSAFE_ALLOWED.iter().any(|place| file.starts_with(place));
            let used = text.lines().find(|line| {
                let code = line.split("//").next().unwrap_or_default();
                let outside_quotes: String = code.split('"').step_by(2).collect();
                outside_quotes.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
            });
            assert!(allowed || used.is_none(), "{file}: {}", used.unwrap_or_default());
        }
    }
}

#[test]
fn only_the_command_line_program_and_the_probe_print() {
    for folder in crates().iter().filter(|folder| !matches!(folder.as_str(), "core/cli" | "guests/probe")) {
        for (file, text) in sources(folder) {
            let printed = code(&text).find(|line| {
                ["println!", "print!", "eprintln!", "eprint!", "dbg!"].iter().any(|word| line.contains(word))
            });
            assert_eq!(printed, None, "{file}");
        }
    }
}

#[test]
fn every_module_says_what_it_is_for_and_fits_a_sitting() {
    for folder in crates() {
        for (file, text) in sources(&folder) {
            assert!(text.starts_with("//! "), "{file} does not start with its purpose");
            let lines = code(&text).count();
            assert!(lines <= LONGEST_FILE, "{file} has {lines} lines");
        }
    }
}

#[test]
fn nothing_is_left_for_later() {
    for folder in crates() {
        for (file, text) in sources(&folder) {
            let found = code(&text).find(|line| {
                [".unwrap()", ".expect(", "todo!", "unimplemented!", "#[ignore"]
                    .iter()
                    .any(|w| line.contains(w))
            });
            let is_test = file.contains("/test");
            assert!(is_test || found.is_none(), "{file}: {}", found.unwrap_or_default());
        }
    }
}

/// Texts of all sources with tests, of the tests' own folders too.
fn tested() -> String {
    let folders = crates();
    let all = folders.iter().map(String::as_str).chain(["tests"]);
    all.flat_map(|folder| sources_below(&root().join(folder)).into_values()).collect()
}

#[test]
fn every_statement_of_the_security_page_has_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/security.md")).expect("page");
    let tested = tested();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| test |"));
    let mut count = 0;
    for row in rows {
        let tests = row.rsplit(" | ").next().unwrap_or_default();
        for test in tests.split('`').skip(1).step_by(2) {
            assert!(tested.contains(&format!("fn {test}(")), "{test} of the row: {row}");
            count += 1;
        }
        assert!(tests.contains('`'), "{row}");
    }
    assert!(count > 20, "only {count} tests are named");
}
