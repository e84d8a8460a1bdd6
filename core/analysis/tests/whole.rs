//! What is said of several guests, of several workloads, and of how many replicates are enough.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{record, sample};
use crossvisor_analysis::repeats::{due, replicates_for, replicates_for_ratio};
use crossvisor_analysis::{Summary, compare};
use crossvisor_model::{Better, Cell, CellId, Name, RunRecord, Value};
use serde_json::json;

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn guests_that_hinder_each_other_show_in_the_scaling() {
    let metric: Arc<str> = "rate".into();
    let mut run = record(0, &[1, 2, 4], std::slice::from_ref(&metric), json!({}));
    for cell in &run.plan.cells {
        let each = [100.0, 90.0, 0.0, 50.0][cell.axes.guests as usize - 1];
        for (replicate, instance) in (1..=3).flat_map(|r| (1..=cell.axes.guests).map(move |i| (r, i))) {
            let value = each * (1.0 + 0.01 * f64::from(replicate)) * if instance == 1 { 1.1 } else { 1.0 };
            run.samples.push(sample(&cell.id, replicate, instance, &metric, value / 1.05));
        }
    }
    let comparison = compare(&run);
    let metric = &comparison.workloads[0].metrics[0];
    let points = &metric.scaling[0].points;
    assert_eq!(points.iter().map(|point| point.guests).collect::<Vec<_>>(), [1, 2, 4]);
    let efficiency = |at: usize| points[at].efficiency.expect("a ratio");
    near(efficiency(0).value, 1.0);
    near(efficiency(1).value, 0.9 * 1.05 / 1.1);
    near(points[2].speedup.expect("a speedup"), 4.0 * 0.5 * 1.025 / 1.1);
    assert!(efficiency(2).interval.is_some());
    let balance = metric.rows[2].balance.expect("four guests");
    near(balance.min_to_max.expect("above 0"), 1.0 / 1.1);
    near(balance.jain.expect("above 0"), 4.1_f64.powi(2) / (4.0 * (1.1_f64.powi(2) + 3.0)));

    run.metrics.values_mut().for_each(|metrics| metrics[0].better = Better::Lower);
    let turned = compare(&run).workloads[0].metrics[0].scaling[0].points[1].efficiency.expect("a ratio");
    near(turned.value, 1.1 / (0.9 * 1.05));
    run.samples.retain(|sample| sample.instance == 1);
    assert!(compare(&run).workloads[0].metrics[0].scaling.is_empty(), "one value for the whole cell");
}

/// The baseline and one hypervisor with two workloads; `time` is better when lower.
fn two_workloads(values: [[[f64; 3]; 2]; 2]) -> RunRecord {
    let metric: Arc<str> = "rate".into();
    let mut run = record(1, &[1], std::slice::from_ref(&metric), json!({}));
    let other: Name = "time".parse().expect("a name");
    let more: Vec<Cell> = run
        .plan
        .cells
        .iter()
        .map(|cell| {
            let mut axes = cell.axes.clone();
            axes.workload = other.clone();
            Cell::from(axes)
        })
        .collect();
    run.plan.cells.extend(more);
    let mut metrics = run.metrics.values().next().expect("metrics").clone();
    metrics[0].better = Better::Lower;
    run.metrics.insert(other, metrics);
    for (cell, values) in run.plan.cells.iter().zip(values.iter().flatten()) {
        let samples =
            (1..).zip(values).map(|(replicate, &value)| sample(&cell.id, replicate, 1, &metric, value));
        run.samples.extend(samples);
    }
    run
}

#[test]
fn the_figure_of_a_setup_is_the_geometric_mean_over_its_workloads() {
    let run =
        two_workloads([[[100.0, 102.0, 99.0], [50.0, 51.0, 49.0]], [[10.0, 10.5, 9.9], [5.0, 5.2, 4.9]]]);
    let overall = compare(&run).overall;
    assert_eq!(overall.len(), 1);
    let logs =
        |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| (a.ln() - b.ln()) / 2.0).sum::<f64>() / 3.0;
    let own = logs([50.0, 51.0, 49.0], [5.0, 5.2, 4.9]);
    let base = logs([100.0, 102.0, 99.0], [10.0, 10.5, 9.9]);
    near(overall[0].ratio.value, (own - base).exp());
    let interval = overall[0].ratio.interval.expect("an interval");
    assert!(interval.low < 1.0 && 1.0 < interval.high, "half the rate, half the time");
    assert_eq!(overall[0].workloads.iter().map(Name::as_str).collect::<Vec<_>>(), ["time", "work"]);

    let mut partly = run.clone();
    partly.samples[0].value = Value::TooFast;
    assert!(compare(&partly).overall.is_empty(), "one workload is no mean");
}

#[test]
fn as_many_replicates_are_asked_for_as_the_interval_needs() {
    let pilot = |values: &[f64]| Summary::of(values).expect("values");
    let noisy = pilot(&[95.0, 100.0, 105.0]);
    assert_eq!(replicates_for(&noisy, 0.02), Some(27));
    let both = replicates_for_ratio(&noisy, &noisy, 0.02).expect("a spread");
    assert!((47..=54).contains(&both), "about twice as many: {both}");
    assert_eq!(replicates_for_ratio(&pilot(&[2.0, 2.0]), &pilot(&[3.0, 3.0]), 0.02), Some(2));
    assert_eq!(replicates_for(&pilot(&[4.0]), 0.02), None);
    assert_eq!(replicates_for(&pilot(&[-1.0, 1.0]), 0.02), None);
    assert_eq!(replicates_for(&pilot(&[1.0, 1e9]), 1e-9), Some(100_000));
}

/// The baseline and three cells, of which `values` has the replicates.
fn adaptive(values: [&[f64]; 4]) -> RunRecord {
    let metric: Arc<str> = "rate".into();
    let plan = json!({"repeat": 3, "adaptive": {"max": 6, "until": "2%"}});
    let mut run = record(3, &[1], std::slice::from_ref(&metric), plan);
    for (cell, values) in run.plan.cells.iter().zip(values) {
        let samples =
            (1..).zip(values).map(|(replicate, &value)| sample(&cell.id, replicate, 1, &metric, value));
        run.samples.extend(samples);
    }
    run
}

#[test]
fn only_what_is_not_precise_is_repeated_and_its_baseline() {
    let quiet = [100.0, 100.1, 99.9];
    let noisy = [90.0, 100.0, 110.0];
    let cells = |cells: &[usize]| cells.iter().copied().collect::<BTreeSet<usize>>();
    let run = adaptive([&quiet, &noisy, &quiet, &quiet]);
    assert_eq!(due(&run, 3), cells(&[0, 1, 2, 3]), "the least is for all");
    assert_eq!(due(&run, 4), cells(&[0, 1]));
    assert_eq!(due(&run, 7), cells(&[]), "never more than the most");
    // A noisy baseline makes every ratio wide.
    assert_eq!(due(&adaptive([&noisy, &quiet, &quiet, &quiet]), 4), cells(&[0, 1, 2, 3]));
    assert_eq!(due(&adaptive([&quiet; 4]), 4), cells(&[]));
    // A cell that lost all its replicates but one may do better; one that lost all will not.
    assert_eq!(due(&adaptive([&quiet, &[100.0], &[], &quiet]), 4), cells(&[0, 1]));
    // What came in this block or later does not count: the decision is the same when the run is taken up again.
    let mut later = run.clone();
    let metric: Arc<str> = "rate".into();
    for replicate in 4..=6 {
        let id: CellId = later.plan.cells[1].id.clone();
        later.samples.push(sample(&id, replicate, 1, &metric, 100.0));
    }
    assert_eq!(due(&later, 4), due(&run, 4));
    let mut fast = adaptive([&quiet, &quiet, &quiet, &quiet]);
    fast.samples[3].value = Value::TooFast;
    assert_eq!(due(&fast, 4), cells(&[]), "what is too fast to measure stays so");
}
