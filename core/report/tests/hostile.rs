//! Text that attacks its reader in every field that takes any text: no report acts on it.

mod common;

use std::collections::BTreeSet;

use crossvisor_analysis::compare;
use crossvisor_model::{RunRecord, Telemetry};
use crossvisor_report::{Metrics, charts, csv, html, markdown, text};
use serde_json::{Value, json};

const ATTACK: &str = "\"'><img src=x onerror=alert(1)><script>alert(1)</script></title></style>--><svg/onload=alert(1)>\
                      javascript:alert(1){{ 7*7 }}\u{0}\u{1b}]0;x\u{7}\u{9b}\u{202e}\u{2066}\u{61c}";

/// The places of a document: names of members, `[]` for elements. Lists of maps have one place each.
fn places(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::String(_) => drop(found.insert(at.to_string())),
        Value::Array(elements) => elements.iter().for_each(|one| places(one, &format!("{at}[]"), found)),
        Value::Object(members) => {
            found.insert(format!("{at}{{}}"));
            members.iter().for_each(|(name, one)| places(one, &format!("{at}.{name}"), found));
        }
        _ => {}
    }
}

/// The document with the attack behind every text of one place, or behind every member's name.
fn attacked(value: &Value, at: &str, place: &str) -> Value {
    match value {
        Value::String(text) if at == place => json!(format!("{text}{ATTACK}")),
        Value::Array(elements) => {
            elements.iter().map(|one| attacked(one, &format!("{at}[]"), place)).collect()
        }
        Value::Object(members) => {
            let names = format!("{at}{{}}") == place;
            let member = |(name, one): (&String, &Value)| {
                let one = attacked(one, &format!("{at}.{name}"), place);
                (if names { format!("{name}{ATTACK}") } else { name.clone() }, one)
            };
            members.iter().map(member).collect()
        }
        other => other.clone(),
    }
}

/// The record with the attack wherever its types take it, and how many places that is.
fn record() -> (RunRecord, usize) {
    let mut document = serde_json::to_value(common::record()).expect("JSON");
    let mut found = BTreeSet::new();
    places(&document, "", &mut found);
    let mut taken = 0;
    for place in found {
        let tried = attacked(&document, "", &place);
        let same_shape = serde_json::from_value::<RunRecord>(tried.clone())
            .is_ok_and(|record| serde_json::to_value(&record).is_ok_and(|again| again == tried));
        if same_shape {
            document = tried;
            taken += 1;
        }
    }
    (serde_json::from_value(document).expect("a record"), taken)
}

/// Every tag of a page with the names of its attributes: what a browser could act on.
fn tags(page: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for part in page.split('<').skip(1) {
        let mut tag = String::new();
        let mut quoted = false;
        for c in part.chars() {
            match c {
                '"' => quoted = !quoted,
                '>' if !quoted => break,
                c if !quoted => tag.push(c),
                _ => {}
            }
        }
        all.insert(tag);
    }
    all
}

fn recording(record: &RunRecord) -> Telemetry {
    let summary = &record.telemetry[0];
    let values = vec![Some(1.0), Some(2.0)];
    serde_json::from_value(json!({
        "cell": summary.cell, "replicate": 1, "place": "host", "offer": "system", "source": "system", "start_s": 0.0,
        "recording": { "at_s": [1.0, 2.0], "series": [{ "name": summary.series[0].name, "unit": ATTACK, "values": values }] },
    }))
    .expect("a recording")
}

#[test]
fn attacks_in_every_field_stay_text() {
    let (record, taken) = record();
    assert!(taken > 40, "only {taken} places take any text");
    let (comparison, plain) = (compare(&record), common::record());
    let page = html(&record, &comparison, &[recording(&record)]).expect("HTML");
    let harmless = html(&plain, &compare(&plain), &[recording(&plain)]).expect("HTML");
    assert!(page.matches("onerror").count() > taken, "the page shows the attacks");
    let new: Vec<String> = tags(&page).difference(&tags(&harmless)).cloned().collect();
    assert_eq!(new, Vec::<String>::new(), "tags that are not the report's");
    for (_, svg) in charts(&comparison) {
        assert!(tags(&svg).iter().all(|tag| !tag.contains("onerror") && !tag.starts_with("script")), "{svg}");
    }
    let reports = [
        text(&record, &comparison, Metrics::All, 80),
        markdown(&record, &comparison, Metrics::All),
        csv(&record, &comparison).expect("CSV"),
        page,
    ];
    for report in reports {
        let steers =
            |c: char| (c.is_control() && !"\r\n".contains(c)) || "\u{202e}\u{2066}\u{61c}".contains(c);
        assert_eq!(report.chars().find(|c| steers(*c)), None);
    }
}

#[test]
fn the_page_forbids_everything_but_its_own_style() {
    let record = common::record();
    let page = html(&record, &compare(&record), &[]).expect("HTML");
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">";
    assert!(page.find(policy).is_some_and(|at| at < page.find("<title>").expect("a title")));
    let links: BTreeSet<&str> =
        page.split("href=\"").skip(1).filter_map(|rest| rest.chars().next().map(|_| &rest[..1])).collect();
    assert_eq!(links, BTreeSet::from(["#"]), "links lead to the page itself");
}
