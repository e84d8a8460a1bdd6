//! Plugins that do not come with the program: trusted, listed, and what a bad one does to a run.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use common::{text, Home};

/// A workload that is good until it is asked to work.
const BAD: &str = r#"#!/bin/sh
read -r manifest
echo '{"v":1,"ok":{"name":"workload-bad","version":"1.0","kind":"workload","summary":"ends","offers":[{"name":"bad","summary":"ends","options":[],"metrics":[{"name":"m","label":"m","unit":"s","better":"lower","headline":true}]}]}}'
while read -r request; do
    case $request in
    *'"op":"work"'*) echo 'cannot go on' >&2; exit 3 ;;
    *) echo '{"v":1,"ok":{"done":true}}' ;;
    esac
done
"#;

const SCENARIO: &str = "\
name: bad
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [bare], storage: [file], guests: [1], workload: [bad, pi]}
workloads: {pi: {digits: 100}}
repeat: 2
";

/// Puts the workload into the user's folder of plugins.
fn install(home: &Home) -> PathBuf {
    install_text(home, BAD)
}

fn install_text(home: &Home, text: &str) -> PathBuf {
    let folder = home.0.path().join(".local/share/crossvisor/plugins/v1");
    let file = folder.join("crossvisor-plugin-workload-bad");
    std::fs::create_dir_all(&folder).expect("folder");
    std::fs::write(&file, text).expect("script");
    for path in [&file, &folder] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("mode");
    }
    file
}

#[test]
fn a_plugin_is_listed_as_untrusted_until_it_is_trusted() {
    let home = Home::new();
    let file = install(&home).to_string_lossy().into_owned();
    let before = text(&home.run(&["plugin", "list", "--all"]).stdout);
    let line = format!("untrusted workload-bad           {file}\n");
    assert!(
        before.contains(&line) && before.contains(&format!("crossvisor plugin trust {file}\n")),
        "{before}"
    );
    assert!(before.contains("loaded    workload-hep           linked into the program\n"), "{before}");
    let warned = home.run(&["plugin", "list"]);
    assert!(text(&warned.stderr).contains("nobody has said that it may run"), "{}", text(&warned.stderr));
    let info = home.run(&["plugin", "info", "workload-bad"]);
    assert_eq!(info.status.code(), Some(2));
    assert!(text(&info.stderr).contains("nobody has said that it may run"), "{}", text(&info.stderr));

    let trusted = home.run(&["plugin", "trust", &file]);
    assert!(text(&trusted.stdout).starts_with(&format!("plugin workload-bad may run: {file}, sha256 ")));
    let after = text(&home.run(&["plugin", "list", "--all", "--json"]).stdout);
    let after: serde_json::Value = serde_json::from_str(&after).expect("JSON");
    let candidates = after["candidates"].as_array().expect("candidates");
    let one = candidates.iter().find(|one| one["name"] == "workload-bad").expect("listed");
    assert_eq!((one["state"].as_str(), one["origin"].as_str()), (Some("loaded"), Some(file.as_str())));
    assert_eq!(one["sha256"].as_str().map(str::len), Some(64));
    let info = text(&home.run(&["plugin", "info", "workload-bad"]).stdout);
    assert!(
        info.contains(&format!("from {file}, run as a script\n")) && info.contains("metric  m "),
        "{info}"
    );
}

#[test]
fn a_plugin_that_ends_fails_its_cells_and_no_other() {
    let home = Home::new();
    let plugin = format!("workload-bad={}", install(&home).display());
    let file = home.scenario(SCENARIO);
    let output = home.run(&["--plugin", &plugin, "run", file, "--name", "one"]);
    let lines = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{lines}");
    let failed = lines.lines().filter(|line| {
        line.contains("plugin 'workload-bad'")
            && line.contains("it ended with exit code 3; its last words: cannot go on")
    });
    assert!(failed.count() >= 2, "{lines}");
    for replicate in 1..=2 {
        assert!(lines.contains(&format!("here/bare/-/1/pi (replicate {replicate}) good")), "{lines}");
    }
    assert_eq!(text(&home.run(&["clean"]).stdout), "nothing to remove\n");
}

#[test]
fn a_plugin_forges_no_line() {
    let home = Home::new();
    let forged =
        BAD.replace("\"ends\"", r#""ends\nerror: forged\u202e""#).replace("echo '{", "printf '%s\\n' '{");
    let file = install_text(&home, &forged);
    assert!(home.run(&["plugin", "trust", &file.to_string_lossy()]).status.success());
    for arguments in [&["plugin", "list"][..], &["plugin", "info", "workload-bad"]] {
        let shown = text(&home.run(arguments).stdout);
        assert!(shown.contains("  ends error: forged\u{fffd}\n"), "{shown}");
    }
}
