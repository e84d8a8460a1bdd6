//! Scenarios beyond all bounds are refused soon, and in few words.

mod common;
mod small;

use crossvisor_scenario::{MAX_PROBLEMS, parse};

use small::{SMALL, said};

#[test]
fn a_matrix_beyond_all_bounds_is_refused_before_it_is_built() {
    let list = |prefix: &str| (1..=101).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "name: large\nguest: {{image: debian-12, memory: 384MiB}}\nmatrix:\n  hypervisor: [{}]\n  \
         storage: [file]\n  guests: [{}]\n  workload: [{}]\n",
        list("h"),
        list(""),
        list("w"),
    );
    let problems = common::planned(&text, "large.yaml").unwrap_err();
    assert!(said(&problems).contains("the matrix has 1030301 cells, more than 1000000"));
}

#[test]
fn an_axis_of_very_many_values_is_refused_at_once() {
    let hypervisors: String = (0..150_000).map(|i| format!("h{i}, ")).collect();
    let text = SMALL.replace("[bare, kvm-virtio]", &format!("[{hypervisors}]"));
    let problems = common::planned(&text, "wide.yaml").unwrap_err();
    let message = "hypervisor has 150000 values, more than 10000";
    assert_eq!(problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), [message]);
}

#[test]
fn very_many_mistakes_are_not_all_collected() {
    let unknown: String = (0..20_000).map(|i| format!("unknown{i}: 1\n")).collect();
    let problems = parse(&format!("{SMALL}{unknown}"), "many.yaml").unwrap_err();
    assert_eq!(problems.len(), MAX_PROBLEMS);
    assert!(problems.windows(2).all(|pair| pair[0].line < pair[1].line));
    let names: String = (0..10_000).map(|i| format!("\n    - h{i}")).collect();
    let problems = common::planned(&SMALL.replace("[bare, kvm-virtio]", &names), "names.yaml").unwrap_err();
    assert_eq!(problems.len(), MAX_PROBLEMS);
    assert!(problems.iter().all(|problem| problem.to_string().len() < 2000), "{}", problems[0]);
}

#[test]
fn of_a_long_line_the_part_around_the_place_is_shown() {
    let word = |i: usize| format!("w{i:03}");
    let list: Vec<String> = (0..200).map(word).collect();
    let text = SMALL.replace("[pi, disk]", &format!("[{}]", list.join(", ")));
    let problems = common::planned(&text, "long.yaml").unwrap_err();
    let shown = |i: usize| problems[i].to_string();
    let lines = |i: usize| shown(i).lines().skip(2).take(2).map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(problems[50].column, 14 + 50 * 6);
    let [excerpt, carets] = &lines(50)[..] else { panic!("{}", shown(50)) };
    assert!(excerpt.starts_with("8 | …3, w044, ") && excerpt.ends_with(", w062, w…"), "{excerpt}");
    let at = carets.find("^^^^").unwrap();
    let marked: String = excerpt.chars().skip(at).take(4).collect();
    assert_eq!((marked.as_str(), excerpt.chars().count()), ("w050", 4 + 120));
    assert!(lines(0)[0].starts_with("8 |   workload: [w000, ") && lines(0)[0].ends_with('…'), "{}", shown(0));
    let long = format!("{}: 1\n", "x".repeat(1000));
    let said = parse(&long, "key.yaml").unwrap_err()[0].to_string();
    assert!(said.chars().count() < 1000 && said.contains("xxx…\n"), "{said}");
}

#[test]
fn deep_nesting_is_refused_without_harm() {
    for open in ["[", "{a: ", "- "] {
        let problems = parse(&open.repeat(50_000), "deep.yaml").unwrap_err();
        assert!(!problems.is_empty());
    }
}
