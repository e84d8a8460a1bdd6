//! Who decides that a plugin runs, and what becomes of those that nobody decided for.

mod common;

use std::path::Path;

use common::{compile, folder, mode, name, request, search};
use crossvisor_loader::{
    Broken, Candidate, LoadError, Loaded, SearchPath, State, TrustError, load_all, trust,
};
use sha2::{Digest, Sha256};

fn load(search: &SearchPath) -> Loaded {
    load_all(search, &[])
}

/// The only candidate and the only problem there are.
fn only(loaded: &Loaded) -> (&Candidate, &Broken) {
    let ([candidate], [LoadError::Broken { reason, .. }]) =
        (loaded.candidates.as_slice(), loaded.problems.as_slice())
    else {
        panic!("{loaded:?}");
    };
    assert!(loaded.plugins.is_empty());
    assert_eq!(candidate.reason, reason.to_string());
    (candidate, reason)
}

fn sha256(file: &Path) -> String {
    format!("{:x}", Sha256::digest(std::fs::read(file).expect("file")))
}

/// The script plugin `storage-x`, which does `more` once it has said what it is.
fn script(folder: &Path, more: &str) -> std::path::PathBuf {
    let file = folder.join("crossvisor-plugin-storage-x");
    let manifest = r#"{"name":"storage-x","version":"1","kind":"storage","summary":"","offers":[]}"#;
    let text = format!("#!/bin/sh\nread -r line\necho '{{\"v\":1,\"ok\":{manifest}}}'\n{more}\n");
    std::fs::write(&file, text).expect("script");
    mode(&file, 0o755);
    file
}

#[test]
fn what_nobody_trusts_does_not_run_until_it_is_trusted_and_as_it_was_then() {
    let (home, plugins) = (folder(), folder());
    let file = compile(plugins.path(), "storage-x", &[]);
    let search = SearchPath { folders: vec![plugins.path().into()], ..search(home.path()) };
    let untrusted = load(&search);
    let (candidate, reason) = only(&untrusted);
    assert_eq!((candidate.state, &candidate.manifest), (State::Untrusted, &None));
    let advice = format!("crossvisor plugin trust {}", file.canonicalize().expect("path").display());
    assert!(matches!(reason, Broken::Untrusted(_)) && reason.to_string().ends_with(&advice), "{reason}");

    let trusted = trust(&file, &search).expect("trust");
    assert_eq!((trusted.name.as_str(), trusted.sha256.as_str()), ("storage-x", sha256(&file).as_str()));
    let loaded = load(&search);
    assert_eq!(loaded.candidates[0].state, State::Loaded);
    let plugin = &loaded.plugins["storage-x"];
    assert_eq!(plugin.way(), "in a process of its own");
    assert_eq!(plugin.call(&request("x")).expect("turn").output["answer"], 42);

    compile(plugins.path(), "storage-x", &["CODE=1"]);
    let changed = load(&search);
    assert!(matches!(only(&changed), (Candidate { state: State::Untrusted, .. }, Broken::Changed(_))));
    trust(&file, &search).expect("trust again");
    assert!(load(&search).plugins.contains_key("storage-x"));
    let list = std::fs::read_to_string(home.path().join("trusted.json")).expect("list");
    assert_eq!(list.matches("sha256").count(), 1, "{list}");
}

#[test]
fn a_plugin_named_for_one_run_needs_no_consent_but_the_same_care() {
    let (home, plugins) = (folder(), folder());
    let file = compile(plugins.path(), "storage-x", &[]);
    let search = SearchPath { explicit: vec![(name("storage-x"), file.clone())], ..search(home.path()) };
    assert!(load(&search).plugins.contains_key("storage-x"));
    assert!(!home.path().join("trusted.json").exists());
    mode(&file, 0o777);
    let refused = load(&search);
    let (candidate, reason) = only(&refused);
    assert_eq!(candidate.state, State::Refused);
    assert!(reason.to_string().contains("chmod go-w"), "{reason}");
}

#[test]
fn a_file_in_a_folder_that_all_may_write_is_neither_run_nor_trusted() {
    let (home, plugins) = (folder(), folder());
    let file = compile(plugins.path(), "storage-x", &[]);
    let search = SearchPath { folders: vec![plugins.path().into()], ..search(home.path()) };
    trust(&file, &search).expect("trust");
    mode(plugins.path(), 0o1777);
    assert!(matches!(only(&load(&search)), (Candidate { state: State::Refused, .. }, Broken::Shared(_))));
    let error = trust(&file, &search).expect_err("refused");
    assert!(matches!(error, TrustError::Refused { reason: Broken::Shared(_), .. }), "{error}");
    mode(plugins.path(), 0o700);
}

#[test]
fn a_list_that_others_could_write_trusts_nothing() {
    let (home, plugins) = (folder(), folder());
    let file = compile(plugins.path(), "storage-x", &[]);
    let search = SearchPath { folders: vec![plugins.path().into()], ..search(home.path()) };
    trust(&file, &search).expect("trust");
    for (mode_bits, text) in [(0o666, None), (0o600, Some("[]"))] {
        if let Some(text) = text {
            std::fs::write(&search.trust_file, text).expect("list");
        }
        mode(&search.trust_file, mode_bits);
        let loaded = load(&search);
        assert!(loaded.plugins.is_empty());
        let said = loaded.problems[0].to_string();
        assert!(matches!(loaded.problems[0], LoadError::Trust(_)) && said.contains("trusted.json"), "{said}");
        assert!(trust(&file, &search).is_err(), "a list that does not read is not written over");
    }
}

#[test]
fn a_sidecar_must_fit_and_then_describes_without_a_start() {
    let (home, plugins) = (folder(), folder());
    // It cannot be opened at all, so that a start would show.
    let file = compile(plugins.path(), "storage-x", &["ABI=9"]);
    let sidecar = plugins.path().join("libcrossvisor_storage_x.so.json");
    let search = SearchPath { folders: vec![plugins.path().into()], ..search(home.path()) };
    let manifest =
        r#"{"name":"storage-x","version":"1","kind":"storage","summary":"said beside","offers":[]}"#;
    let write = |sum: &str| {
        std::fs::write(&sidecar, format!(r#"{{"sha256":"{sum}","manifest":{manifest}}}"#)).expect("sidecar");
        mode(&sidecar, 0o644);
    };
    write(&sha256(&file));
    let untrusted = load(&search);
    let (candidate, _) = only(&untrusted);
    assert_eq!(candidate.manifest.as_ref().map(|m| m.summary.as_str()), Some("said beside"));

    trust(&file, &search).expect("trust");
    let loaded = load(&search);
    let plugin = &loaded.plugins["storage-x"];
    assert_eq!(plugin.manifest.summary, "said beside");
    let said = plugin.call(&request("x")).expect_err("does not open").to_string();
    assert!(said.contains("version 9 of the plugin contract"), "{said}");

    write(&"0".repeat(64));
    assert!(matches!(
        only(&load(&search)),
        (Candidate { state: State::Refused, .. }, Broken::Checksum { .. })
    ));
    assert!(matches!(
        trust(&file, &search),
        Err(TrustError::Refused { reason: Broken::Checksum { .. }, .. })
    ));
    std::fs::write(&sidecar, "{").expect("sidecar");
    assert!(matches!(only(&load(&search)), (_, Broken::Sidecar { .. })));
}

#[test]
fn a_sidecar_that_says_something_else_than_the_plugin_is_found_out_at_its_start() {
    let (home, plugins) = (folder(), folder());
    let file = compile(plugins.path(), "storage-x", &[]);
    let manifest = r#"{"name":"storage-x","version":"7","kind":"storage","summary":"","offers":[]}"#;
    let text = format!(r#"{{"sha256":"{}","manifest":{manifest}}}"#, sha256(&file));
    std::fs::write(plugins.path().join("libcrossvisor_storage_x.so.json"), text).expect("sidecar");
    let search = SearchPath { explicit: vec![(name("storage-x"), file)], ..search(home.path()) };
    let said = load(&search).plugins["storage-x"].call(&request("x")).expect_err("lies").to_string();
    assert!(said.contains("write the sidecar again"), "{said}");
}

#[test]
fn a_plugin_has_no_environment_no_rights_and_no_files() {
    let (home, plugins) = (folder(), folder());
    let more = "while read -r line; do\n\
        facts=\"$(id -u) $(ulimit -c) $(ulimit -f) $(ulimit -n) $(ulimit -v) $(pwd) $(env | cut -d= -f1 | sort | tr '\\n' ',')\"\n\
        nnp=$(sed -n 's/NoNewPrivs:.//p' /proc/self/status)\n\
        echo \"{\\\"v\\\":1,\\\"ok\\\":{\\\"done\\\":true,\\\"output\\\":\\\"$facts $nnp\\\"}}\"\ndone";
    let file = script(plugins.path(), more);
    let search = SearchPath { explicit: vec![(name("storage-x"), file)], ..search(home.path()) };
    let loaded = load(&search);
    let plugin = &loaded.plugins["storage-x"];
    assert_eq!(plugin.way(), "as a script");
    for _ in 0..2 {
        let output = plugin.call(&request("x")).expect("turn").output;
        let me = rustix::process::geteuid();
        let user = if me.is_root() { 65534 } else { me.as_raw() };
        let expected = format!("{user} 0 0 64 1048576 / PATH,PWD, 1");
        let facts = output.as_str().map(|facts| facts.replace("_,", "").replace("OLDPWD,", ""));
        assert_eq!(facts, Some(expected));
    }
}

#[test]
fn a_library_that_prints_and_reads_while_it_opens_does_not_disturb_the_channel() {
    let (home, plugins) = (folder(), folder());
    let file = compile(plugins.path(), "storage-x", &[r#"GREETING="hello from the library\n""#]);
    let search = SearchPath { explicit: vec![(name("storage-x"), file)], ..search(home.path()) };
    let turn = load(&search).plugins["storage-x"].call(&request("x")).expect("turn");
    assert_eq!(turn.output["answer"], 42);
}

#[test]
fn a_plugin_has_no_open_file_of_its_caller() {
    let (home, plugins) = (folder(), folder());
    let secret = std::fs::File::create(home.path().join("secret")).expect("file");
    let inherited = rustix::io::dup(&secret).expect("inheritable");
    let more = "read -r line; open=$(ls -l /proc/$$/fd | grep -c /secret)\n\
        echo \"{\\\"v\\\":1,\\\"ok\\\":{\\\"done\\\":true,\\\"output\\\":$open}}\"";
    let file = script(plugins.path(), more);
    let search = SearchPath { explicit: vec![(name("storage-x"), file)], ..search(home.path()) };
    let output = load(&search).plugins["storage-x"].call(&request("x")).expect("turn").output;
    assert_eq!(output, 0);
    drop(inherited);
}

#[test]
fn a_plugin_has_a_session_of_its_own_and_no_terminal() {
    let (home, plugins) = (folder(), folder());
    let more = "read -r line; read -r _ _ _ _ _ session _ < /proc/$$/stat\n\
        terminal=none; if (: < /dev/tty) 2> /dev/null; then terminal=open; fi\n\
        echo \"{\\\"v\\\":1,\\\"ok\\\":{\\\"done\\\":true,\\\"output\\\":[$$,$session,\\\"$terminal\\\"]}}\"";
    let file = script(plugins.path(), more);
    let search = SearchPath { explicit: vec![(name("storage-x"), file)], ..search(home.path()) };
    let output = load(&search).plugins["storage-x"].call(&request("x")).expect("turn").output;
    assert_eq!(output[1], output[0], "it leads its session");
    assert_eq!(output[2], "none");
}

#[test]
fn the_end_of_a_plugin_ends_its_process() {
    let (home, plugins) = (folder(), folder());
    let more =
        "read -r line; echo \"{\\\"v\\\":1,\\\"ok\\\":{\\\"done\\\":true,\\\"output\\\":$$}}\"; sleep 1000";
    let file = script(plugins.path(), more);
    let search = SearchPath { explicit: vec![(name("storage-x"), file)], ..search(home.path()) };
    let loaded = load(&search);
    let number = loaded.plugins["storage-x"].call(&request("x")).expect("turn").output;
    let process = Path::new("/proc").join(number.to_string());
    assert!(process.exists());
    drop(loaded);
    assert!(!process.exists());
}
