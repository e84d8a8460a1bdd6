//! Files that people keep: recorded ones, and the shapes that mail, pages and spreadsheets give them.

use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{ImportInput, ImportOutput, Imported, Workload, model::Name};
use crossvisor_workload_bonnie::Bonnie;

const V1: &str = "alpha,2G,30111,91,41222,17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91";
const V48: &str = "1.97,1.97,delta,1,1300000002,4G,,,,41222,17,20333,9,,,50555,12,181.6,31,16,,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,,454ms,174ms,,98188us,2s,5985us,563us,583us,960us,32us,259us";
const LATE: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
eta           8000M  402k  99  1.4g  96  117m  14 1510k  99 15.8m  95 279.1  13
Latency             35068us   24976us    2944ms   30725us   71770us   26152us
Version 2.00a       ------Sequential Create------ --------Random Create--------
eta-of-the-long-nam -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
     30:4096:1024/10 30720  32 +++++ +++ 30720  48 30720  39 30720  56 30720  61
Latency               411ms   11914us     119ms     617ms   10296us     110ms
";

fn import(offer: &str, text: &str, last: bool) -> ImportOutput {
    let chosen = Chosen { offer: Name::new(offer).expect("valid"), options: Default::default() };
    let input = ImportInput { file: "log.txt".into(), text: text.into(), last };
    Bonnie.import(&chosen, &input).expect("an import never fails")
}

fn recorded(offer: &str, name: &str) -> ImportOutput {
    let path = format!("{}/tests/recorded/{name}", env!("CARGO_MANIFEST_DIR"));
    import(offer, &std::fs::read_to_string(path).expect(name), true)
}

fn settings(result: &Imported) -> Vec<(&str, &str)> {
    result.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn a_machine_may_have_any_name() {
    for (before, name) in [("", "\u{e9}".repeat(30)), ("x", "\u{fffd}".repeat(30))] {
        let output = import("bonnie", &V48.replace("delta", &format!("{before}{name}")), true);
        assert_eq!(output.results[0].machine, Some(format!("{before}{name}")));
    }
}

#[test]
fn a_table_tells_what_its_line_does_not() {
    let output = recorded("bonnie", "table_and_line.txt");
    assert_eq!((output.results.len(), output.refused.len()), (1, 0));
    let result = &output.results[0];
    assert_eq!((result.line, result.machine.as_deref()), (1, Some("alpha")));
    let expected = [
        ("characters", "one system call each"),
        ("chunk", "4 KiB"),
        ("concurrency", "2"),
        ("directories", "4"),
        ("files", "1 x 1024"),
        ("format", "1.98"),
        ("largest file", "1024 B"),
        ("seekers", "3"),
        ("seeks", "2000"),
        ("size", "64 MiB"),
        ("smallest file", "64 B"),
    ];
    assert_eq!(settings(result), expected);
    assert_eq!(result.values.measured["putc"], 1326.0);
    assert_eq!(result.values.measured["putc_latency"], 9.837);
    assert!(result.values.too_fast.contains("write") && result.values.missing.is_empty());
    assert_eq!(result.versions["bonnie++"], "2.00a");
}

#[test]
fn links_have_no_size_and_no_data_stage() {
    let result = &recorded("bonnie", "links.txt").results[0];
    assert_eq!(result.machine.as_deref(), Some("a-very-long-machine-name-here"), "whole, from the line");
    assert_eq!(result.settings["largest file"], "hard links");
    assert!(!result.settings.contains_key("size") && !result.settings.contains_key("characters"));
    assert_eq!(result.values.measured["seq_create_latency"], 2.467);
    assert!(!result.values.measured.contains_key("write_latency"));
}

#[test]
fn each_of_several_tests_is_a_result() {
    let output = recorded("bonnie", "two_tests.csv");
    let lines: Vec<usize> = output.results.iter().map(|result| result.line).collect();
    assert_eq!((lines, output.refused), (vec![2, 3], vec![]));
}

#[test]
fn a_converted_table_has_its_machines_apart_and_no_zero() {
    let output = recorded("bonnie", "converted.txt");
    let [alpha, beta, long] = &output.results[..] else { panic!("{output:?}") };
    assert_eq!(alpha.machine.as_deref(), Some("alpha"));
    assert_eq!(alpha.settings["files"], "1 x 1024");
    assert_eq!((alpha.settings["seeks"].as_str(), alpha.settings["seekers"].as_str()), ("2000", "3"));
    assert!(alpha.values.too_fast.contains("write"), "it prints 0k for what was too fast");
    assert_eq!((beta.machine.as_deref(), beta.settings.contains_key("files")), (Some("beta"), false));
    assert_eq!(beta.values.measured["write_latency"], 0.916);
    assert_eq!((long.machine.as_deref(), long.settings.contains_key("size")), (Some("a-very-long-"), false));
}

#[test]
fn rates_that_a_version_prints_wrongly_are_missing() {
    let output = import("bonnie", LATE, true);
    let [result] = &output.results[..] else { panic!("{output:?}") };
    assert_eq!(result.machine.as_deref(), Some("eta-of-the-long-nam"));
    assert_eq!(result.values.measured["write"], 1.4 * 1024.0 * 1024.0);
    assert_eq!(result.values.measured["read"], 15.8 * 1024.0);
    assert_eq!(result.values.measured["seq_create_cpu"], 32.0);
    let missing: Vec<&str> = result.values.missing.keys().map(String::as_str).collect();
    assert_eq!(missing, ["ran_create", "ran_del", "ran_stat", "seq_create", "seq_del"]);
    assert!(result.values.too_fast.contains("seq_stat"));
    assert_eq!(result.settings["directories"], "10");
}

#[test]
fn the_line_has_the_rates_that_its_table_prints_wrongly() {
    let output = recorded("bonnie", "rates.txt");
    let [result] = &output.results[..] else { panic!("{output:?}") };
    assert_eq!(result.machine.as_deref(), Some("two words"));
    assert_eq!((result.values.measured["write"], result.values.measured["seq_create"]), (97551.0, 3176.0));
    assert!(result.values.missing.is_empty());
}

#[test]
fn stages_that_were_left_out_keep_their_place_in_a_table() {
    let fast = LATE.replace(" 402k  99 ", "          ").replace("1510k  99", "         ");
    let fast = fast
        .replace("Latency             35068us ", "Latency                     ")
        .replace("  30725us", "         ");
    let result = &import("bonnie", &fast, true).results[0];
    assert!(!result.values.measured.contains_key("putc") && !result.values.measured.contains_key("getc"));
    assert_eq!(result.values.measured["read"], 15.8 * 1024.0);
    assert_eq!(result.values.measured["rewrite_latency"], 2944.0);
    assert_eq!(result.values.measured["seeks_latency"], 26.152);
    let nothing_seek = fast.replace("   26152us", "          ");
    let result = &import("bonnie", &nothing_seek, true).results[0];
    assert!(!result.values.measured.contains_key("seeks_latency"));
    assert_eq!(result.values.measured["read_latency"], 71.77);
}

#[test]
fn rows_that_a_mail_broke_are_read_whole() {
    let broken = "\
> Version 1.03e       ------Sequential Output------ --Sequential Input-
> --Random-
>                     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block--
> --Seeks--
> Machine   Size:chnk K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP
> /sec %CP
> theta        2G:64k 30111  91 41222  17 20333   9 33444  88 50555  12
> 181.6   1
>                     ------Sequential Create------ --------Random
> Create--------
>                     -Create-- --Read--- -Delete-- -Create-- --Read---
> -Delete--
>               files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
> /sec %CP
>                  16   901  97 +++++ +++ 13021  88   955  98 +++++ +++
> 2510  91
";
    let output = import("bonnie", broken, true);
    let [result] = &output.results[..] else { panic!("{output:?}") };
    assert_eq!(result.values.measured["seeks"], 181.6);
    assert_eq!(result.values.measured["ran_del_cpu"], 91.0);
    assert_eq!((result.settings["size"].as_str(), result.settings["chunk"].as_str()), ("2 GiB", "64 KiB"));
    assert_eq!((result.settings["seekers"].as_str(), result.settings["format"].as_str()), ("3", "1"));
}

#[test]
fn the_oldest_version_has_sizes_without_unit_and_shares_of_what_was_too_fast() {
    let table = "\
Version 1.00        ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine          MB K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
lambda          500  5120  95 10240  20  4096   9  5000  90 12000   8 +++++  40
";
    let line = "lambda,500,5120,95,10240,20,4096,9,5000,90,12000,8,+++++,40,,,,,,,,,,,,,\n";
    for text in [table.to_string(), line.to_string(), format!("{table}{line}")] {
        let output = import("bonnie", &text, true);
        let [result] = &output.results[..] else { panic!("{output:?}") };
        assert_eq!((result.settings["size"].as_str(), result.settings["seekers"].as_str()), ("500 MiB", "3"));
        assert_eq!((result.values.measured["read"], result.values.measured["seeks_cpu"]), (12000.0, 40.0));
        assert!(result.values.too_fast.contains("seeks"));
    }
}

#[test]
fn pages_say_what_their_columns_are() {
    let moin = "\
bonnie++ v1.03b, single run
 * '''Sequential Output''' (Size is 6GB)
|| |||| '''Per Chr''' |||| '''Block''' ||
|| '''platform''' ||'''KB/sec''' || '''%CPU''' ||'''KB/sec''' || '''%CPU''' ||
|| ''bare metal'' || 52149 || 87 ||58412 || 40 ||
 * '''Sequential Input''' (Size is 6GB)
|| |||| '''Block''' ||
|| '''platform''' ||'''KB/sec''' || '''%CPU''' ||
|| ''bare metal'' || 67919 || 11 ||
";
    let output = import("bonnie", moin, true);
    let [result] = &output.results[..] else { panic!("{output:?}") };
    assert_eq!(result.machine.as_deref(), Some("bare metal"));
    let read: Vec<f64> = result.values.measured.values().copied().collect();
    assert_eq!(read, [52149.0, 87.0, 67919.0, 11.0, 58412.0, 40.0]);
    assert_eq!(result.settings["size"], "6 GiB");
    let markdown = "\
Results of bonnie++ 1.97:

| Host | Size | Block write (MiB/s) | CPU | Rewrite (KB/s) | Block read (MB/s) | Random seeks /s |
|------|-----:|--------------------:|----:|---------------:|------------------:|----------------:|
| iota | 8G   | 112.5               | 14  | 60111          | 98                | 401.2           |
| kappa | 8G  | +++++               | +++ | 58,412         | -                 | 399             |
";
    let output = import("bonnie", markdown, true);
    let [iota, kappa] = &output.results[..] else { panic!("{output:?}") };
    assert_eq!((iota.values.measured["write"], iota.values.measured["write_cpu"]), (115_200.0, 14.0));
    assert_eq!((iota.values.measured["rewrite"], iota.values.measured["seeks"]), (60111.0, 401.2));
    assert!(iota.values.missing["read"].contains("1000 or 1024"));
    assert!(kappa.values.too_fast.contains("write") && kappa.values.missing.contains_key("rewrite"));
    assert!(!kappa.values.measured.contains_key("read"));
    assert!(import("bonnie", "| a | b |\n|---|---|\n| x | 12 |\n", true).results.is_empty());
}

#[test]
fn a_failed_run_is_refused_in_the_tools_words() {
    let text = "Writing a byte at a time...done\nWriting intelligently...Can't write block.: No space left on device\n\
                Bonnie: drastic I/O error (write(2)): No space left on device\nsomething else\n";
    let output = import("bonnie", text, true);
    assert!(output.results.is_empty());
    let [refused] = &output.refused[..] else { panic!("{output:?}") };
    assert_eq!(refused.line, 2);
    assert!(refused.reason.contains("Writing intelligently...") && refused.reason.contains("No space left"));
    let harmless =
        format!("Delete files in random order...done.\nCan't sync directory, turning off dir-sync.\n{V1}\n");
    assert!(import("bonnie", &harmless, true).refused.is_empty());
    let heading = LATE.lines().take(3).collect::<Vec<_>>().join("\n");
    assert_eq!(import("bonnie", &heading, true).refused.len(), 1, "a heading without a row");
}

#[test]
fn pieces_are_used_up_to_what_may_be_unfinished() {
    let table = LATE.repeat(3);
    let text = format!("{}{table}{V1}\n", format!("{V48}\n").repeat(100));
    let whole = import("bonnie", &text, true);
    for length in [text.len() - V1.len() - 1, text.len() - V1.len() - table.len() / 2] {
        let length = text[..length].rfind('\n').expect("lines") + 1;
        let first = import("bonnie", &text[..length], false);
        let second = import("bonnie", &text[first.used..], true);
        assert!(first.used > 0 && text[..first.used].ends_with('\n'));
        assert_eq!(first.results.len() + second.results.len(), whole.results.len());
        let done = text[..first.used].lines().count();
        assert!(first.results.iter().all(|result| result.line <= done));
    }
    assert_eq!(import("bonnie", &format!("{V1}\n"), false).used, 0, "too short to tell");
}

#[test]
fn zcav_tells_the_parts_of_a_disk_and_their_summary() {
    let output = recorded("zcav", "zcav.txt");
    assert_eq!((output.results.len(), output.refused.len()), (5, 0));
    let all = &output.results[0].values.measured;
    assert_eq!((all["parts"], all["too_fast_parts"]), (4.0, 0.0));
    assert_eq!(
        (all["first"], all["slowest"], all["fastest"]),
        (275.66 * 1024.0, 275.66 * 1024.0, 2206.80 * 1024.0)
    );
    let second = &output.results[2];
    assert_eq!(second.settings["position"], "12.00 GiB");
    assert_eq!((second.values.measured["speed"], second.values.measured["time"]), (750.35 * 1024.0, 16.376));
    let old = "#loops: 3, version: 1.03\n#block K/s time\n0 59758 1.713567\n#100 ++++ 0.412331 \n200 x 1.7\n";
    let output = import("zcav", old, true);
    assert_eq!((output.results.len(), output.refused.len()), (3, 1));
    assert_eq!(output.results[0].settings["loops"], "3");
    assert_eq!(output.results[0].versions["zcav"], "1.03");
    assert!(
        output.results[0].values.too_fast.contains("mean"),
        "a mean of what could be told would be wrong"
    );
    assert_eq!(
        (output.results[1].values.measured["speed"], output.results[1].settings["position"].as_str()),
        (59758.0, "0 MiB")
    );
    assert!(output.results[2].values.too_fast.contains("speed"));
    assert_eq!(import("zcav", old, false).used, 0);
    assert_eq!(import("zcav", "#block K/s time\n", true).refused.len(), 1);
}
