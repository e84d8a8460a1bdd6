//! Every form of a recording, made up or printed on machines at hand.

use crossvisor_plugin::{ImportOutput, Imported};
use proptest::prelude::*;

use super::import;

const OLD: &str = "\
Linux 3.10.0-957.el7.x86_64 (node4) \t03/02/2020 \t_x86_64_\t(8 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1,25    0,00    0,75    2,00    0,50   95,50

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
vda               0,00     1,50    2,00    4,00    16,00    96,00    37,33     0,02    3,00    1,00    4,00   1,10   0,66
mapper-with-a-very-long-name--that--pushes  0,00 0,00 1,00 0,00 4,00 0,00 8,00 0,00 0,10 0,10 0,00 0,10 0,01

Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
vda               0,00     0,00    9,00    0,00   144,00     0,00    32,00     0,00    1,00    1,00    0,00   1,00 100,05
";

fn value(result: &Imported, metric: &str) -> f64 {
    result.values.measured.get(metric).copied().unwrap_or_else(|| panic!("{metric} in {result:?}"))
}

fn setting<'r>(result: &'r Imported, name: &str) -> &'r str {
    result.settings.get(name).map_or("", String::as_str)
}

/// The results of one device.
fn of<'o>(output: &'o ImportOutput, device: &str) -> Vec<&'o Imported> {
    output.results.iter().filter(|result| setting(result, "device") == device).collect()
}

#[test]
fn old_columns_with_decimal_commas_and_long_names() {
    let output = import(OLD);
    assert_eq!((output.results.len(), output.refused.len(), output.used), (4, 0, OLD.len()));
    let cpu = &output.results[0];
    assert_eq!((value(cpu, "%user"), value(cpu, "%steal"), setting(cpu, "processor")), (1.25, 0.5, "all"));
    let vda = of(&output, "vda");
    assert_eq!(
        (value(vda[0], "wkB/s"), value(vda[0], "areq-sz"), value(vda[0], "%util")),
        (96.0, 18.665, 0.66)
    );
    assert_eq!((value(vda[1], "r/s"), value(vda[1], "%util")), (9.0, 100.05));
    assert!(setting(vda[0], "span").starts_with("first report") && setting(vda[1], "span") == "interval");
    assert_eq!(vda[1].line, 11);
    assert_eq!((vda[0].machine.as_deref(), setting(vda[0], "cpus")), (Some("node4"), "8"));
    assert_eq!(vda[0].versions["linux"], "3.10.0-957.el7.x86_64");
    let long = of(&output, "mapper-with-a-very-long-name--that--pushes");
    assert_eq!((value(long[0], "r/s"), value(long[0], "rkB/s")), (1.0, 4.0));
}

#[test]
fn other_units_are_made_one() {
    let megabytes = "Device r/s w/s rMB/s wMB/s %util\nsda 1.00 2.00 0.50 17.33 100.03\n";
    let output = import(megabytes);
    let sda = of(&output, "sda");
    assert_eq!((value(sda[0], "rkB/s"), value(sda[0], "wkB/s")), (512.0, 17.33 * 1024.0));
    assert_eq!(setting(sda[0], "span"), "");
    let blocks =
        import("Device:  tps  Blk_read/s  Blk_wrtn/s  Blk_read  Blk_wrtn\nhda 1.50 20.00 30.00 4000 600\n");
    let hda = of(&blocks, "hda");
    assert_eq!(
        (value(hda[0], "rkB/s"), value(hda[0], "kB_read"), value(hda[0], "kB_wrtn")),
        (10.0, 2000.0, 300.0)
    );
    let human =
        import("     tps    kB_read/s    kB_wrtn/s Device\n    8.6       222.1k         1.5M nvme0n1\n");
    let disk = of(&human, "nvme0n1");
    assert_eq!(
        (value(disk[0], "tps"), value(disk[0], "rkB/s"), value(disk[0], "wkB/s")),
        (8.6, 222.1, 1536.0)
    );
}

#[test]
fn a_value_of_two_columns_is_there_once() {
    for row in ["sda nan 4.00 1.00", "sda 8.00 nan 1.00"] {
        let output = import(&format!("Device: rsec/s rkB/s %util\n{row}\n"));
        let values = &output.results[0].values;
        assert_eq!((values.measured["rkB/s"], values.missing.len()), (4.0, 0), "{values:?}");
    }
}

#[test]
fn a_name_alone_on_its_line_belongs_to_the_values_below() {
    let output =
        import("Device: tps kB_read/s kB_wrtn/s\ncciss/c0d0p1\n   1.00 2.00 3.00\nsda 4.00 5.00 6.00\n");
    assert_eq!(value(of(&output, "cciss/c0d0p1")[0], "wkB/s"), 3.0);
    assert_eq!(value(of(&output, "sda")[0], "tps"), 4.0);
}

#[test]
fn sar_has_times_before_the_names_and_averages() {
    let text = "\
Linux 5.14.0 (node) 	02/03/24 	_x86_64_	(2 CPU)

10:00:01 AM       CPU     %user     %nice   %system   %iowait    %steal     %idle
10:00:02 AM       all      1.00      0.00      2.00      0.00      3.00     94.00

10:00:01 AM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
10:00:02 AM       sda     12.00     48.00      0.00      0.00      4.00      0.01      0.50      0.60
10:00:03 AM       sda      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00

10:00:01 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil
10:00:02 AM      eth0      1.00      1.00      0.10      0.10      0.00      0.00      0.00      0.00
Average:          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
Average:          sda      6.00     24.00      0.00      0.00      4.00      0.01      0.50      0.30
";
    let output = import(text);
    assert_eq!((output.results.len(), output.refused.len()), (4, 0), "{output:?}");
    let sda = of(&output, "sda");
    assert_eq!((value(sda[0], "tps"), value(sda[2], "rkB/s")), (12.0, 24.0));
    assert_eq!((setting(sda[0], "span"), setting(sda[2], "span")), ("interval", "average of the recording"));
    assert_eq!((value(&output.results[0], "%steal"), setting(&output.results[0], "processor")), (3.0, "all"));
}

#[test]
fn json_with_two_reports_and_json_that_was_cut() {
    let text = r#"{"sysstat": {"hosts": [{"nodename": "n", "release": "6.1", "number-of-cpus": 4, "statistics": [
        {"avg-cpu": {"user": 1.5, "idle": 98.5}, "disk": [{"disk_device": "vda", "r/s": 1, "rMB/s": 2.0, "util": 0.5}]},
        {"disk": [{"disk_device": "vda", "r/s": null, "util": 7.5}, {"r/s": 1}]}]}]}}"#;
    let output = import(text);
    let vda = of(&output, "vda");
    assert_eq!((value(vda[0], "rkB/s"), value(vda[1], "%util")), (2048.0, 7.5));
    assert!(vda[1].values.missing.contains_key("r/s"), "{:?}", vda[1]);
    assert_eq!((value(&output.results[0], "%user"), value(&output.results[0], "%idle")), (1.5, 98.5));
    assert!(output.refused[0].reason.contains("disk_device"), "{:?}", output.refused);
    let cut = import(&text[..text.len() / 2]);
    assert!(cut.results.is_empty() && cut.refused[0].reason.contains("EOF"), "{cut:?}");
    assert!(import("{}").refused[0].reason.contains("sysstat.hosts"));
}

#[test]
fn snapshots_of_diskstats_keep_their_counters() {
    let text = "   8  0 sda 10 1 80 5 20 2 160 9 0 12 14 3 0 24 1 7 2\n   8  16 sdb 1 2 3\n";
    let output = import(text);
    let sda = of(&output, "sda");
    let counters =
        ["reads", "sectors written", "discards", "flushes", "time flushing"].map(|name| value(sda[0], name));
    assert_eq!(counters, [10.0, 160.0, 3.0, 7.0, 2.0]);
    assert_eq!((output.refused.len(), output.refused[0].line), (1, 2));
}

#[test]
fn what_is_no_number_is_missing_and_what_is_no_report_is_said() {
    let output = import("Device r/s w/s %util\nsda 1.00 nan -nan\nsdb 1.00 2.00\n");
    let sda = of(&output, "sda");
    assert_eq!(value(sda[0], "r/s"), 1.0);
    assert_eq!(sda[0].values.missing.len(), 2);
    assert!(output.refused[0].reason.contains("expected 3 values"), "{:?}", output.refused);
    for text in ["", "\n\n", "bash: iostat: command not found\n", "\u{fffd}\u{0}\u{fffd}\n"] {
        let output = import(text);
        assert!(output.results.is_empty() && output.refused.len() == 1, "{text:?}: {output:?}");
    }
    let unknown = import("Device r/s furlongs %util\nsda 1.00 2.00 3.00\n");
    assert!(unknown.refused[0].reason.contains("furlongs"));
    assert_eq!(value(of(&unknown, "sda")[0], "%util"), 3.0);
}

proptest! {
    #[test]
    fn any_text_gives_finite_values_or_none(text in "(Device[: ]|DEV|avg-cpu:|r/s|%util|sda|nan|-|[0-9]{1,25}|[.,kMG%]|[ \n\t>{}\":])*") {
        for result in import(&text).results {
            prop_assert!(result.values.measured.values().all(|value| value.is_finite()));
        }
    }

    #[test]
    fn a_recording_cut_anywhere_has_no_value_that_the_whole_has_not(cut in 0..OLD.len()) {
        let whole = import(OLD);
        let part = import(&OLD[..cut]);
        prop_assert!(part.results.len() <= whole.results.len());
        for (part, whole) in part.results.iter().zip(&whole.results) {
            let last = part.line == OLD[..cut].lines().count();
            prop_assert!(last || part.values == whole.values);
        }
    }
}
