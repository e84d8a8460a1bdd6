//! Every figure against scipy's of the same lists, to a billionth. `reference/make.py` writes the values anew.

use std::collections::BTreeMap;

use crossvisor_analysis::repeats::replicates_for;
use crossvisor_analysis::{RankTables, Ratio, Summary, Welch, bootstrap, drift, hedges_g, holm};
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
struct Reference {
    lists: BTreeMap<String, Vec<f64>>,
    summaries: BTreeMap<String, BTreeMap<String, Option<f64>>>,
    pairs: Vec<Json>,
    kendall: BTreeMap<String, Json>,
    bca: BTreeMap<String, Json>,
    holm: Vec<Json>,
    replicates: Vec<Json>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/values.json")).expect("the reference")
}

fn near(what: &str, value: f64, expected: &Json) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("{what}: no reference"));
    assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{what}: {value} is not {expected}");
}

fn list(json: &Json) -> Vec<f64> {
    serde_json::from_value(json.clone()).expect("numbers")
}

#[test]
fn summaries() {
    let Reference { lists, summaries, .. } = reference();
    for (name, expected) in &summaries {
        let own = Summary::of(&lists[name]).expect("values");
        let interval = own.interval.expect("an interval");
        for (figure, value) in [
            ("mean", own.mean),
            ("sd", own.sd.expect("sd")),
            ("relative_sd", own.relative_sd.expect("sd/e")),
            ("median", own.median),
            ("mad", own.mad),
            ("low", interval.low),
            ("high", interval.high),
        ] {
            near(&format!("{figure} of {name}"), value, &expected[figure].into());
        }
    }
}

#[test]
fn tests_of_two_lists() {
    let Reference { lists, pairs, .. } = reference();
    let mut tables = RankTables::default();
    for pair in &pairs {
        let of = |key: &str| &lists[pair[key].as_str().expect("a name")];
        let (a, b) = (of("a"), of("b"));
        let what = |figure: &str| format!("{figure} of {} and {}", pair["a"], pair["b"]);
        let (own, base) = (Summary::of(a).expect("values"), Summary::of(b).expect("values"));
        let welch = Welch::of(&own, &base).expect("a spread");
        let ranks = tables.test(a, b).expect("values");
        assert_eq!(pair["exact"], ranks.exact, "{}", what("exact"));
        for (figure, value) in [
            ("t", welch.t),
            ("freedom", welch.freedom),
            ("p", welch.p),
            ("u", ranks.u),
            ("rank_p", ranks.p),
            ("cliffs_delta", ranks.cliffs_delta),
            ("hedges_g", hedges_g(&own, &base).expect("a spread")),
        ] {
            near(&what(figure), value, &pair[figure]);
        }
        let ratio = Ratio::of(&own, &base).expect("a ratio");
        match ratio.interval {
            Some(interval) => {
                near(&what("ratio"), ratio.value, &pair["ratio"]);
                near(&what("low"), interval.low, &pair["low"]);
                near(&what("high"), interval.high, &pair["high"]);
            }
            None => assert!(pair["low"].is_null(), "{}", what("interval")),
        }
    }
}

#[test]
fn rank_correlations() {
    let Reference { lists, kendall, .. } = reference();
    for (name, expected) in &kendall {
        let (tau, p) = drift::kendall(&lists[name]).expect("values");
        near(&format!("tau of {name}"), tau, &expected["tau"]);
        near(&format!("p of {name}"), p, &expected["p"]);
        let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(lists[name].iter().copied()).collect();
        near(&format!("slope of {name}"), drift::slope(&points), &expected["slope"]);
    }
}

#[test]
fn bootstrap_intervals_of_given_means() {
    let Reference { lists, bca, .. } = reference();
    for (name, expected) in &bca {
        let interval = bootstrap::bca(&lists[name], list(&expected["means"])).expect("an interval");
        near(&format!("low of {name}"), interval.low, &expected["low"]);
        near(&format!("high of {name}"), interval.high, &expected["high"]);
    }
}

#[test]
fn corrections_and_numbers_of_replicates() {
    let Reference { holm: families, replicates, .. } = reference();
    for family in &families {
        for (own, expected) in holm(&list(&family["p"])).iter().zip(list(&family["adjusted"])) {
            near("adjusted p", *own, &expected.into());
        }
    }
    for case in &replicates {
        let number = |key: &str| case[key].as_f64().expect("a number");
        // Three values of which the standard deviation is the spread and the mean is 1.
        let spread = number("spread");
        let pilot = Summary::of(&[1.0 - spread, 1.0, 1.0 + spread]).expect("values");
        let needed = replicates_for(&pilot, number("target")).map(u64::from);
        assert_eq!(needed, case["n"].as_u64(), "{case}");
    }
}
