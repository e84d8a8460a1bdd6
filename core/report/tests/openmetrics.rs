//! The OpenMetrics text of the made-up run: its form, and that what was not measured has no line.

mod common;

use std::collections::BTreeSet;

use crossvisor_analysis::compare;
use crossvisor_report::openmetrics;

fn exposed() -> String {
    let record = common::record();
    openmetrics(&record, &compare(&record))
}

#[test]
fn every_line_is_of_a_family_that_was_announced_and_none_comes_twice() {
    let text = exposed();
    assert!(text.ends_with("\n# EOF\n"));
    let (mut family, mut families, mut seen) = (String::new(), BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().expect("a name").to_string();
            assert!(families.insert(family.clone()), "{family} comes twice");
        } else if !line.starts_with("# ") {
            let (name, rest) = line.split_once('{').expect("labels");
            assert_eq!(name.trim_end_matches("_info"), family);
            let (labels, value) = rest.rsplit_once("} ").expect("a value");
            assert!(seen.insert((name.to_string(), labels.to_string())), "{line} comes twice");
            assert!(value.parse::<f64>().expect("a number").is_finite());
            assert!(!line.contains(['\u{1b}', '\u{202e}']));
        }
    }
    assert!(families.len() > 10 && seen.len() > 100);
}

#[test]
fn figures_are_those_of_the_report_and_a_value_that_was_too_fast_is_none() {
    let text = exposed();
    let of = |family: &str, part: &str| -> Vec<f64> {
        let own = text.lines().filter(|line| line.starts_with(&format!("{family}{{")) && line.contains(part));
        own.map(|line| line.rsplit(' ').next().expect("a value").parse().expect("a number")).collect()
    };
    let bare =
        r#"host="here",hypervisor="bare",storage="",guests="1",workload="disk",metric="write",unit="KiB/s""#;
    let [mean] = of("crossvisor_result_mean", bare)[..] else { panic!("one mean") };
    assert!((mean - 58_412.0 * 1.003).abs() < 1e-6, "{mean}");
    assert_eq!(of("crossvisor_result_replicates", bare), [2.0]);
    let too_fast = r#"hypervisor="bare",storage="",guests="1",workload="disk",metric="create""#;
    assert_eq!(of("crossvisor_result_mean", too_fast), [] as [f64; 0]);
    assert_eq!(of("crossvisor_result_too_fast", too_fast), [2.0]);
    assert_eq!(of("crossvisor_run_replicates", r#"status="failed""#).len(), 1);
}
