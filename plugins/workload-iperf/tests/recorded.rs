//! Real output of both tools, read as people import it, whole and damaged.

use std::path::Path;
use std::time::{Duration, Instant};

use crossvisor_plugin::model::{Name, Options};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, ImportInput, ImportOutput, Workload};
use crossvisor_workload_iperf::Iperf;
use proptest::prelude::*;

const FILES: [&str; 14] = [
    "bidir.json",
    "bidir.txt",
    "in.json",
    "iperf2.csv",
    "iperf2_duplex.txt",
    "iperf2_in.txt",
    "iperf2_out.txt",
    "iperf2_refused.txt",
    "iperf2_server.txt",
    "iperf2_udp.txt",
    "iperf2_udp_server.txt",
    "out.json",
    "server.txt",
    "udp.json",
];

fn recorded(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn import(text: &str) -> Result<ImportOutput, Failure> {
    let chosen = Chosen { offer: Name::new("iperf").expect("name"), options: Options::new() };
    Iperf.import(&chosen, &ImportInput { file: "log".into(), text: text.into(), last: true })
}

/// Mbit/s out and in, and streams, of each result.
fn rates(name: &str) -> Vec<(Option<f64>, Option<f64>, String)> {
    let found = import(&recorded(name)).expect(name);
    assert_eq!(found.refused, [], "{name}");
    let rate = |values: &crossvisor_plugin::model::Values, metric: &str| {
        values.measured.get(metric).map(|r| r.round())
    };
    let result = |r: &crossvisor_plugin::Imported| {
        (
            rate(&r.values, "out"),
            rate(&r.values, "in"),
            r.settings.get("streams").cloned().unwrap_or_default(),
        )
    };
    found.results.iter().map(result).collect()
}

fn one(
    out: impl Into<Option<f64>>,
    r#in: impl Into<Option<f64>>,
    streams: &str,
) -> (Option<f64>, Option<f64>, String) {
    (out.into(), r#in.into(), streams.into())
}

#[test]
fn documents_of_iperf3() {
    assert_eq!(rates("out.json"), [one(24_492.0, None, "2")]);
    assert_eq!(rates("in.json"), [one(None, 20_906.0, "2")]);
    assert_eq!(rates("bidir.json"), [one(11_270.0, 7030.0, "1")]);
    assert_eq!(rates("udp.json"), [one(40.0, None, "2")]);
}

#[test]
fn tables_of_iperf3() {
    assert_eq!(rates("bidir.txt"), [one(9820.0, 8300.0, "1")]);
    let server = [
        one(None, 40.0, "2"),
        one(None, None, "1"), // sent datagrams: what arrived is not known here
        one(7060.0, 11_300.0, "1"),
        one(8350.0, 9820.0, "1"),
        one(17_400.0, None, "2"),
    ];
    assert_eq!(rates("server.txt"), server);
}

#[test]
fn output_of_iperf_2() {
    assert_eq!(rates("iperf2.csv"), [one(3778.0, None, "2")]);
    assert_eq!(rates("iperf2_in.txt"), [one(None, 2833.0, "2")]);
    assert_eq!(rates("iperf2_duplex.txt"), [one(11_400.0, 8780.0, "1")]);
    assert_eq!(rates("iperf2_udp_server.txt"), [one(None, 42.0, "2"), one(None, None, "1")]);
    let server = [
        one(None, 24_040.0, "2"),
        one(21_100.0, None, "2"),
        one(None, 24_900.0, "2"),
        one(8790.0, 11_400.0, "1"),
        one(15_200.0, 32_800.0, "2"),
    ];
    assert_eq!(rates("iperf2_server.txt"), server);
}

#[test]
fn a_file_of_everything_holds_every_result() {
    let all: String = FILES.iter().map(|name| recorded(name) + "\n").collect();
    let alone: usize = FILES.iter().map(|name| import(&recorded(name)).expect(name).results.len()).sum();
    let together = import(&all).expect("all");
    assert_eq!(together.results.len(), alone);
    assert_eq!(together.refused.len(), 1, "the one that was refused: {:?}", together.refused);
    assert_eq!(together.used, all.len());
}

#[test]
fn a_document_is_a_result_only_where_it_is_whole_and_alone() {
    let document = recorded("out.json");
    let refused = |text: &str| {
        let found = import(text).expect("iperf");
        assert_eq!((found.results.len(), found.refused.len()), (0, 1), "{text}");
        found.refused[0].reason.clone()
    };
    for end in [document.len() / 3, document.len() / 2, document.len() - 3] {
        assert!(refused(&document[..end]).contains("a whole JSON document"));
    }
    let after = format!("{document}\niperf3: error - unable to send control message: Broken pipe\n");
    assert!(refused(&after).contains("Broken pipe"));
    let before = format!("iperf3: interrupt - the client has terminated\n{document}");
    assert!(refused(&before).contains("has terminated"));
    assert!(refused(&document.replace("\"num_streams\":\t2", "\"num_streams\":\t3")).contains("3 streams"));
    let nothing = document.replace("\"sum_received\"", "\"x\"").replace("\"sum_sent\"", "\"y\"");
    assert!(refused(&nothing).contains("no sum at its end"));
    let noise = format!("warning: JSON data length overflow\n{document}\nConnection closed.\n");
    assert_eq!(import(&noise).expect("noise").results.len(), 1);
    let nan = document.replacen(
        "\"retransmits\":\t7,\n\t\t\t\"sender\"",
        "\"retransmits\":\t-nan,\n\t\t\t\"sender\"",
        1,
    );
    assert_ne!(nan, document);
    let nan = import(&nan).expect("nan");
    assert_eq!(nan.results[0].values.measured.get("out_retransmits"), None);
}

#[test]
fn what_is_not_of_iperf_is_refused_as_a_whole() {
    for text in ["", "\n\n", "hello\n", "\u{fffd}\u{0}\u{1b}[31m", "a,b,c,d,e,f,g,h,i\n", "[ 3] 1\n"] {
        let failure = import(text).expect_err(text);
        assert!(failure.message.contains("log holds nothing of iperf: expected"), "{}", failure.message);
    }
}

#[test]
fn much_output_is_read_in_time() {
    let seconds: String = (0..20_000)
        .map(|s| format!("[  3] {s}.00-{}.00 sec   112 MBytes   940 Mbits/sec\n", s + 1))
        .collect();
    let braces = "{\n".repeat(20_000);
    let tests = recorded("iperf2_out.txt").repeat(1000);
    let began = Instant::now();
    assert!(import(&seconds).expect("seconds").results.is_empty());
    assert!(import(&braces).expect("braces").results.is_empty());
    assert_eq!(import(&tests).expect("tests").results.len(), 1000);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|[\\[\\]{}\" \n0-9.,/()%-]){0,400}") {
        let _ = import(&text);
    }

    #[test]
    fn no_damage_makes_it_panic(
        file in 0..FILES.len(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0..40_usize, "\\PC{0,4}"), 1..8),
    ) {
        let mut text: Vec<char> = recorded(FILES[file]).chars().collect();
        for (at, length, put) in cuts {
            let at = at.index(text.len() + 1);
            let end = (at + length).min(text.len());
            text.splice(at..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        for result in import(&text).map(|found| found.results).unwrap_or_default() {
            prop_assert!(result.values.measured.values().all(|value| value.is_finite() && *value >= 0.0));
        }
    }
}
