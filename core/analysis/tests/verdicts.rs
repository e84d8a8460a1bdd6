//! What may be said of a cell beside its baseline, and what may not.

mod common;

use std::sync::Arc;

use common::{record, sample};
use crossvisor_analysis::{Comparison, Lack, Row, Unshown, Verdict, compare};
use crossvisor_model::{Better, RunRecord, Value};
use serde_json::{Value as Json, json};

const METRIC: &str = "rate";

/// The baseline and one cell with a guest each, and these values in turn.
fn two(base: &[f64], own: &[f64], plan: Json) -> RunRecord {
    several(&[base, own], plan)
}

/// The baseline and other cells.
fn several(cells: &[&[f64]], plan: Json) -> RunRecord {
    let metric: Arc<str> = METRIC.into();
    let mut record = record(cells.len() - 1, &[1], std::slice::from_ref(&metric), plan);
    for (cell, values) in record.plan.cells.iter().zip(cells) {
        let samples = (1..).zip(*values).map(|(replicate, &value)| {
            let mut sample = sample(&cell.id, replicate, 1, &metric, value);
            if value == f64::INFINITY {
                sample.value = Value::TooFast;
            }
            sample
        });
        record.samples.extend(samples);
    }
    record
}

fn rows(comparison: &Comparison) -> &[Row] {
    &comparison.workloads[0].metrics[0].rows
}

fn verdict(record: &RunRecord) -> Verdict {
    let comparison = compare(record);
    assert_eq!(rows(&comparison)[0].verdict, None, "the baseline is compared with nothing");
    rows(&comparison)[1].verdict.expect("a verdict")
}

const STEADY: [f64; 5] = [100.0, 101.0, 99.5, 100.4, 99.8];
const SLOWER: [f64; 5] = [95.1, 94.2, 95.0, 94.6, 95.5];
const TOO_FAST: f64 = f64::INFINITY;

fn unshown(reason: Unshown) -> Verdict {
    Verdict::NoDifferenceShown(reason)
}

fn lack(reason: Lack) -> Verdict {
    Verdict::NotEnoughData(reason)
}

#[test]
fn a_clear_difference_is_better_or_worse_by_the_metric() {
    let of = |base: &[f64], own: &[f64]| verdict(&two(base, own, json!({})));
    assert_eq!(of(&STEADY, &SLOWER), Verdict::Worse);
    assert_eq!(of(&SLOWER, &STEADY), Verdict::Better);
    let mut times = two(&STEADY, &SLOWER, json!({}));
    let mut spec = times.metrics.values_mut().next().expect("metrics")[0].clone();
    spec.better = Better::Lower;
    times.metrics.values_mut().for_each(|metrics| metrics[0] = spec.clone());
    assert_eq!(verdict(&times), Verdict::Better);
    spec.better = Better::Neither;
    times.metrics.values_mut().for_each(|metrics| metrics[0] = spec.clone());
    let comparison = compare(&times);
    let row = &rows(&comparison)[1];
    assert!(row.ratio.is_some() && row.verdict.is_none() && row.tests.is_none(), "no score, no verdict");
}

#[test]
fn no_verdict_from_one_sample_or_none() {
    let of = |base: &[f64], own: &[f64]| verdict(&two(base, own, json!({})));
    assert_eq!(of(&STEADY, &[50.0]), lack(Lack::OneReplicate));
    assert_eq!(of(&[100.0], &SLOWER), lack(Lack::OneReplicate));
    assert_eq!(of(&[], &SLOWER), lack(Lack::NoValue));
    assert_eq!(of(&[100.0], &[TOO_FAST]), lack(Lack::OneReplicate));
    assert_eq!(of(&[f64::NAN, f64::NAN], &SLOWER), lack(Lack::NoValue));
}

#[test]
fn what_chance_may_have_done_is_not_called() {
    let of = |base: &[f64], own: &[f64]| verdict(&two(base, own, json!({})));
    assert_eq!(of(&[100.0, 104.0, 96.0], &[99.0, 95.0, 101.0]), unshown(Unshown::MayBeChance));
    assert_eq!(of(&[7.0; 4], &[7.0; 3]), unshown(Unshown::AllSame));
    // Two whole numbers of seconds each say nothing of the spread, six of each do.
    assert_eq!(of(&[3.0; 2], &[4.0; 2]), lack(Lack::TooFewForRanks));
    assert_eq!(of(&[3.0; 6], &[4.0; 6]), Verdict::Better);
    assert_eq!(of(&[-3.0, -2.5, -2.8], &[1.0, 1.3, 0.9]), Verdict::Better, "no ratio, but a difference");
}

#[test]
fn many_comparisons_ask_for_more_than_one() {
    let base = [100.0, 101.0, 99.0, 100.5];
    let near = [98.2, 98.6, 97.7, 98.9];
    assert_eq!(verdict(&two(&base, &near, json!({}))), Verdict::Worse);
    let cells: Vec<&[f64]> = [&base[..], &near].into_iter().chain([&base[..]; 20]).collect();
    let comparison = compare(&several(&cells, json!({})));
    assert_eq!(rows(&comparison)[1].verdict, Some(unshown(Unshown::MayBeChance)));
    let tests = rows(&comparison)[1].tests.expect("tests");
    assert!(tests.p_holm > tests.welch.map(|welch| welch.p));
}

#[test]
fn the_threshold_tells_what_matters() {
    let of = |own: &[f64], threshold: &str| verdict(&two(&STEADY, own, json!({ "threshold": threshold })));
    assert_eq!(of(&SLOWER, "3%"), Verdict::Worse);
    assert_eq!(of(&SLOWER, "5.4%"), unshown(Unshown::BelowThreshold));
    assert_eq!(of(&SLOWER, "8%"), unshown(Unshown::WithinThreshold));
    assert_eq!(of(&[99.0, 101.5, 100.2, 99.9, 100.9], "2%"), unshown(Unshown::WithinThreshold));
    assert_eq!(of(&[90.0, 110.0, 95.0, 108.0, 101.0], "2%"), unshown(Unshown::MayBeChance));
    assert_eq!(of(&SLOWER, "0%"), Verdict::Worse);
}

#[test]
fn what_was_too_fast_is_ranked_and_never_averaged() {
    let of = |base: &[f64], own: &[f64]| {
        let comparison = compare(&two(base, own, json!({})));
        let row = rows(&comparison)[1].clone();
        assert_eq!((row.ratio, row.tests.and_then(|tests| tests.welch)), (None, None));
        row.verdict.expect("a verdict")
    };
    let fast = [TOO_FAST; 5];
    assert_eq!(of(&STEADY, &fast), Verdict::Better);
    assert_eq!(of(&fast, &STEADY), Verdict::Worse);
    assert_eq!(of(&fast, &fast), unshown(Unshown::BothTooFast));
    assert_eq!(of(&STEADY[..3], &fast[..3]), lack(Lack::TooFewForRanks));
    assert_eq!(of(&STEADY, &[TOO_FAST, TOO_FAST, 99.0, 101.0, 98.0]), unshown(Unshown::MayBeChance));
    assert_eq!(of(&STEADY, &[TOO_FAST, TOO_FAST, TOO_FAST, 107.0, 105.0]), Verdict::Better);
    // Of a time less is better: what was too fast is below all others.
    let mut times = two(&STEADY, &fast, json!({}));
    times.metrics.values_mut().for_each(|metrics| metrics[0].better = Better::Lower);
    assert_eq!(verdict(&times), Verdict::Better);
    // Two guests of a replicate, one of them too fast.
    let mut partly = record(1, &[2], &[METRIC.into()], json!({}));
    for cell in &partly.plan.cells {
        for (replicate, instance) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
            let mut sample = sample(&cell.id, replicate, instance, &METRIC.into(), 5.0);
            if !cell.axes.is_bare() && (replicate, instance) == (2, 2) {
                sample.value = Value::TooFast;
            }
            partly.samples.push(sample);
        }
    }
    assert_eq!(verdict(&partly), lack(Lack::PartlyTooFast));
}

#[test]
fn what_lies_far_out_is_pointed_out_and_counts() {
    let far = [100.0, 101.0, 99.5, 100.4, 99.8, 100.1, 61.0, 100.3];
    let comparison = compare(&two(&STEADY, &far, json!({})));
    let row = &rows(&comparison)[1];
    let summary = row.estimate.summary().expect("numbers");
    assert_eq!(summary.n, 8);
    let outliers: Vec<u32> = row.replicates.iter().filter(|r| r.outlier).map(|r| r.replicate).collect();
    assert_eq!((outliers, row.flags.len()), (vec![7], 1));
    let bootstrap = row.bootstrap.expect("the interval by t is doubtful");
    let t = summary.interval.expect("an interval");
    assert!(bootstrap.low < summary.mean && bootstrap.high < t.high, "{bootstrap:?} against {t:?}");
    assert_eq!(
        bootstrap,
        compare(&two(&STEADY, &far, json!({}))).workloads[0].metrics[0].rows[1].bootstrap.expect("again")
    );
    assert!(rows(&comparison)[0].bootstrap.is_none());
    assert_eq!(row.verdict, Some(unshown(Unshown::MayBeChance)));
    let harmonic = 8.0 / far.iter().map(|value| 1.0 / value).sum::<f64>();
    assert!((row.harmonic_mean.expect("a rate") - harmonic).abs() < 1e-9);
}

#[test]
fn a_drift_is_told_from_noise() {
    let falling = |at: f64| 100.0 - at + 0.1 * (at * 2.0).sin();
    let base: Vec<f64> = (0..8).map(|i| falling(f64::from(i))).collect();
    let own: Vec<f64> = (0..8).map(|i| 0.9 * falling(f64::from(i) + 0.5)).collect();
    let drift = |base: &[f64], own: &[f64]| compare(&two(base, own, json!({}))).workloads[0].metrics[0].drift;
    let found = drift(&base, &own).expect("eight blocks");
    assert!((found.tau + 1.0).abs() < 1e-12 && found.p_holm < 0.001 && found.blocks == 8);
    assert!((found.change + 0.0725).abs() < 0.003, "{}", found.change);
    assert!(drift(&STEADY, &SLOWER).expect("five blocks").p_holm > 0.05);
    assert_eq!(drift(&STEADY[..4], &SLOWER[..4]), None);
}

#[test]
fn no_number_is_too_odd() {
    let odd = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1e-308, 5e-324, f64::NAN, f64::INFINITY];
    let lists: Vec<Vec<f64>> =
        odd.iter().flat_map(|&a| odd.iter().map(move |&b| vec![a, b, a, b, a, b, a, 1.0, 2.0])).collect();
    for base in lists.iter().step_by(9) {
        for own in lists.iter().step_by(2) {
            let comparison = compare(&two(base, own, json!({"threshold": "2%"})));
            assert!(rows(&comparison)[1].verdict.is_some(), "{base:?} {own:?}");
        }
    }
}
