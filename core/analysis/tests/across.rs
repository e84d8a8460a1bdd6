//! Runs beside each other: what is matched, what is ranked, and what is not.

mod common;

use std::sync::Arc;

use common::{record, sample};
use crossvisor_analysis::{Across, CellAcross, Lack, Verdict, across, holm};
use crossvisor_model::{Accel, RunRecord};
use serde_json::json;

const STEADY: [f64; 5] = [100.0, 101.0, 99.5, 100.4, 99.8];
const SLOWER: [f64; 5] = [80.1, 79.2, 80.0, 79.6, 80.5];

/// The bare host and `hypervisors` others, all with these values.
fn run(hypervisors: usize, values: &[f64]) -> RunRecord {
    let metric: Arc<str> = "rate".into();
    let mut run = record(hypervisors, &[1], std::slice::from_ref(&metric), json!({}));
    for cell in &run.plan.cells {
        let samples =
            (1..).zip(values).map(|(replicate, &value)| sample(&cell.id, replicate, 1, &metric, value));
        run.samples.extend(samples);
    }
    run
}

fn cells(across: &Across) -> &[CellAcross] {
    &across.runs[0].cells
}

fn verdicts(across: &Across) -> Vec<Option<Verdict>> {
    let metrics = across.runs.iter().flat_map(|run| &run.cells).flat_map(|cell| &cell.metrics);
    metrics.map(|metric| metric.run.verdict).collect()
}

/// What keeps the cell `h1` of the second run from being ranked; whatever that is, it is ranked where it is allowed.
fn unlike(change: impl Fn(&mut RunRecord)) -> Vec<String> {
    let (first, mut other) = (run(1, &STEADY), run(1, &SLOWER));
    change(&mut other);
    let refused = across(&first, std::slice::from_ref(&other), false);
    let allowed = across(&first, &[other], true);
    assert_eq!(verdicts(&allowed)[1], Some(Verdict::Worse));
    let cell = &cells(&refused)[1];
    let row = &cell.metrics[0].run;
    assert_eq!((row.verdict, row.ratio, row.tests), (None, None, None));
    cell.unlike.iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_beside_itself_shows_no_difference_and_a_slower_one_is_worse() {
    let first = run(1, &STEADY);
    let both = across(&first, &[first.clone(), run(1, &SLOWER)], false);
    let shown = verdicts(&both);
    assert!(
        shown[..2].iter().all(|verdict| matches!(verdict, Some(Verdict::NoDifferenceShown(_)))),
        "{shown:?}"
    );
    assert_eq!(shown[2..], [Some(Verdict::Worse); 2]);
    assert_eq!(both.runs[0].differences, []);
    let ratio = both.runs[1].cells[0].metrics[0].run.ratio.expect("a ratio");
    let interval = ratio.interval.expect("an interval");
    assert!(interval.low < 0.7975 && 0.7975 < interval.high && interval.high < 0.82, "{ratio:?}");
}

#[test]
fn one_replicate_is_not_enough() {
    let few = across(&run(0, &STEADY), &[run(0, &[80.0])], false);
    assert_eq!(verdicts(&few), [Some(Verdict::NotEnoughData(Lack::OneReplicate))]);
}

#[test]
fn p_values_are_adjusted_over_all_runs() {
    let noisy = [97.0, 101.5, 98.0, 99.4, 98.8];
    let both = across(&run(1, &STEADY), &[run(1, &noisy), run(1, &SLOWER)], false);
    let metrics = both.runs.iter().flat_map(|run| &run.cells).flat_map(|cell| &cell.metrics);
    let tests: Vec<_> = metrics.map(|metric| metric.run.tests.expect("tests")).collect();
    let plain: Vec<f64> = tests.iter().map(|tests| tests.welch.expect("numbers").p).collect();
    let adjusted: Vec<f64> = tests.iter().filter_map(|tests| tests.p_holm).collect();
    assert_eq!((adjusted.len(), &adjusted), (4, &holm(&plain)));
}

#[test]
fn what_is_unlike_is_not_ranked_unless_that_is_allowed() {
    let memory = unlike(|run| run.provenance.guest.memory_bytes = 1 << 30);
    assert_eq!(memory, ["guest memory: not known before, 1024 MiB now"]);
    assert_eq!(unlike(|run| run.provenance.guest.vcpus = 4), ["guest vcpus: 1 before, 4 now"]);
    let emulated = unlike(|run| run.samples.iter_mut().for_each(|sample| sample.accel = Accel::Tcg));
    assert_eq!(emulated, ["acceleration: not emulated before, emulated now"]);
    let tools = unlike(|run| {
        let setup = json!({
            "cell": run.plan.cells[1].id, "replicate": 1, "accel": "kvm", "provision_s": 1.0, "volumes": [],
            "allocated_bytes": [], "tools": {"iperf3": "3.12"}, "skew_s": {}, "drift_s": {},
        });
        run.setups.push(serde_json::from_value(setup).expect("a setup"));
    });
    assert_eq!(tools, ["tool.iperf3: nothing before, 3.12 now"]);
}

#[test]
fn guests_do_not_matter_to_the_bare_host() {
    let mut other = run(1, &SLOWER);
    other.provenance.guest.vcpus = 4;
    let both = across(&run(1, &STEADY), &[other], false);
    assert_eq!(verdicts(&both), [Some(Verdict::Worse), None]);
    assert_eq!(both.runs[0].differences[0].to_string(), "guest.vcpus: 1 before, 4 now");
}

#[test]
fn other_options_of_a_workload_are_unlike() {
    let with = |values: &[f64], size: u32| {
        let mut run = run(0, values);
        let used = json!({"work": {"plugin": "workload-x", "offer": "x", "options": {"size": size}}});
        run.plan.workloads = serde_json::from_value(used).expect("a workload");
        run
    };
    let both = across(&with(&STEADY, 1), &[with(&SLOWER, 2)], false);
    assert_eq!(verdicts(&both), [None]);
    let told = ["workload work.options.size: 1 before, 2 now".to_string()];
    assert_eq!(cells(&both)[0].unlike.iter().map(ToString::to_string).collect::<Vec<_>>(), told);
    assert_eq!(verdicts(&across(&with(&STEADY, 1), &[with(&SLOWER, 1)], false)), [Some(Verdict::Worse)]);
}

#[test]
fn other_units_are_never_ranked() {
    let mut other = run(0, &SLOWER);
    for spec in other.metrics.values_mut().flatten() {
        spec.unit = "MB/s".into();
    }
    let both = across(&run(0, &STEADY), &[other], true);
    assert_eq!(verdicts(&both), [None]);
    assert_eq!(cells(&both)[0].metrics[0].unlike[0].to_string(), "unit: KiB/s before, MB/s now");
}

#[test]
fn what_only_one_has_is_named() {
    let mut other = run(2, &STEADY);
    other.samples[0].metric = "extra".into();
    let both = across(&run(1, &STEADY), &[other.clone()], false);
    let names = |cells: &std::collections::BTreeSet<crossvisor_model::CellId>| {
        cells.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let beside = &both.runs[0];
    assert_eq!((beside.cells.len(), names(&beside.only_baseline.cells).len()), (2, 0));
    assert_eq!(names(&beside.only_run.cells), ["here/h2/file/1/work"]);
    assert!(beside.only_run.metrics.iter().eq(["work: extra"]));
    let turned = across(&other, &[run(1, &STEADY)], false);
    assert_eq!(turned.runs[0].only_baseline, beside.only_run);
}
