//! Every report of the made-up run against the file in `tests/golden`. After a wanted change of a report, run with
//! `UPDATE_GOLDEN=1` and read the difference.

mod common;

use common::golden;
use crossvisor_analysis::{Comparison, compare};
use crossvisor_model::{Accel, RunRecord};
use crossvisor_report::{COLUMNS, Metrics, charts, csv, html, json, markdown, text};

fn comparison() -> Comparison {
    compare(&common::record())
}

#[test]
fn reports_are_as_they_were() {
    let (record, comparison) = (common::record(), comparison());
    golden("report.txt", &text(&record, &comparison, Metrics::Headline, 80));
    golden("report-all.txt", &text(&record, &comparison, Metrics::All, 80));
    golden("report.md", &markdown(&record, &comparison, Metrics::Headline));
    golden("report.csv", &csv(&record, &comparison).expect("CSV"));
    golden("report.html", &html(&record, &comparison, &[]).expect("HTML"));
}

#[test]
fn no_line_of_text_is_too_long() {
    let (record, comparison) = (common::record(), comparison());
    for width in [60, 80, 132] {
        for line in text(&record, &comparison, Metrics::All, width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn foreign_text_cannot_act() {
    let (record, comparison) = (common::record(), comparison());
    let page = html(&record, &comparison, &[]).expect("HTML");
    assert!(
        !page.contains("https:") && !page.contains("url(") && !page.contains("<link"),
        "needs no network"
    );
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    let all = [
        text(&record, &comparison, Metrics::All, 80),
        markdown(&record, &comparison, Metrics::All),
        csv(&record, &comparison).expect("CSV"),
        page,
    ];
    for report in all {
        assert!(!report.contains(['\u{1b}', '\u{202e}']));
    }
    let markdown = markdown(&record, &comparison, Metrics::All);
    assert!(!markdown.contains('<') && !markdown.contains("| `"));
}

#[test]
fn too_fast_is_never_zero() {
    let sheet = csv(&common::record(), &comparison()).expect("CSV");
    let mut reader = csv_reader(&sheet);
    let column = |name: &str| COLUMNS.iter().position(|column| *column == name).expect("a column");
    let mut seen = 0;
    for row in reader.records().map(|row| row.expect("a row")) {
        if &row[column("state")] == "too_fast" {
            assert_eq!((&row[column("mean")], &row[column("n")]), ("", "0"));
            seen += 1;
        }
    }
    assert_eq!(seen, 2);
    assert!(text(&common::record(), &comparison(), Metrics::Headline, 80).contains("too fast to measure"));
}

fn csv_reader(text: &str) -> csv::Reader<&[u8]> {
    csv::Reader::from_reader(text.as_bytes())
}

#[test]
fn json_says_its_format_and_holds_the_comparison() {
    let document = json(&common::record(), &comparison()).expect("JSON");
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!((&document["format"], &document["emulated"]), (&1.into(), &true.into()));
    let workloads = document["comparison"]["workloads"].as_array().expect("workloads");
    assert_eq!(workloads.len(), 3);
}

#[test]
fn a_host_that_is_emulated_itself_is_said_loudly_whatever_its_guests_are() {
    let mut record = common::record();
    for sample in &mut record.samples {
        sample.accel = Accel::Xen;
    }
    for setup in &mut record.setups {
        setup.accel = Accel::Xen;
    }
    let said = |record: &RunRecord| {
        let comparison = compare(record);
        let loud = "hosts are emulated (here): compare shapes, not figures";
        let document: serde_json::Value =
            serde_json::from_str(&json(record, &comparison).expect("JSON")).expect("JSON");
        let reports = [
            text(record, &comparison, Metrics::Headline, 80),
            markdown(record, &comparison, Metrics::Headline),
            html(record, &comparison, &[]).expect("HTML"),
        ];
        (reports.map(|report| report.contains(loud)), document["emulated"] == true)
    };
    assert_eq!(said(&record), ([false; 3], false));
    let host = record.provenance.hosts.values_mut().next().expect("a host");
    host.outer_accel = Some(Accel::Kvm);
    assert_eq!(said(&record), ([false; 3], false));
    let host = record.provenance.hosts.values_mut().next().expect("a host");
    host.outer_accel = Some(Accel::Tcg);
    assert_eq!(said(&record), ([true; 3], true));
}

#[test]
fn a_setup_that_failed_is_not_among_those_that_only_miss_a_value() {
    let mut record = common::record();
    record.samples.retain(|sample| &*sample.metric != "seeks");
    let text = text(&record, &compare(&record), Metrics::Headline, 132);
    let setups = "bare/-/1, bare/-/2, kvm-virtio/file/1, kvm-virtio/file/2, kvm-e1000/file/1";
    assert!(text.contains(&format!("no value\n    disk seeks in {setups}\n")), "{text}");
}

#[test]
fn long_provenance_is_folded_away() {
    let mut record = common::record();
    record.setups = vec![record.setups[0].clone(); 20];
    assert!(!html(&record, &comparison(), &[]).expect("HTML").contains("<summary>Setups"));
    record.setups.push(record.setups[0].clone());
    assert!(html(&record, &comparison(), &[]).expect("HTML").contains("<details><summary>Setups (21)<"));
}

#[test]
fn charts_have_names_and_descriptions() {
    let charts = charts(&comparison());
    let names: Vec<&str> = charts.iter().map(|(name, _)| name.as_str()).collect();
    let first = ["overall", "disk-write", "disk-write-relative", "disk-write-balance", "disk-write-scaling"];
    assert_eq!(names[..5], first);
    assert!(!names.contains(&"disk-create-relative"), "nothing to compare with a baseline that was too fast");
    for (_, svg) in &charts {
        assert!(svg.contains("role=\"img\"") && svg.contains("<desc") && svg.contains("<style>"));
    }
}

#[test]
fn what_is_not_compared_has_no_percentages() {
    let mut record = common::record();
    record.plan.baseline = crossvisor_model::Baseline::default();
    let comparison = compare(&record);
    let all = [
        text(&record, &comparison, Metrics::All, 80),
        markdown(&record, &comparison, Metrics::All),
        html(&record, &comparison, &[]).expect("HTML").replace("vertical-align:baseline", ""),
    ];
    for report in all {
        assert!(!report.contains("baseline") && !report.contains("% of "), "{report}");
        assert!(!report.contains("percentage"), "{report}");
    }
    assert!(
        markdown(&record, &comparison, Metrics::All)
            .contains(" | total |\n|:--|--:|--:|--:|--:|--:|--:|--:|\n")
    );
    let sheet = csv(&record, &comparison).expect("CSV");
    let column = COLUMNS.iter().position(|column| *column == "baseline").expect("a column");
    assert!(csv_reader(&sheet).records().all(|row| row.expect("a row")[column].is_empty()));
    assert!(charts(&comparison).iter().all(|(name, _)| !name.ends_with("-relative")));
}

#[test]
fn a_run_cut_short_is_reported_as_such() {
    let mut record = common::record();
    (record.complete, record.notices) = (false, Vec::new());
    record.samples.clear();
    record.setups.clear();
    record.outcomes.truncate(1);
    let cut = text(&record, &compare(&record), Metrics::Headline, 80);
    assert!(cut.contains("did not come to its end") && cut.contains("not measured") && !cut.contains("!!"));
    let (untold, untried) = cut.split_once("- it was not tried\n").expect("cells that were not tried");
    assert!(
        untold.contains("- the workload reported no value\n    disk write, seeks, create in bare/-/1\n"),
        "{cut}"
    );
    assert!(untried.starts_with("    disk write, seeks, create in "), "{cut}");
    assert!(charts(&compare(&record)).is_empty(), "no chart without a bar");
    record.plan.cells.clear();
    let none = compare(&record);
    assert!(text(&record, &none, Metrics::All, 80).contains("0 cells"));
    assert!(html(&record, &none, &[]).expect("HTML").contains("</html>"));
    assert_eq!(csv(&record, &none).expect("CSV").lines().count(), 1);
}
