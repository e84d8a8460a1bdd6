//! Results that were measured elsewhere, imported as a shell sees it.

mod common;

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use common::{text, Home};
use crossvisor_model::{Accel, RunRecord, Value};
use crossvisor_store::RunDirectory;

/// A line of bonnie++ 1.03 of `machine`, whose block writes went at `write` KiB/s.
fn line(machine: &str, size: &str, write: u32) -> String {
    format!(
        "{machine},{size},41020,88,{write},17,20444,9,39555,84,71888,12,155.5,1,16,913,91,+++++,+++,12777,88,937,92,+++++,+++,2633,89\n"
    )
}

fn import(home: &Home, arguments: &[&str]) -> Output {
    home.run(&[&["import", "bonnie"], arguments].concat())
}

fn write(home: &Home, file: &str, content: &str) {
    fs::write(home.work().join(file), content).expect("write");
}

fn run(home: &Home, name: &str) -> RunRecord {
    RunDirectory::read(&home.work().join("runs").join(name)).expect("run directory")
}

#[test]
fn results_become_a_run_that_reports_like_any_other() {
    let home = Home::new();
    let content = line("Node 1", "4G", 52000) + &line("Node 1", "4G", 54000) + &line("Node 1", "8G", 50000);
    write(&home, "old.csv", &content);
    let output = import(&home, &["old.csv", "--name", "old"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("3 results in 2 cells, 0 parts refused\n"));
    let record = run(&home, "old");
    let cells: Vec<_> = record.plan.cells.iter().map(|cell| cell.id.to_string()).collect();
    assert_eq!(cells, ["node-1/bare/-/1/bonnie", "node-1/bare/-/1/bonnie-2"]);
    let written =
        record.samples.iter().filter(|s| &*s.metric == "write" && s.cell == record.plan.cells[0].id);
    let written: Vec<_> = written.map(|s| (s.replicate, s.value.clone(), s.accel, &*s.unit)).collect();
    let expected = [52000.0, 54000.0].map(Value::Measured);
    let [first, second] = expected;
    assert_eq!(written, [(1, first, Accel::Unknown, "KiB/s"), (2, second, Accel::Unknown, "KiB/s")]);
    assert!(record.samples.iter().any(|s| &*s.metric == "seq_stat" && s.value == Value::TooFast));
    let imported = record.provenance.imported.expect("imported");
    assert_eq!(imported.machines.values().collect::<Vec<_>>(), ["Node 1"]);
    assert_eq!((imported.files[0].results, imported.files[0].bytes), (3, content.len() as u64));
    let kept = home.work().join("runs/old").join(&imported.files[0].kept);
    assert_eq!(fs::read_to_string(kept).expect("copy"), content);
    for format in ["text", "markdown", "csv", "json", "html"] {
        let report = home.run(&["report", "runs/old", "--format", format]);
        assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
        assert!(text(&report.stdout).contains("bonnie-2"), "{format}");
    }
}

#[test]
fn what_is_no_result_is_told_of_with_its_place_and_kept() {
    let home = Home::new();
    write(&home, "good.csv", &line("a", "4G", 52000));
    write(&home, "empty.csv", "");
    let output = import(&home, &["empty.csv", "good.csv", "--name", "partly"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "empty.csv:1: refused: the file is empty\n");
    assert_eq!(run(&home, "partly").notices, ["empty.csv:1: refused: the file is empty"]);
}

#[test]
fn without_a_result_nothing_is_left() {
    let home = Home::new();
    fs::write(home.work().join("noise"), [0xff, 0, b'\n', 7].repeat(50_000)).expect("write");
    let output = import(&home, &["noise"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("nothing in these files is a result of bonnie"));
    assert!(home.work().join("runs").read_dir().expect("folder").next().is_none());
}

#[test]
fn no_name_leads_out_of_the_run_directory() {
    let home = Home::new();
    fs::create_dir(home.work().join("..folder")).expect("folder");
    write(
        &home,
        "..folder/-rf \u{202e}.csv",
        &(line("../../up", "4G", 1000) + &line("\u{1b}[2J", "4G", 2000)),
    );
    let output = import(&home, &["..folder/-rf \u{202e}.csv", "--name", "hostile"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let record = run(&home, "hostile");
    assert!(
        record.plan.cells.iter().all(|cell| cell.axes.host.as_str().len() > 1),
        "{:?}",
        record.plan.cells
    );
    assert_eq!(record.provenance.imported.expect("imported").files[0].kept, "raw/imported/1--rf--.csv");
}

#[test]
fn the_machines_of_a_host_are_its_guests() {
    let home = Home::new();
    write(&home, "vm1", &line("vm1", "4G", 1000));
    write(&home, "vm2", &line("vm2", "4G", 3000));
    let labels = ["vm1", "vm2", "--host", "rack", "--hypervisor", "xen-pv", "--storage", "lvm"];
    let output = import(&home, &[&labels[..], &["--guests", "2", "--name", "two"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let record = run(&home, "two");
    assert_eq!(&*record.plan.cells[0].id.0, "rack/xen-pv/lvm/2/bonnie");
    let written = record.samples.iter().filter(|sample| &*sample.metric == "write");
    assert_eq!(written.map(|s| (s.replicate, s.instance)).collect::<Vec<_>>(), [(1, 1), (1, 2)]);
    write(&home, "vm3", &line("vm3", "4G", 3000));
    let output = import(&home, &[&labels[..], &["vm3", "--guests", "2", "--name", "three"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("3 machines"), "{}", text(&output.stderr));
    assert!(!home.work().join("runs/three").exists());
}

#[test]
fn results_are_printed_as_lines_of_json_and_read_from_standard_input() {
    let home = Home::new();
    let mut child = home
        .command(&["import", "bonnie", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    child.stdin.take().expect("input").write_all(line("a", "4G", 52000).as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(0));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["values"]["measured"]["write"], 52000.0);
    assert_eq!((&result["file"], &result["line"], &result["machine"]), (&"-".into(), &1.into(), &"a".into()));
    assert!(!home.work().join("runs").exists());
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_would_be_right() {
    let home = Home::new();
    write(&home, "a", &line("a", "4G", 1));
    for (arguments, said) in [
        (&["import", "none", "a"][..], "the kinds are"),
        (&["import", "bonnie", "missing"], "cannot read missing"),
        (&["import", "bonnie", "."], "cannot read ."),
        (&["import", "bonnie", "a", "--storage", "lvm"], "--hypervisor"),
        (&["import", "bonnie", "a", "--guests", "0"], "--guests"),
        (&["import", "bonnie", "a", "--json", "--name", "x"], "--json"),
        (&["import", "bonnie"], "FILE"),
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(said), "{arguments:?}: {}", text(&output.stderr));
    }
    assert_eq!(import(&home, &["a", "--name", "x"]).status.code(), Some(0));
    let again = import(&home, &["a", "--name", "x"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("exists already"));
}
