//! The layouts, cell by cell, and what is no line.

use super::*;
use crate::cell::Reading::{self, Measured, NotRun, TooFast};

fn parse(line: &str) -> Option<Record> {
    read(line)?.ok()
}

fn stage(line: &str, index: usize) -> (Reading, Reading, Reading) {
    let Readings { speed, cpu, latency } = parse(line).expect(line).stages[index];
    (speed, cpu, latency)
}

const V1: &str = "alpha,2G,30111,91,41222,17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91";
const V45: &str = "2,1.91c,beta,1G,8k,512,99,41222,17,20333,9,1444,88,50555,12,1815,31,16,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,11us,22ms,3s,44us,55us,66ms,1us,2us,3us,4us,5us,6ms";
const V47: &str = "1.96,1.96,gamma,1,1300000001,,,,,,,,,,,,,,40,16,16,,,801,14,802,12,803,4,804,16,805,13,806,3,,,,,,,811ms,812ms,813ms,814ms,815ms,816us";
const V48: &str = "1.97,1.97,delta,1,1300000002,4G,,,,41222,17,20333,9,,,50555,12,181.6,31,16,,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,,454ms,174ms,,98188us,2s,5985us,563us,583us,960us,32us,259us";
const V50: &str = "1.98,2.00a,epsilon,2,1300000003,128M,,8192,5,1271,90,+++++,+++,60222,102,2172,93,+++++,+++,3015,44,,,,,,,,,,,,,,,,,,10313us,4724us,316us,7714us,267us,13221us,,,,,,";

#[test]
fn every_layout_finds_its_cells() {
    assert_eq!(stage(V1, 0), (Measured(30111.0), Measured(91.0), NotRun));
    assert_eq!(stage(V1, 5), (Measured(181.6), Measured(1.0), NotRun));
    assert_eq!(stage(V1, 7), (TooFast, TooFast, NotRun));
    assert_eq!(stage(V1, 11), (Measured(2510.0), Measured(91.0), NotRun));
    assert_eq!(stage(V45, 2), (Measured(20333.0), Measured(9.0), Measured(3000.0)));
    assert_eq!(stage(V45, 11), (Measured(2510.0), Measured(91.0), Measured(6.0)));
    assert_eq!(stage(V47, 1), (NotRun, NotRun, NotRun));
    assert_eq!(stage(V47, 6), (Measured(801.0), Measured(14.0), Measured(811.0)));
    assert_eq!(stage(V47, 11), (Measured(806.0), Measured(3.0), Measured(0.816)));
    assert_eq!(stage(V48, 0), (NotRun, NotRun, NotRun));
    assert_eq!(stage(V48, 4), (Measured(50555.0), Measured(12.0), Measured(98.188)));
    assert_eq!(stage(V50, 1), (TooFast, TooFast, Measured(4.724)));
    assert_eq!(stage(V50, 2), (Measured(60222.0), Measured(102.0), Measured(0.316)));
    assert_eq!(stage(V50, 6), (NotRun, NotRun, NotRun));
}

#[test]
fn versions_are_told_where_the_line_says_them() {
    let version = |line| parse(line).map(|record| (record.version, record.format));
    assert_eq!(version(V1), Some((None, Some("1".into()))));
    assert_eq!(version(V45), Some((Some("1.91c".into()), Some("2".into()))));
    assert_eq!(version(V50), Some((Some("2.00a".into()), Some("1.98".into()))));
}

#[test]
fn what_was_asked_for_is_read_too() {
    let setup = |line: &str| parse(line).expect(line).setup;
    let v45 = Setup { size_mib: Some(1024), chunk_bytes: Some(8192), ..Setup::default() };
    assert_eq!(setup(V45), Setup { files: Files::parse("16"), ..v45 });
    assert_eq!(
        setup(V47),
        Setup { concurrency: Some(1), files: Files::parse("40:16:16"), ..Setup::default() }
    );
    let v50 = Setup { size_mib: Some(128), concurrency: Some(2), seeks: Some(8192), ..Setup::default() };
    assert_eq!(setup(V50), Setup { seekers: Some(5), ..v50 });
    assert_eq!(setup(&V1.replace("2G", "300M:64k")).chunk_bytes, Some(65536));
    assert_eq!(setup(&V1.replace("2G", "368")).size_mib, Some(368));
}

#[test]
fn directories_are_in_their_own_field_or_in_the_next() {
    let files = |fields: &str| parse(&V48.replace("16,,,,,901", fields)).map(|record| record.setup.files);
    assert_eq!(files("16,4096,128,,10,901"), Some(Files::parse("16:4096:128/10")));
    assert_eq!(files("16,4096,128,10,,901"), Some(Files::parse("16:4096:128/10")));
    assert_eq!(files("16,4096,128,,4k,901"), Some(Files::parse("16:4096:128")));
    assert_eq!(files("16,link,,,,901"), Some(Files::parse("16:link")));
}

#[test]
fn other_separators_and_empty_cells_at_the_end_are_a_spreadsheets() {
    let tabs = V48.replace(',', "\t");
    let bars = V48.replace(',', " | ");
    let padded = format!("{V48},,");
    let quoted = format!("\"{}\"", V48.replace(',', "\",\""));
    for line in [tabs, bars, padded, quoted] {
        assert_eq!(parse(&line), parse(V48), "{line}");
    }
}

#[test]
fn a_reason_names_the_field() {
    let reason = |line: &str| read(line).and_then(Result::err).unwrap_or_default();
    let bad = reason(&V1.replace("41222", "4122x"));
    assert_eq!(bad, "expected a number or '+++++' in field 5 (write), found '4122x'");
    let short = V48.replace(",960us,32us,259us", "");
    assert_eq!(reason(&short), "expected 48 fields as bonnie++ 1.93 to 1.97 prints them, found 45");
    assert_eq!(read("2015-03-03,5,6,7,8,9,10,11,12,13,14,15"), None);
}

#[test]
fn files_may_say_their_sizes_and_a_name_may_be_missing() {
    let sizes = V1.replace(",16,901,", ",16:4096:128/10,901,");
    assert_eq!(stage(&sizes, 6).0, Measured(901.0));
    assert_eq!(stage(&V1.replace("alpha", ""), 1).0, Measured(41222.0));
}

#[test]
fn a_decimal_comma_is_a_decimal_point() {
    let line = V1.replace(',', ";").replace("181.6", "181,6");
    assert_eq!(stage(&line, 5).0, Measured(181.6));
}

#[test]
fn what_does_not_fit_in_every_cell_is_no_result() {
    let bad = [
        V1.replace("41222", "4122x"),
        V1.replace("41222", "-41222"),
        V1.replace("41222", "++"),
        V1.replace("41222", "inf"),
        format!("{V1},1"),
        V48.replace("454ms", "454m"),
        V48.replace("454ms", "454"),
        V48.replacen("1.97", "3.00", 1),
        V47.replace(",,,,,,,,40", ",,,,,,,,,40").replacen("1.96", "1.98", 1),
        ",".repeat(26),
        String::new(),
    ];
    for line in bad {
        assert_eq!(parse(&line), None, "{line}");
    }
}
