//! Whole runs of the program on the bare host: no guest, no libvirt.

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{text, Home, SCENARIO};
use rustix::process::{kill_process, Pid, Signal};

#[test]
fn a_run_is_shown_kept_and_shown_again() {
    let home = Home::new();
    let file = home.scenario(SCENARIO);
    let output = home.run(&["run", file, "--name", "one"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stderr);
    assert!(
        lines.starts_with("00:00:00 run one: 2 visits\n00:00:00 visit 1: here/bare/-/1, replicate 1\n"),
        "{lines}"
    );
    assert!(lines.contains(" here/bare/-/1/pi (replicate 2) good\n"), "{lines}");
    let shown = text(&output.stdout);
    let table = shown.strip_suffix("\nrun    runs/one\nreport runs/one/report.html\n").expect("the paths");
    let page = home.work().join("runs/one/report.html");
    assert!(std::fs::read_to_string(page).expect("page").contains("<svg"));

    assert_eq!(text(&home.run(&["report", "runs/one"]).stdout), table);
    for (format, start) in [
        ("markdown", "# one"),
        ("csv", "run,workload,"),
        ("json", "{"),
        ("html", "<!doctype html>"),
        ("openmetrics", "# TYPE "),
    ] {
        let report = home.run(&["report", "runs/one", "--format", format]);
        assert!(text(&report.stdout).starts_with(start), "{format}: {}", text(&report.stdout));
        let to_file = home.run(&["report", "runs/one", "--format", format, "--output", "out"]);
        assert_eq!((to_file.status.code(), to_file.stdout.len()), (Some(0), 0));
        assert_eq!(std::fs::read(home.work().join("out")).expect("file"), report.stdout);
    }

    let status = text(&home.run(&["status", "runs/one"]).stdout);
    let ended = "run     one, of scenario bare\nstate   came to its end\ncells   2 good, 0 failed, 0 skipped\nvisits  2 of 2 done\ntime    ";
    assert!(status.starts_with(ended), "{status}");

    let again = home.run(&["run", file, "--name", "one"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).starts_with("error: runs/one exists already: "), "{}", text(&again.stderr));
}

#[test]
fn a_run_that_is_not_precise_goes_on_to_its_most_replicates() {
    let home = Home::new();
    let repeat = "repeat: {min: 2, max: 4, until: 0.1%}";
    let file = home.scenario(&SCENARIO.replace("repeat: 2", repeat));
    let output = home.run(&["run", file, "--name", "one"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (lines, shown) = (text(&output.stderr), text(&output.stdout));
    assert!(lines.starts_with("00:00:00 run one: 2 visits\n"), "{lines}");
    assert!(lines.contains(" replicate 4, not precise enough yet: 1 cell, 1 visit more\n"), "{lines}");
    assert!(lines.contains(" here/bare/-/1/pi (replicate 4) good\n") && !lines.contains("replicate 5"));
    assert!(shown.contains("2 to 4 replicates (until ±0.1%) each"), "{shown}");
}

#[test]
fn runs_that_start_at_once_get_names_of_their_own() {
    let home = Home::new();
    let file = home.scenario(SCENARIO);
    let start = |_| home.command(&["run", file, "--quiet"]).stdout(Stdio::null()).spawn().expect("started");
    let children = [0; 3].map(start);
    for mut child in children {
        assert_eq!(child.wait().expect("ended").code(), Some(0));
    }
    assert_eq!(home.work().join("runs").read_dir().expect("runs").count(), 3);
}

#[test]
fn the_first_signal_ends_a_run_with_1_and_keeps_what_there_is() {
    let home = Home::new();
    let file = home.scenario(&SCENARIO.replace("digits: 100", "digits: 200000"));
    let mut command = home.command(&["run", file, "--name", "one"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut lines = BufReader::new(child.stderr.take().expect("pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("  run here/bare/-/1/pi")));
    let status = text(&home.run(&["status", "runs/one"]).stdout);
    assert!(
        status.starts_with("run     one, of scenario bare\nstate   goes on\nnow     here/bare/-/1, "),
        "{status}"
    );
    assert!(
        status.contains("\nvisits  0 of 2 done\n") && status.contains(", time left unknown\n"),
        "{status}"
    );
    kill_process(Pid::from_child(&child), Signal::INT).expect("signal");
    let rest: Vec<_> = lines.collect();
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(1), "{rest:?}");
    assert!(rest.iter().any(|line| line.starts_with("stopping: removing what this run created")), "{rest:?}");
    assert!(rest.iter().any(|line| line.starts_with("interrupted: ")), "{rest:?}");
    assert!(text(&output.stdout).ends_with("report runs/one/report.html\n"));
    let clean = home.run(&["clean"]);
    assert_eq!(text(&clean.stdout), "nothing to remove\n");
}

#[test]
fn nobody_needs_to_listen() {
    let home = Home::new();
    let file = home.scenario(SCENARIO);
    let mut command = home.command(&["run", file, "--name", "one"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().expect("ended").code(), Some(0));
    assert!(home.work().join("runs/one/report.html").is_file());
}
