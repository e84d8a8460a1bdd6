//! Values checked against scipy, and the states a row can be in.

use crossvisor_model::{Accel, RunRecord};
use serde_json::{Value as Json, json};

use super::*;
use crate::summary::t_975;

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
}

fn near_interval(interval: Option<Interval>, low: f64, high: f64) {
    let interval = interval.expect("an interval");
    near(interval.low, low);
    near(interval.high, high);
}

#[test]
fn quantiles_of_student_t() {
    for (freedom, expected) in [
        (1.0, 12.706_204_736_174_694),
        (1.3, 7.500_529_325_562_029),
        (2.0, 4.302_652_729_749_462),
        (3.0, 3.182_446_305_283_707_8),
        (9.0, 2.262_157_162_798_205),
        (30.0, 2.042_272_456_301_237_8),
    ] {
        near(t_975(freedom).expect("a quantile"), expected);
    }
    assert_eq!(t_975(0.0), None);
}

#[test]
fn summaries() {
    let four = Summary::of(&[58412.0, 57100.0, 59033.0, 58800.0]).expect("values");
    assert_eq!((four.n, four.min, four.max), (4, 57100.0, 59033.0));
    near(four.mean, 58336.25);
    near(four.sd.expect("sd"), 863.052_093_831_343_8);
    near(four.relative_sd.expect("sd/e"), 0.014_794_439_029_442_993);
    near(four.median, 58606.0);
    near_interval(four.interval, 56_962.941_526_359_54, 59_709.558_473_640_46);

    let three = Summary::of(&[4.0, 1.5, 2.5]).expect("values");
    near(three.median, 2.5);
    near_interval(three.interval, -0.459_138_073_021_220_9, 5.792_471_406_354_554);

    let one = Summary::of(&[7.0]).expect("a value");
    assert_eq!((one.n, one.mean, one.median), (1, 7.0, 7.0));
    assert_eq!((one.sd, one.relative_sd, one.interval), (None, None, None));

    assert_eq!(Summary::of(&[]), None);
    assert_eq!(Summary::of(&[-1.0, 1.0]).and_then(|s| s.relative_sd), None);
    near(Summary::of(&[-12.0, -10.0]).and_then(|s| s.relative_sd).expect("sd/e"), 0.128_564_869_306_645);
}

#[test]
fn ratios() {
    let of = |values: &[f64]| Summary::of(values).expect("values");
    let base = of(&[58412.0, 57100.0, 59033.0, 58800.0]);
    let ratio = Ratio::of(&of(&[45366.0, 44100.0, 46020.0]), &base).expect("a ratio");
    near(ratio.value, 0.774_167_005_935_417_5);
    near_interval(ratio.interval, 0.741_288_929_713_631_3, 0.808_503_309_648_154_1);
    let two = Ratio::of(&of(&[9.0, 11.0]), &of(&[10.0, 12.0])).expect("a ratio");
    near(two.value, 0.909_090_909_090_909_1);
    near_interval(two.interval, 0.505_676_900_174_750_4, 1.634_336_630_180_525_3);

    let single = Ratio::of(&of(&[50.0]), &base).expect("a ratio");
    assert_eq!(single.interval, None);
    assert_eq!(Ratio::of(&base, &of(&[0.0])), None);
    assert_eq!(Ratio::of(&of(&[-1.0, -2.0]), &base).and_then(|r| r.interval), None);
    near_interval(Ratio::of(&of(&[2.0, 2.0]), &of(&[4.0, 4.0])).and_then(|r| r.interval), 0.5, 0.5);
}

fn axes(hypervisor: &str, guests: u32) -> Json {
    let storage = (hypervisor != "bare").then_some("file");
    json!({ "host": "here", "hypervisor": hypervisor, "storage": storage, "guests": guests, "workload": "disk" })
}

fn id(hypervisor: &str, guests: u32) -> String {
    let storage = if hypervisor == "bare" { "-" } else { "file" };
    format!("here/{hypervisor}/{storage}/{guests}/disk")
}

/// A sample of the metric `write` (or another) in KiB/s.
fn sample(cell: &str, metric: &str, replicate: u32, instance: u32, value: Json) -> Json {
    let mut sample = json!({
        "cell": cell, "replicate": replicate, "instance": instance, "metric": metric, "unit": "KiB/s",
        "better": "higher", "window": { "start_s": 0.0, "end_s": 1.0 }, "overlap": 1.0, "accel": "tcg",
        "flags": if replicate == 2 { vec!["cached"] } else { vec![] },
    });
    let fields = sample.as_object_mut().expect("an object");
    fields.extend(value.as_object().expect("an object").clone());
    sample
}

fn measured(value: f64) -> Json {
    json!({ "measured": value })
}

fn too_fast() -> Json {
    json!({ "too_fast": null })
}

/// bare and kvm with 1 and 2 guests, 2 replicates, compared with bare.
fn record(samples: &[Json], outcomes: &[Json]) -> RunRecord {
    let cell = |hypervisor: &str, guests: u32| {
        let mut cell = axes(hypervisor, guests);
        cell["id"] = json!(id(hypervisor, guests));
        cell
    };
    let plan = json!({
        "scenario": "s", "seed": 1, "repeat": 2, "hosts": {}, "hypervisors": {}, "storages": {}, "workloads": {},
        "guest": { "image": "g", "memory": "64MiB", "vcpus": 1 }, "order": [], "baseline": { "hypervisor": "bare" },
        "cells": [cell("bare", 1), cell("bare", 2), cell("kvm", 1), cell("kvm", 2)],
        "deadlines": { "create": "1s", "boot": "1s", "prepare": "1s", "run": "1s", "collect": "1s", "destroy": "1s" },
    });
    let guest = json!({ "image": "g", "definition": "", "kernel": "", "memory_bytes": 0, "vcpus": 1, "versions": {} });
    let metric =
        json!({ "name": "write", "label": "write", "unit": "KiB/s", "better": "higher", "headline": true });
    serde_json::from_value(json!({
        "name": "r", "plan": plan, "metrics": { "disk": [metric] }, "outcomes": outcomes, "setups": [],
        "provenance": { "crossvisor": "0", "started": "", "hosts": {}, "guest": guest, "plugins": {} },
        "samples": samples, "notices": [], "complete": true,
    }))
    .expect("a record")
}

fn row(comparison: &Comparison, hypervisor: &str, guests: u32) -> Row {
    let rows = &comparison.workloads[0].metrics[0].rows;
    rows.iter().find(|row| *row.cell.0 == *id(hypervisor, guests)).expect("a row").clone()
}

#[test]
fn a_replicate_is_the_mean_of_its_instances() {
    let (bare, kvm) = (id("bare", 2), id("kvm", 2));
    let values = [(1, 1, 90.0), (1, 2, 110.0), (2, 1, 100.0), (2, 2, 140.0)];
    let mut samples: Vec<Json> =
        values.iter().map(|&(r, i, v)| sample(&bare, "write", r, i, measured(v))).collect();
    samples.extend(values.iter().map(|&(r, i, v)| sample(&kvm, "write", r, i, measured(v / 2.0))));
    let comparison = compare(&record(&samples, &[]));
    let (bare, kvm) = (row(&comparison, "bare", 2), row(&comparison, "kvm", 2));

    let summary = bare.estimate.summary().expect("a summary");
    assert_eq!((summary.n, summary.mean), (2, 110.0));
    assert_eq!(bare.replicates[1].mean, Some(120.0));
    assert_eq!(bare.total_mean, Some(220.0));
    let balance = bare.balance.expect("two guests");
    assert_eq!((balance.min, balance.max, balance.min_to_max), (95.0, 125.0, Some(0.76)));
    near(balance.jain.expect("an index"), (40_000.0 / 40_400.0 + 57_600.0 / 59_200.0) / 2.0);
    assert!(bare.is_baseline() && bare.ratio.is_none());
    assert_eq!(bare.flags, [Flag { text: "cached".into(), samples: 2 }]);
    near(kvm.ratio.expect("a ratio").value, 0.5);
    assert!(comparison.emulated());
    assert_eq!(comparison.workloads[0].cells[3].accel, [Accel::Tcg]);
}

#[test]
fn a_single_sample_has_no_interval_and_a_single_instance_no_total() {
    let samples = [("bare", 10.0), ("kvm", 9.0)].map(|(h, v)| sample(&id(h, 1), "write", 1, 1, measured(v)));
    let kvm = row(&compare(&record(&samples, &[])), "kvm", 1);
    assert_eq!(kvm.ratio, Some(Ratio { value: 0.9, interval: None }));
    assert_eq!((kvm.total_mean, kvm.balance), (None, None));
}

#[test]
fn too_fast_is_never_averaged() {
    let (bare, kvm) = (id("bare", 1), id("kvm", 1));
    let samples = [
        sample(&bare, "write", 1, 1, measured(10.0)),
        sample(&bare, "write", 2, 1, too_fast()),
        sample(&kvm, "write", 1, 1, too_fast()),
        sample(&kvm, "write", 2, 1, too_fast()),
    ];
    let comparison = compare(&record(&samples, &[]));
    let (bare, kvm) = (row(&comparison, "bare", 1), row(&comparison, "kvm", 1));
    assert_eq!(kvm.estimate, Estimate::TooFast { too_fast: 2 });
    assert_eq!(bare.estimate, Estimate::Partly { summary: Summary::of(&[10.0]), too_fast: 1, missing: 0 });
    assert_eq!((bare.estimate.comparable(), kvm.ratio), (None, None));
    let text = serde_json::to_string(&comparison).expect("JSON");
    assert_eq!(serde_json::from_str::<Comparison>(&text).expect("a comparison"), comparison);
}

#[test]
fn a_replicate_that_lost_a_guest_does_not_count() {
    let (two, one) = (id("kvm", 2), id("kvm", 1));
    let samples = [
        sample(&two, "write", 1, 1, measured(10.0)),
        sample(&two, "write", 1, 2, measured(20.0)),
        sample(&two, "write", 2, 1, measured(99.0)),
        sample(&one, "write", 1, 1, json!({ "missing": "no result line" })),
    ];
    let comparison = compare(&record(&samples, &[]));
    let expected = Estimate::Partly { summary: Summary::of(&[15.0]), too_fast: 0, missing: 1 };
    assert_eq!(row(&comparison, "kvm", 2).estimate, expected);
    let reasons = vec!["no result line".to_string()];
    assert_eq!(row(&comparison, "kvm", 1).estimate, Estimate::Missing { reasons });
}

#[test]
fn failed_and_skipped_replicates_are_told_with_their_reasons() {
    let outcomes = [
        json!({ "cell": id("kvm", 1), "replicate": 1, "status": "failed", "phase": "boot", "reason": "no answer" }),
        json!({ "cell": id("kvm", 1), "replicate": 2, "status": "skipped", "reason": "interrupted" }),
        json!({ "cell": id("bare", 1), "replicate": 1, "status": "good", "warnings": ["slow"] }),
    ];
    let comparison = compare(&record(&[], &outcomes));
    let cells = &comparison.workloads[0].cells;
    assert_eq!((cells[0].good, &cells[0].warnings[..]), (1, &["slow".to_string()][..]));
    assert_eq!(cells[2].problems.len(), 2);
    assert_eq!(cells[2].problems[1].phase, None);
    let reasons = vec!["no answer".to_string(), "interrupted".to_string()];
    assert_eq!(row(&comparison, "kvm", 1).estimate, Estimate::Missing { reasons });
    let reasons = vec!["the workload reported no value".to_string()];
    assert_eq!(row(&comparison, "bare", 1).estimate, Estimate::Missing { reasons });
}

#[test]
fn undeclared_metrics_are_kept() {
    let samples = [sample(&id("kvm", 2), "extra", 1, 1, measured(3.0))];
    let comparison = compare(&record(&samples, &[]));
    let metrics = &comparison.workloads[0].metrics;
    assert_eq!(metrics.iter().map(|m| m.spec.name.as_str()).collect::<Vec<_>>(), ["write", "extra"]);
    let summary = metrics[1].rows[3].estimate.summary().expect("reported once for the whole cell");
    assert_eq!(summary.mean, 3.0);
    assert_eq!(metrics[1].rows.len(), 4);
}

/// The flags of the first metric's row of a setup.
fn flags(comparison: &Comparison, hypervisor: &str, guests: u32) -> String {
    let flags: Vec<String> =
        row(comparison, hypervisor, guests).flags.into_iter().map(|flag| flag.text).collect();
    flags.join("\n")
}

#[test]
fn what_no_single_sample_shows_is_flagged_with_its_reason() {
    let mut samples = Vec::new();
    for (hypervisor, guests, values) in [
        ("bare", 1, [100.0, 101.0]),
        ("bare", 2, [100.0, 101.0]),
        ("kvm", 1, [180.0, 181.0]),
        ("kvm", 2, [50.0, 51.0]),
    ] {
        for (replicate, value) in (1..).zip(values) {
            for instance in 1..=guests {
                samples.push(sample(&id(hypervisor, guests), "write", replicate, instance, measured(value)));
            }
        }
    }
    let mut record = record(&samples, &[]);
    let quiet = compare(&record);
    assert!(flags(&quiet, "kvm", 1).contains("better than the bare host"));
    assert_eq!([flags(&quiet, "kvm", 2), flags(&quiet, "bare", 1)], ["cached"; 2]);

    let host = json!({ "here": { "uri": "", "cpu_model": "", "cpus": 1, "memory_bytes": 64 << 20, "kernel": "", "os": "",
        "governor": null, "mitigations": {}, "kvm": "", "accel": null, "versions": {} } });
    record.provenance.hosts = serde_json::from_value(host).expect("hosts");
    let setup = |hypervisor: &str, version: &str| {
        json!({ "cell": id(hypervisor, 2), "replicate": 1, "accel": "kvm", "provision_s": 1.0, "volumes": [],
            "allocated_bytes": [], "tools": { "bonnie++": version }, "skew_s": {}, "drift_s": {} })
    };
    let setups = json!([setup("bare", "1.98"), setup("kvm", "2.00a")]);
    record.setups = serde_json::from_value(setups).expect("setups");
    let told = |place: Json, series: &str, mean: f64| {
        json!({ "cell": id("kvm", 2), "replicate": 1, "place": place, "offer": "system", "source": "system",
            "series": [{ "name": series, "unit": "%", "mean": mean, "max": mean }] })
    };
    let telemetry = json!([
        told(json!({ "guest": 2 }), "cpu steal", 7.5),
        told(json!("host"), "cpu steal", 0.5),
        told(json!("host"), "cpu slowed down by heat", 1.0),
        told(json!("host"), "cpu frequency allowed", 60.0),
    ]);
    record.telemetry = serde_json::from_value(telemetry).expect("telemetry");
    let doubted = compare(&record);
    let (two, bare) = (flags(&doubted, "kvm", 2), flags(&doubted, "bare", 2));
    for words in [
        "2 virtual CPUs and the host has 1",
        "more memory than the host",
        "a guest did not get the CPU",
        "slowed down by heat",
        "below their full frequency",
        "bonnie++ is not the same everywhere: versions 1.98 and 2.00a",
    ] {
        assert!(two.contains(words), "{words}: {two}");
    }
    assert!(!two.contains("the host did not get the CPU"), "{two}");
    assert!(bare.contains("bonnie++ is not the same") && !bare.contains("virtual CPUs"), "{bare}");
}
