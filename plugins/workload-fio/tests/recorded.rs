//! What fio printed, in every form, read as results that people kept.

use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{ImportInput, ImportOutput, Workload};
use crossvisor_workload_fio::{Fio, read};
use proptest::prelude::*;

fn recorded(name: &str) -> String {
    let path = format!("{}/tests/recorded/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect(&path)
}

fn import(text: &str) -> ImportOutput {
    let chosen = Chosen { offer: "fio".parse().expect("name"), options: Default::default() };
    let input = ImportInput { file: "kept.txt".into(), text: text.into(), last: true };
    Fio.import(&chosen, &input).expect("fio's output")
}

/// The values of the first of `results` results.
fn values(output: &ImportOutput, results: usize, expected: &[(&str, f64)]) {
    assert_eq!(output.refused, []);
    assert_eq!(output.results.len(), results);
    for (metric, value) in expected {
        let found = output.results[0].values.measured.get(*metric).copied().expect(metric);
        assert!((found - value).abs() < 1e-9 * value.abs().max(1.0), "{metric}: {found} instead of {value}");
    }
}

fn setting<'o>(output: &'o ImportOutput, at: usize, name: &str) -> Option<&'o str> {
    output.results[at].settings.get(name).map(String::as_str)
}

#[test]
fn a_report_for_people_is_read() {
    let output = import(&recorded("report.txt"));
    let expected = [
        ("read_iops", 1138.0),
        ("read_bandwidth", 9108.0),
        ("read_io", 9144.0),
        ("read_runtime", 1004.0),
        ("read_slat", 11.10),
        ("read_clat", 1579.03),
        ("read_latency_max", 9059.0),
        ("read_clat_p99", 4948.0),
        ("read_bandwidth_mean", 8015.0),
        ("write_iops", 1181.0),
        ("write_slat", 10.804_39),
        ("write_clat_p999", 57_410.0),
        ("write_latency", 1850.94),
        ("iops", 2319.0),
        ("cpu_user", 3.39),
    ];
    values(&output, 2, &expected);
    assert_eq!(setting(&output, 0, "block"), Some("8 KiB"));
    assert_eq!(setting(&output, 0, "depth"), Some("4"));
    assert_eq!(setting(&output, 1, "process"), Some("2 of 2"));
    assert!(output.results[0].warnings[0].contains("one of 2 jobs"));
    assert_eq!(output.results[0].versions["fio"], "3.33");
}

#[test]
fn an_old_report_is_read() {
    let text = "\
old: (g=0): rw=randwrite, bs=16K-16K/16K-16K, ioengine=libaio, iodepth=32
fio 1.59
old: (groupid=0, jobs=1): err= 0: pid=4242
  write: io=1,536MB, bw=52,417KB/s, iops=3,276 , runt= 30006msec
    slat (usec): min=3 , max=4711 , avg=12.50, stdev=20.25
    clat (msec): min=1 , max=210 , avg= 9.75, stdev= 3.50
     lat (msec): min=1 , max=210 , avg= 9.76, stdev= 3.51
    bw (KB/s) : min=30000, max=61000, per=100.10%, avg=52469.50, stdev=900.00
  cpu          : usr=1.25%, sys=6.50%, ctx=9000, majf=0, minf=20
Disk stats (read/write):
  sdb: ios=0/98000, merge=0/12, ticks=0/900000, in_queue=900000, util=99.50%
";
    let expected = [
        ("write_iops", 3276.0),
        ("write_bandwidth", 52_417.0),
        ("write_io", 1_572_864.0),
        ("write_clat", 9750.0),
        ("latency_max", 210_000.0),
        ("bandwidth", 52_417.0),
        ("write_bandwidth_mean", 52_469.5),
        ("cpu", 7.75),
        ("disk_busy", 99.5),
    ];
    values(&import(text), 1, &expected);
    let comma = text.replace("bw=52,417KB/s", "bw=52417,5KB/s");
    let output = import(&comma);
    assert!(output.results.is_empty());
    assert_eq!(output.refused[0].line, 4);
    assert!(output.refused[0].reason.contains("expected 'bw='"), "{:?}", output.refused);
}

#[test]
fn terse_lines_are_read() {
    let expected = [
        ("read_io", 3800.0),
        ("read_bandwidth", 3796.0),
        ("read_iops", 474.0),
        ("read_runtime", 1001.0),
        ("read_clat_max", 11_630.0),
        ("read_clat", 2093.002528),
    ];
    values(&import(&recorded("terse.txt")), 2, &expected);
}

#[test]
fn a_document_is_read_whatever_stands_around_it() {
    let mix = recorded("mix.json");
    let alone = import(&mix);
    let mixed = import(&format!("note: both are set\n{mix}\n{}", recorded("report.txt")));
    assert_eq!(alone.results[0].values, mixed.results[0].values);
    assert_eq!(mixed.results.len(), 1);
    assert_eq!(mixed.results[0].line, 2);
    assert_eq!(setting(&alone, 0, "block"), Some("4 KiB"));
    assert_eq!(setting(&alone, 0, "read share"), Some("50 %"));
    assert_eq!(setting(&alone, 0, "direct"), Some("yes"));
}

#[test]
fn fio_2_counts_microseconds_and_kib() {
    let text = r#"{
  "fio version" : "fio-2.16",
  "jobs" : [{
      "jobname" : "b", "groupid" : 0, "error" : 0,
      "write" : {"io_bytes" : 40960, "bw" : 4096, "iops" : 1024.50, "runtime" : 10000,
        "slat" : {"min" : 0, "max" : 0, "mean" : 0.00, "stddev" : 0.00},
        "clat" : {"min" : 20, "max" : 900, "mean" : 33.25, "stddev" : 2.00,
          "percentile" : {"99.000000" : 77, "0.00" : 0}},
        "lat" : {"min" : 20, "max" : 901, "mean" : 33.50, "stddev" : -nan}}}]
}"#;
    let output = import(text);
    let expected = [
        ("write_io", 40_960.0),
        ("write_bandwidth", 4096.0),
        ("write_clat", 33.25),
        ("write_clat_p99", 77.0),
        ("latency", 33.5),
    ];
    values(&output, 1, &expected);
    let measured = &output.results[0].values.measured;
    assert!(!measured.contains_key("write_slat") && !measured.contains_key("read_iops"), "{measured:?}");
}

#[test]
fn a_run_that_was_ended_is_kept_apart() {
    let output = import(&recorded("interrupted.txt"));
    assert_eq!(setting(&output, 0, "ended"), Some("early"));
    assert_eq!(output.results[0].values.flags["iops"], ["fio was ended early by signal 15"]);
}

#[test]
fn what_is_no_result_is_refused() {
    let output = import(&recorded("no_file.json"));
    assert!(output.results.is_empty());
    assert!(output.refused[0].reason.contains("ended with error 2"), "{:?}", output.refused);
    let output = import("fio: engine nosuch not loadable\nfio: failed to load engine\n");
    assert_eq!(output.refused[0].reason, "fio failed: engine nosuch not loadable / failed to load engine");
    let chosen = Chosen { offer: "fio".parse().expect("name"), options: Default::default() };
    let other = ImportInput { file: "notes.txt".into(), text: "hello\n".into(), last: true };
    let failure = Fio.import(&chosen, &other).expect_err("no output of fio");
    assert!(
        failure.message.starts_with("'notes.txt' holds no output of fio: expected"),
        "{}",
        failure.message
    );
}

/// Every cut of every recorded output, and any text put together of its pieces, is read or refused.
#[test]
fn no_cut_makes_a_parser_panic() {
    for name in ["mix.json", "report.txt", "terse.txt", "interrupted.txt"] {
        let text = recorded(name);
        for end in (0..text.len()).step_by(97) {
            assert!(read(&text[..end]).jobs.len() <= 2);
            assert!(read(&text[end..]).jobs.len() <= 2);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_a_parser_panic(
        pieces in prop::collection::vec((0_usize..4, 0_usize..12_000, 0_usize..300, ".{0,12}"), 0..12)
    ) {
        let texts = ["mix.json", "report.txt", "terse.txt", "no_file.json"].map(recorded);
        let mut mixed = String::new();
        for (text, start, length, between) in pieces {
            mixed.extend(texts[text].chars().skip(start).take(length));
            mixed.push_str(&between);
        }
        let reading = read(&mixed);
        prop_assert!(reading.jobs.iter().all(|job| job.directions.iter().any(Option::is_some)));
    }
}
