//! Every form of a recording, made up after the tools' own sources.

use crossvisor_plugin::{ImportOutput, Imported};
use proptest::prelude::*;

use super::import;

const TOP: &str = "\
xentop - 10:00:00   Xen 4.17.5
2 domains: 1 running, 1 blocked, 0 paused, 0 crashed, 0 dying, 0 shutdown
Mem: 8388608k total, 8000000k used, 388608k free    CPUs: 4 @ 2400MHz
      NAME  STATE   CPU(sec) CPU(%)     MEM(k) MEM(%)  MAXMEM(k) MAXMEM(%) VCPUS NETS NETTX(k) NETRX(k) VBDS   VBD_OO   VBD_RD   VBD_WR  VBD_RSECT  VBD_WSECT SSID
  Domain-0 -----r        100    0.0    4194304   50.0   no limit       n/a     4    0        0        0    0        0        0        0          0          0    0
a-long-name-that-touches--b---         20    0.0    1048576   12.5    1049600      12.5     2    1       11       22    1        0      333      444       5555       6666    0
      NAME  STATE   CPU(sec) CPU(%)     MEM(k) MEM(%)  MAXMEM(k) MAXMEM(%) VCPUS NETS NETTX(k) NETRX(k) VBDS   VBD_OO   VBD_RD   VBD_WR  VBD_RSECT  VBD_WSECT SSID
  Domain-0 -----r        101   12.5    4194304   50.0   no limit       n/a     4    0        0        0    0        0        0        0          0          0    0
";

fn value(result: &Imported, metric: &str) -> f64 {
    result.values.measured.get(metric).copied().unwrap_or_else(|| panic!("{metric} in {result:?}"))
}

fn setting<'r>(result: &'r Imported, name: &str) -> &'r str {
    result.settings.get(name).map_or("", String::as_str)
}

/// The results of one domain.
fn of<'o>(output: &'o ImportOutput, domain: &str) -> Vec<&'o Imported> {
    output.results.iter().filter(|result| setting(result, "domain") == domain).collect()
}

#[test]
fn tables_of_xentop_and_their_first_rates() {
    let output = import(TOP);
    assert_eq!((output.results.len(), output.refused.len()), (3, 0), "{output:?}");
    let dom0 = of(&output, "Domain-0");
    assert_eq!(
        (value(dom0[0], "cpu time"), value(dom0[0], "memory"), value(dom0[1], "cpu")),
        (100.0, 4_194_304.0, 12.5)
    );
    assert!(dom0[0].values.missing["cpu"].contains("first table"));
    assert!(dom0[0].values.missing["max memory"].contains("no limit"));
    assert_eq!(
        (setting(dom0[0], "host cpus"), dom0[0].versions["xen"].as_str(), dom0[0].line),
        ("4", "4.17.5", 5)
    );
    let guest = of(&output, "a-long-name-that-touches");
    let written = ["vcpus", "net sent", "net received", "vbd reads", "vbd writes", "vbd sectors written"];
    assert_eq!(written.map(|metric| value(guest[0], metric)), [2.0, 11.0, 22.0, 333.0, 444.0, 6666.0]);
}

#[test]
fn a_value_of_two_columns_is_there_once() {
    let output = import(&TOP.replace("NETRX(k)", "NETTX(k)").replace("11       22 ", "11       x2 "));
    let guest = &of(&output, "a-long-name-that-touches")[0].values;
    assert_eq!((guest.measured["net sent"], guest.missing.get("net sent")), (11.0, None), "{guest:?}");
}

#[test]
fn lines_that_were_broken_and_an_older_column_set() {
    let text = "\
> NAME  STATE   CPU(sec) CPU(%)     MEM(k) MEM(%)  MAXMEM(k) MAXMEM(%) VCPUS NETS
> NETTX(k) NETRX(k) VBDS   VBD_OO   VBD_RD   VBD_WR  SSID
>   Domain-0 -----r    5000    2.5    900000   19.0   no
> limit       n/a    16    0
> 0        0      0        0        0        0     0
>   one two --b---     172    2.0    210000    4.2    210500       4.2     1    2
> 7        8      2        0        0        0     0
> [...]
>   cut --b---     172    2.0
";
    let output = import(text);
    assert_eq!((output.results.len(), output.refused.len()), (2, 1), "{output:?}");
    let (dom0, guest) = (of(&output, "Domain-0"), of(&output, "one two"));
    assert_eq!((value(dom0[0], "cpu"), value(dom0[0], "vcpus")), (2.5, 16.0));
    assert_eq!(
        (value(guest[0], "nets"), value(guest[0], "net received"), value(guest[0], "vbds")),
        (2.0, 8.0, 2.0)
    );
    assert!(output.refused[0].reason.contains("domain cut: expected 15 values"), "{:?}", output.refused);
    assert!(import("  Domain-0 -----r 100 0.0\n").refused[0].reason.contains("headings"));
}

#[test]
fn lists_of_domains_and_of_virtual_processors() {
    let text = "\
Name                                        ID   Mem VCPUs\tState\tTime(s)
Domain-0                                     0  2048     4     r-----      66.3
my guest                                    12   512     2     -b----       5.1
Name                                ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)
(XEN) a line of the console
Domain-0                             0     0    1   r--      67.7  all /
all
my guest                            12     1    -   --p       0.0  0-1 / all
";
    let output = import(text);
    assert_eq!((output.results.len(), output.refused.len()), (4, 0), "{output:?}");
    let guest = of(&output, "my guest");
    assert_eq!(
        (value(guest[0], "memory"), value(guest[0], "vcpus"), value(guest[0], "cpu time")),
        (524_288.0, 2.0, 5.1)
    );
    assert_eq!(
        (setting(guest[1], "vcpu"), setting(guest[1], "state"), setting(guest[1], "affinity")),
        ("1", "offline", "0-1 / all")
    );
    let dom0 = of(&output, "Domain-0");
    assert_eq!(
        (setting(dom0[1], "on cpu"), setting(dom0[1], "affinity"), value(dom0[1], "cpu time")),
        ("1", "all / all", 67.7)
    );
    assert!(output.results[0].warnings[0].starts_with("1 lines of the hypervisor's console"));
}

#[test]
fn the_csv_of_virt_top_has_more_fields_than_its_header() {
    let header = "Hostname,Time,Arch,Physical CPUs,Count,%CPU,Total hardware memory (KB),Total guest memory (KB),\
                  Total CPU time (ns),Domain ID,Domain name,CPU (ns),%CPU,Mem (bytes),%Mem,Block RDRQ,Block WRRQ,Net RXBY,Net TXBY";
    let early = "h,10:00:00,x86_64,8,2,0.0,1000000,300000,0,1,one,0.,0.,0,0,,,,,2,two,0.,0.,0,0,,,,";
    let later = "h,10:00:03,x86_64,8,2,1.5,1000000,300000,3000000000,1,one,1000000000.,0.5,100000,10,1,2,3,4,2,two,2000000000.,1.,200000,20,5,6,,8";
    let output = import(&format!("{header}\n{early}\n{later}\nh,1,2\n"));
    assert_eq!((output.results.len(), output.refused.len()), (6, 1), "{output:?}");
    let (all, two) = (of(&output, "all"), of(&output, "two"));
    assert!(all[0].values.missing.contains_key("cpu used") && two[0].values.measured.is_empty(), "{two:?}");
    assert_eq!(
        (value(all[0], "host memory"), value(all[1], "cpu share"), value(all[1], "cpu used")),
        (1e6, 1.5, 3.0)
    );
    let values =
        ["cpu used", "memory", "vbd writes in span", "net sent in span"].map(|metric| value(two[1], metric));
    assert_eq!(values, [2.0, 200_000.0, 6.0, 8.0]);
    assert!(two[1].values.missing.contains_key("net received in span"));
    assert_eq!(
        (two[1].machine.as_deref(), setting(two[1], "id"), setting(two[1], "host cpus")),
        (Some("h"), "2", "8")
    );
    assert!(
        output.refused[0].reason.contains("expected 9 fields and 10 for each domain"),
        "{:?}",
        output.refused
    );
}

#[test]
fn what_is_no_recording_is_said() {
    for text in ["", "\n", "xl: command not found\n", "\u{fffd}\u{0}\n", "Name ID\n", "NAME STATE\n"] {
        let output = import(text);
        assert!(output.results.is_empty() && output.refused.len() == 1, "{text:?}: {output:?}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_finite_values_or_none(
        text in "(NAME STATE |Name ID |VCPU CPU State|Mem|SSID|Hostname,|Domain ID,|-b-|--b---|[0-9]{1,9}|1e400|no limit|[., \n\t>é])*"
    ) {
        for result in import(&text).results {
            prop_assert!(result.values.measured.values().all(|value| value.is_finite()));
        }
    }

    #[test]
    fn a_recording_cut_anywhere_has_no_value_that_the_whole_has_not(cut in 0..TOP.len()) {
        let whole = import(TOP);
        for (part, whole) in import(&TOP[..cut]).results.iter().zip(&whole.results) {
            let last = part.line == TOP[..cut].lines().count();
            prop_assert!(last || part.values.measured.get("cpu time") == whole.values.measured.get("cpu time"));
        }
    }
}
