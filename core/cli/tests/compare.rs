//! Two runs on the bare host, beside each other.

mod common;

use common::{text, Home, SCENARIO};

fn run(home: &Home, scenario: &str, name: &str) {
    let output = home.run(&["run", home.scenario(scenario), "--name", name, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn runs_are_compared_in_every_format() {
    let home = Home::new();
    run(&home, SCENARIO, "one");
    run(&home, SCENARIO, "two");
    let output = home.run(&["compare", "runs/one", "runs/two"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.starts_with("two beside one, the baseline\n\npi: "), "{shown}");
    assert!(shown.contains("\nbare/-/1  ") && !shown.contains("not compared"), "{shown}");
    for (format, start) in [("markdown", "# two beside"), ("csv", "baseline,run,workload,"), ("json", "{")] {
        let report = home.run(&["compare", "runs/one", "runs/two", "--format", format]);
        assert!(text(&report.stdout).starts_with(start), "{format}: {}", text(&report.stdout));
        let to_file = home.run(&["compare", "runs/one", "runs/two", "--format", format, "--output", "out"]);
        assert_eq!((to_file.status.code(), to_file.stdout.len()), (Some(0), 0));
        assert_eq!(std::fs::read(home.work().join("out")).expect("file"), report.stdout);
    }
}

#[test]
fn other_work_is_not_ranked_unless_asked() {
    let home = Home::new();
    run(&home, SCENARIO, "one");
    run(&home, &SCENARIO.replace("digits: 100", "digits: 200"), "two");
    let shown = text(&home.run(&["compare", "runs/one", "runs/two"]).stdout);
    let reason = "- workload pi.options.digits: 100 in the baseline, 200 in the run\n    pi in bare/-/1\n";
    assert!(shown.contains(&format!("\nNot compared\n{reason}")), "{shown}");
    assert!(shown.contains("  not compared\n"), "{shown}");
    let allowed = text(&home.run(&["compare", "runs/one", "runs/two", "--allow-unlike"]).stdout);
    assert!(!allowed.contains("  not compared\n"), "{allowed}");
}

#[test]
fn what_is_no_run_is_named() {
    let home = Home::new();
    let output = home.run(&["compare", "one", "two"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with("error: one is not a run directory"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(home.run(&["compare", "one"]).status.code(), Some(2));
}
