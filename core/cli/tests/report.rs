//! `crossvisor report` of directories that are not as they should be: what can be shown is shown, and what cannot is said.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{text, Home};

const SCENARIO: &str = "\
name: two
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [bare], guests: [1, 2], workload: [pi]}
workloads: {pi: {use: pi, digits: 100, repeat: 1}}
repeat: 1
";
const FORMATS: [&str; 6] = ["text", "markdown", "csv", "json", "html", "openmetrics"];

/// A home with a run of two cells that came to its end.
fn with_run() -> (Home, PathBuf) {
    let home = Home::new();
    let output = home.run(&["run", home.scenario(SCENARIO), "--name", "one"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let run = home.work().join("runs/one");
    (home, run)
}

/// The report in every format, each of which must come about; the text first.
fn reports(home: &Home) -> Vec<String> {
    let report = |format: &&str| {
        let output = home.run(&["report", "runs/one", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{format}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    FORMATS.iter().map(report).collect()
}

/// Writes the file anew as `change` has it.
fn change(path: &Path, change: impl Fn(&str) -> String) {
    let before = fs::read_to_string(path).expect("a file");
    let after = change(&before);
    assert_ne!(before, after, "{}", path.display());
    fs::write(path, after).expect("written");
}

#[test]
fn a_run_that_measured_nothing_is_shown_as_such() {
    let (home, run) = with_run();
    for file in ["samples.jsonl", "events.jsonl", "setups.jsonl", "telemetry.jsonl"] {
        fs::write(run.join(file), "").expect("written");
    }
    fs::remove_file(run.join("provenance.json")).expect("removed");
    let reports = reports(&home);
    assert!(
        reports[0].contains("did not come to its end") && reports[0].contains("not measured"),
        "{}",
        reports[0]
    );
    assert!(reports[4].contains("nothing is known of them"), "{}", reports[4]);
}

#[test]
fn a_line_cut_short_and_a_damaged_one_are_left_out_and_the_rest_is_shown() {
    let (home, run) = with_run();
    let samples = run.join("samples.jsonl");
    change(&samples, |lines| format!("not JSON\n{}", &lines[..lines.len() - 20]));
    let reports = reports(&home);
    assert!(
        reports[0].contains("left out as damaged: ") && reports[0].contains("samples.jsonl, line 1: "),
        "{}",
        reports[0]
    );
    let numbers = |report: &str| {
        report.lines().filter(|line| line.starts_with("bare/-/") && line.contains(" 1 ")).count()
    };
    assert!(numbers(&reports[0]) >= 1, "{}", reports[0]);
}

#[test]
fn values_that_were_too_fast_and_units_that_differ_do_not_keep_a_report_from_being_made() {
    let (home, run) = with_run();
    let censored = r#"{"cell":"here/bare/-/1/pi","replicate":1,"instance":1,"accel":"none","values":{"too_fast":["wall","cycles"],"measured":{"other":1.5}}}"#;
    fs::write(run.join("samples.jsonl"), format!("{censored}\n")).expect("written");
    let all = reports(&home);
    assert!(all[0].contains("too fast to measure"), "{}", all[0]);
    let line = |unit: &str, replicate: u32| {
        format!(
            r#"{{"cell":"here/bare/-/1/pi","replicate":{replicate},"instance":1,"metric":"other","unit":"{unit}","better":"higher","measured":7.5,"overlap":1.0,"accel":"none"}}"#
        )
    };
    change(&run.join("run.json"), |header| header.replacen("\"format\":2", "\"format\":1", 1));
    fs::write(run.join("samples.jsonl"), format!("{}\n{}\n", line("s", 1), line("KiB/s", 2)))
        .expect("written");
    assert!(reports(&home)[2].contains(",other,"), "the first format is still read");
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let (home, run) = with_run();
    let refused = |what: &str| {
        let output = home.run(&["report", "runs/one"]);
        assert_ne!(output.status.code(), Some(0));
        assert!(output.stdout.is_empty() && text(&output.stderr).contains(what), "{}", text(&output.stderr));
    };
    change(&run.join("run.json"), |header| header.replacen("\"format\":2", "\"format\":99", 1));
    refused("was written in format 99");
    change(&run.join("run.json"), |header| header[..header.len() / 2].to_string());
    refused("run.json, line 1: ");
    fs::remove_file(run.join("run.json")).expect("removed");
    refused("is not a run directory: it has no run.json");
}

#[test]
fn charts_are_files_of_a_folder_that_has_to_be_named() {
    let (home, _) = with_run();
    let output = home.run(&["report", "runs/one", "--format", "svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--output"), "{}", text(&output.stderr));
    let output = home.run(&["report", "runs/one", "--format", "svg", "--output", "charts"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = fs::read_to_string(home.work().join("charts/pi-wall.svg")).expect("a chart");
    assert!(file.starts_with("<svg xmlns=") && file.contains("<style>"));
}
