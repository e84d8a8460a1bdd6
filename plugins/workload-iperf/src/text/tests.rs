//! Whole logs, of the shapes in which people keep them.

use super::read;
use crate::detail::Detail;
use crate::direction::Direction::{In, Out};
use crate::report::{Flow, Found, Protocol, Report, Role, Tool};

fn found(text: &str) -> Found {
    read((1..).zip(text.lines()))
}

fn reports(text: &str) -> Vec<Report> {
    let found = found(text);
    assert_eq!(found.refused, []);
    found.reports
}

fn only(text: &str) -> Report {
    let mut reports = reports(text);
    assert_eq!(reports.len(), 1, "{reports:#?}");
    reports.remove(0)
}

fn flow(report: &Report) -> &Flow {
    assert_eq!(report.flows.len(), 1);
    &report.flows[0]
}

/// Mbit/s.
fn rate(report: &Report) -> f64 {
    let flow = flow(report);
    flow.received.or(flow.sent).map_or(f64::NAN, |total| total.bits_per_second / 1e6)
}

fn refusal(text: &str) -> String {
    let found = found(text);
    assert_eq!((found.reports.len(), found.refused.len()), (0, 1), "{found:#?}");
    found.refused[0].reason.clone()
}

const FOUR: &str = "\
Client connecting to 10.1.0.1, TCP port 5001
TCP window size: 64.0 KByte (default)
[  3] local 10.1.0.2 port 40001 connected with 10.1.0.1 port 5001
[  5] local 10.1.0.2 port 40003 connected with 10.1.0.1 port 5001
[  4] local 10.1.0.2 port 40002 connected with 10.1.0.1 port 5001
[ ID] Interval       Transfer     Bandwidth
[  5]  0.0-10.0 sec   600 MBytes   503 Mbits/sec
[  3]  0.0-10.0 sec  1.20 GBytes  1.03 Gbits/sec
[  4]  0.0-10.0 sec  1.21 GBytes  1.04 Gbits/sec
[SUM]  0.0-10.0 sec  3.00 GBytes  2.57 Gbits/sec
";

#[test]
fn streams_have_the_sum_that_was_printed() {
    let report = only(FOUR);
    assert_eq!((report.tool, report.role), (Tool::Iperf2, Some(Role::Client)));
    assert_eq!((report.line, report.machine.as_deref()), (1, Some("10.1.0.2")));
    assert_eq!(report.asked.window.as_deref(), Some("64.0 KiB, default"));
    assert_eq!((rate(&report), flow(&report).streams, flow(&report).direction), (2570.0, 3, Out));
    assert_eq!(flow(&report).spread, Some([503e6, 1.04e9]));
}

#[test]
fn a_stream_without_its_total_spoils_the_sum() {
    let lost = FOUR.replace("[  5]  0.0-10.0 sec   600 MBytes   503 Mbits/sec\n", "");
    assert!(refusal(&lost).contains("each of 3 streams, found 2"), "{}", refusal(&lost));
    let cut = FOUR.split_once("[  4]  0.0").expect("row").0;
    assert!(refusal(cut).contains("found 2"));
    let asked = format!("$ iperf -c 10.1.0.1 -P 4\n{FOUR}");
    assert!(refusal(&asked).contains("each of 4 streams, found 3"));
}

#[test]
fn without_a_sum_streams_are_added_up_and_it_is_said() {
    let report = only(&FOUR.replace("[SUM]", "[---]"));
    assert_eq!(rate(&report), 2573.0);
    assert!(flow(&report).notes[0].contains("no sum was printed"));
    let others = only(&FOUR.replace("3.00 GBytes  2.57", "9.00 GBytes  7.71"));
    assert_eq!(rate(&others), 2573.0);
    assert!(flow(&others).notes[0].contains("not theirs"));
}

#[test]
fn streams_that_ran_for_different_times_are_flagged() {
    let report = only(&FOUR.replace("[  5]  0.0-10.0 sec", "[  5]  0.0- 8.1 sec"));
    assert!(flow(&report).flags[0].contains("8.1 s to 10 s"));
}

#[test]
fn prompts_marks_and_several_runs_do_not_mix() {
    let quoted: String = FOUR.lines().map(|line| format!("  > # {line}\n")).collect();
    assert_eq!(rate(&only(&quoted)), 2570.0);
    let again = FOUR.replace("2.57 Gbits", "2.56 Gbits");
    let console =
        format!("lab$ iperf -c h1 -P 3 -t 10\n{FOUR}lab$ iperf -c h1 -P 3 -t 10\n{again}lab$ iperf -s &\n");
    let rates: Vec<f64> = reports(&console).iter().map(rate).collect();
    assert_eq!(rates, [2570.0, 2560.0]);
    let bare: String =
        FOUR.lines().filter(|line| line.contains("] ")).skip(3).map(|l| format!("{l}\n")).collect();
    let twice = format!("{bare}{}", bare.replace("600 MB", "610 MB").replace("3.00 GB", "3.01 GB"));
    assert_eq!(reports(&twice).len(), 2);
}

#[test]
fn intervals_are_no_totals() {
    let seconds = "\
[  3] local 10.1.0.2 port 40001 connected with 10.1.0.1 port 5001
[  3]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec
[  3]  1.0- 2.0 sec   114 MBytes   956 Mbits/sec
";
    assert!(refusal(seconds).contains("only intervals up to 2 s"));
    let whole = format!("{seconds}[  3]  0.0- 2.0 sec   226 MBytes   948 Mbits/sec\n");
    assert_eq!((rate(&only(&whole)), flow(&only(&whole)).streams), (948.0, 1));
    let short = format!("$ iperf -c h1 -t 30 -i 1\n{whole}");
    assert!(crate::values::values(&only(&short)).flags["out"][0].contains("2 s instead of 30 s"));
}

#[test]
fn a_server_with_many_clients_has_a_test_for_each() {
    let log = "\
Server listening on TCP port 6001
TCP window size:  128 KByte (default)
[  4] local 10.1.0.1 port 6001 connected with 10.1.0.2 port 40001
[  5] local 10.1.0.1 port 6001 connected with 10.1.0.2 port 40002
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0-10.0 sec  1.00 GBytes   859 Mbits/sec
[  5]  0.0-10.0 sec  1.00 GBytes   859 Mbits/sec
[SUM]  0.0-10.0 sec  2.00 GBytes  1.72 Gbits/sec
[  6] local 10.1.0.1 port 6001 connected with 10.1.0.3 port 40003
[  6]  0.0-10.0 sec  1.10 GBytes   945 Mbits/sec
[SUM]  0.0-31.0 sec  3.10 GBytes   859 Mbits/sec
[  4] local 10.1.0.1 port 6001 connected with 10.1.0.4 port 40004
";
    let found = found(log);
    assert_eq!(found.reports.iter().map(rate).collect::<Vec<_>>(), [1720.0, 945.0]);
    let first = &found.reports[0];
    assert_eq!((flow(first).direction, first.role, flow(first).sent), (In, Some(Role::Server), None));
    assert_eq!(found.refused.len(), 1, "the last client has no row");
}

#[test]
fn a_reversed_stream_comes_in() {
    let report = only(
        "\
Client connecting to 10.1.0.1, TCP port 5001 with pid 7 (1 flows)
[  1] local 10.1.0.2%eth0 port 40001 connected with 10.1.0.1 port 5001 (reverse) (ct=0.20 ms)
[ ID] Interval            Transfer    Bandwidth       Reads=Dist
[ *1] 0.0000-1.0007 sec  1084620800 Bytes  8670888107 bits/sec  8385=4:0:1
",
    );
    assert_eq!((flow(&report).direction, rate(&report)), (In, 8670.888107));
    assert_eq!(flow(&report).details[&Detail::Connect], 0.2);
}

#[test]
fn both_directions_at_once_are_two_flows() {
    let duplex = only(
        "\
Client connecting to 10.1.0.1, TCP port 5001
[  1] local 10.1.0.2 port 40001 connected with 10.1.0.1 port 5001 (full-duplex)
[ ID] Interval       Transfer     Bandwidth
[  1] 0.0000-1.0026 sec  1.34 GBytes  11.4 Gbits/sec
[ *1] 0.0000-1.0039 sec  1.03 GBytes  8.78 Gbits/sec
[SUM] 0.0000-1.0052 sec  2.36 GBytes  20.2 Gbits/sec
",
    );
    let of = |report: &Report| -> Vec<_> { report.flows.iter().map(|f| (f.direction, f.streams)).collect() };
    assert_eq!(of(&duplex), [(Out, 1), (In, 1)]);
    let dual = reports(
        "\
Server listening on TCP port 5001
Client connecting to 10.1.0.1, TCP port 5001
[  4] local 10.1.0.2 port 40001 connected with 10.1.0.1 port 5001
[  5] local 10.1.0.2 port 5001 connected with 10.1.0.1 port 50001
[ ID] Interval       Transfer     Bandwidth
[  4]  0.0-10.0 sec   500 MBytes   419 Mbits/sec
[  5]  0.0-10.0 sec   510 MBytes   428 Mbits/sec
",
    );
    assert_eq!(of(&dual[0]), [(Out, 1), (In, 1)]);
    let bidir = only(
        "\
Connecting to host 10.1.0.1, port 5201
[  5] local 10.1.0.2 port 40001 connected to 10.1.0.1 port 5201
[  7] local 10.1.0.2 port 40002 connected to 10.1.0.1 port 5201
[ ID][Role] Interval           Transfer     Bitrate         Retr
[  5][TX-C]   0.00-1.00   sec  1.15 GBytes  9.85 Gbits/sec   13             sender
[  5][TX-C]   0.00-1.00   sec  1.15 GBytes  9.82 Gbits/sec                  receiver
[  7][RX-C]   0.00-1.00   sec   999 MBytes  8.37 Gbits/sec    0             sender
[  7][RX-C]   0.00-1.00   sec   992 MBytes  8.30 Gbits/sec                  receiver
",
    );
    assert_eq!(of(&bidir), [(Out, 1), (In, 1)]);
    assert_eq!(bidir.flows[1].received.expect("received").bits_per_second.round(), 8.3e9);
    assert_eq!(bidir.flows[0].details[&Detail::Retransmits], 13.0);
}

const DATAGRAMS: &str = "\
Client connecting to 10.1.0.1, UDP port 5002
Sending 1470 byte datagrams, IPG target: 560.76 us (kalman adjust)
[  3] local 10.1.0.2 port 40001 connected with 10.1.0.1 port 5002
[  4] local 10.1.0.2 port 40002 connected with 10.1.0.1 port 5002
[ ID] Interval            Transfer     Bandwidth      Write/Err  PPS
[  3] 0.00-10.00 sec  25.1 MBytes  21.0 Mbits/sec  17860/0     1786 pps
[  3] Sent 17860 datagrams
[  3] Server Report:
[  3] 0.0-10.0 sec  25.0 MBytes  20.9 Mbits/sec   0.020 ms   60/17860 (0.34%)
[  4] 0.00-10.00 sec  25.1 MBytes  21.0 Mbits/sec  17860/0     1786 pps
[SUM] 0.00-10.00 sec  50.2 MBytes  42.0 Mbits/sec  35720/0     3572 pps
[  4] Server Report:
[  4] 0.0-10.0 sec  25.1 MBytes  21.0 Mbits/sec   0.040 ms    0/17860 (0%)
[  4] 0.0-10.0 sec  2 datagrams received out-of-order
";

#[test]
fn datagrams_are_what_the_server_reports() {
    let report = only(DATAGRAMS);
    let flow = flow(&report);
    assert_eq!((report.protocol, report.asked.block_bytes), (Some(Protocol::Udp), Some(1470)));
    assert!((rate(&report) - 41.9).abs() < 1e-9);
    assert_eq!(flow.sent.expect("sent").bits_per_second, 42e6);
    let detail = |detail| flow.details.get(&detail).copied();
    assert_eq!([detail(Detail::Lost), detail(Detail::Datagrams)], [Some(60.0), Some(35_720.0)]);
    assert_eq!([detail(Detail::OutOfOrder), detail(Detail::Writes)], [Some(2.0), Some(35_720.0)]);
    assert!((detail(Detail::Jitter).expect("jitter") - 0.03).abs() < 1e-12);
}

#[test]
fn a_server_that_does_not_report_leaves_the_loss_unknown() {
    let silent: String =
        DATAGRAMS.lines().filter(|line| !line.contains(" ms ")).map(|l| format!("{l}\n")).collect();
    let silent = silent.replace(
        "[  4] Server Report:",
        "[  4] WARNING: did not receive ack of last datagram after 10 tries.",
    );
    let report = only(&silent);
    let flow = flow(&report);
    assert!(flow.received.is_none() && flow.unknown.is_some());
    assert_eq!(flow.details.get(&Detail::Lost), None);
    assert!(report.complaints[0].contains("did not receive ack"));
    let half = DATAGRAMS.replace("60/17860 (0.34%)", "0/-1 (-0%)");
    assert!(
        self::flow(&only(&half)).unknown.as_deref().expect("reason").contains("each of 2 streams, found 1")
    );
}

const NEW: &str = "\
Connecting to host 10.1.0.1, port 5201
[  5] local 10.1.0.2 port 40001 connected to 10.1.0.1 port 5201
[  7] local 10.1.0.2 port 40002 connected to 10.1.0.1 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0    218 KBytes       (omitted)
[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    3    218 KBytes
[  7]   0.00-1.00   sec   113 MBytes   948 Mbits/sec    1    218 KBytes
[SUM]   0.00-1.00   sec   225 MBytes  1.89 Gbits/sec    4
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    3             sender
[  5]   0.00-1.04   sec   110 MBytes   887 Mbits/sec                  receiver
[  7]   0.00-1.00   sec   113 MBytes   948 Mbits/sec    1             sender
[  7]   0.00-1.04   sec   111 MBytes   895 Mbits/sec                  receiver
[SUM]   0.00-1.00   sec   225 MBytes  1.89 Gbits/sec    4             sender
[SUM]   0.00-1.04   sec   221 MBytes  1.78 Gbits/sec                  receiver

iperf Done.
";

#[test]
fn both_ends_of_iperf3_are_told_apart() {
    let report = only(NEW);
    let flow = flow(&report);
    assert_eq!((report.tool, report.protocol, flow.streams), (Tool::Iperf3, Some(Protocol::Tcp), 2));
    assert_eq!((rate(&report), flow.sent.expect("sent").bits_per_second), (1780.0, 1.89e9));
    assert_eq!(flow.details[&Detail::Retransmits], 4.0);
    assert_eq!(reports(&NEW.repeat(2)).len(), 2);
    let reverse = NEW.replacen('[', "Reverse mode, remote host 10.1.0.1 is sending\n[", 1);
    assert_eq!(self::flow(&only(&reverse)).direction, In);
    let comma = only(&NEW.replace(".78 Gbits", ",78 Gbits"));
    assert_eq!(rate(&comma), 1780.0);
}

#[test]
fn an_interrupted_test_of_iperf3_has_no_receiver() {
    let cut = NEW.replace(
        "[SUM]   0.00-1.04   sec   221 MBytes  1.78 Gbits/sec",
        "[SUM]   0.00-1.04   sec  0.00 Bytes  0.00 bits/sec",
    );
    let cut = cut.replace("110 MBytes   887 Mbits/sec", "0.00 Bytes  0.00 bits/sec");
    let cut = cut.replace("111 MBytes   895 Mbits/sec", "0.00 Bytes  0.00 bits/sec");
    let report = only(&format!("iperf3: interrupt - the client has terminated\n{cut}"));
    assert!(flow(&report).received.is_none() && flow(&report).unknown.is_some());
    assert_eq!(report.complaints, ["interrupt - the client has terminated"]);
    let broken = NEW.split_once("- - -").expect("rule").0;
    let reason = refusal(&format!("{broken}iperf3: error - control socket has closed unexpectedly\n"));
    assert!(reason.ends_with("it said: control socket has closed unexpectedly"), "{reason}");
}

#[test]
fn datagrams_of_old_iperf3_have_one_row() {
    let report = only(
        "\
[  4] local 10.1.0.2 port 40001 connected to 10.1.0.1 port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   159 MBytes  1.34 Gbits/sec  20398
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-1.00   sec   159 MBytes  1.34 Gbits/sec  0.072 ms  10000/20398 (49%)
[  4] Sent 20398 datagrams
",
    );
    let flow = flow(&report);
    assert!(flow.received.is_none() && flow.unknown.is_some());
    assert_eq!((flow.details[&Detail::Lost], flow.details[&Detail::Jitter]), (10_000.0, 0.072));
}

#[test]
fn what_did_not_connect_says_why() {
    let reason = refusal(
        "\
Client connecting to 10.1.0.1, TCP port 5001
tcp connect failed: Connection refused
[  1] local 0.0.0.0 port 0 connected with 10.1.0.1 port 5001
",
    );
    assert!(reason.contains("Connection refused"), "{reason}");
    let busy = refusal("iperf3: error - the server is busy running a test. try again later\n");
    assert!(busy.contains("busy"));
    assert_eq!(found("Server listening on TCP port 5001\n"), Found::default());
    assert_eq!(found("nothing of the kind\n"), Found::default());
}
