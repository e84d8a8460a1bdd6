//! What the sampler and the follower print, when they end, and what the sampler costs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

fn start(words: &[&str]) -> (Child, ChildStdin, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_crossvisor-probe"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("probe starts");
    let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    (child, input, BufReader::new(output))
}

fn times_ns(text: &str) -> Vec<u64> {
    let time = |line: &str| {
        let words = line.strip_prefix("@crossvisor at mono=")?;
        words.split(' ').next()?.parse().ok()
    };
    text.lines().filter_map(time).collect()
}

#[test]
fn readings_come_at_their_interval_with_a_last_one_at_the_end() {
    let (mut child, input, mut output) = start(&["sample", "--interval", "0.1"]);
    let mut text = String::new();
    while times_ns(&text).len() < 4 {
        output.read_line(&mut text).expect("text");
    }
    let asked = Instant::now();
    drop(input);
    output.read_to_string(&mut text).expect("text");
    assert!(child.wait().expect("ends").success());
    assert!(asked.elapsed() < Duration::from_secs(5));
    let times = times_ns(&text);
    assert!(times.len() >= 5, "{text}");
    assert!(times[0] < 100_000_000 && times[3] >= 300_000_000, "{times:?}");
    let first = text.split("@crossvisor at").nth(1).expect("a reading");
    for beginning in ["stat cpu ", "net/dev ", "meminfo MemAvailable:"] {
        assert!(first.lines().any(|line| line.starts_with(beginning)), "{beginning} in {first}");
    }
    assert_eq!(text.matches("meminfo MemTotal:").count(), 1, "a line that never changes is told once");
}

#[test]
fn an_interval_that_is_none_is_refused() {
    for interval in ["0", "-1", "NaN", "x", "1e300"] {
        let (mut child, ..) = start(&["sample", "--interval", interval]);
        assert_eq!(child.wait().expect("ends").code(), Some(2), "{interval}");
    }
}

/// Half a percent of one CPU at one reading a second is 5 ms for each reading.
#[test]
fn a_reading_costs_less_than_five_milliseconds_of_cpu() {
    const READINGS: usize = 200;
    let (mut child, input, mut output) = start(&["sample", "--interval", "0.005"]);
    let mut text = String::new();
    let mut count = 0;
    while count < READINGS {
        text.clear();
        output.read_line(&mut text).expect("text");
        count += usize::from(text.starts_with("@crossvisor at"));
    }
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: f64 = fields[11..13].iter().map(|ticks| ticks.parse::<f64>().expect("ticks")).sum();
    drop(input);
    output.read_to_string(&mut text).expect("text");
    child.wait().expect("ends");
    let each_ms = ticks * 10.0 / READINGS as f64;
    println!("{each_ms:.3} ms of CPU for each reading");
    assert!(each_ms < 5.0, "{each_ms} ms");
}

#[test]
fn a_followed_program_is_passed_on_with_times_and_ends_with_the_input() {
    let script = "echo a; echo b; sleep 0.4; echo c; sleep 60 & echo $!; wait";
    let (mut child, input, mut output) = start(&["follow", "--", "sh", "-c", script]);
    let mut text = String::new();
    while !text.contains("c\n") || text.lines().last().is_none_or(|line| line == "c") {
        output.read_line(&mut text).expect("text");
    }
    drop(input);
    let (before, after) = text.split_once("a\nb\n").expect("together");
    assert_eq!(times_ns(before).len(), 2, "{text}");
    let times = times_ns(after);
    assert!(times.len() == 1 && times[0] >= 400_000_000, "{text}");
    let sleeper = text.lines().last().expect("a process id").to_string();
    child.wait().expect("ends");
    let gone = || {
        std::fs::read_to_string(format!("/proc/{sleeper}/stat")).map_or(true, |stat| stat.contains(") Z "))
    };
    let patience = Instant::now() + Duration::from_secs(5);
    while !gone() {
        assert!(Instant::now() < patience, "{sleeper} still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_followed_program_that_ends_ends_the_follower() {
    let (mut child, _input, mut output) = start(&["follow", "--", "echo", "x"]);
    let mut text = String::new();
    output.read_to_string(&mut text).expect("text");
    assert!(child.wait().expect("ends").success() && text.ends_with("x\n"), "{text}");
    let (mut child, ..) = start(&["follow", "--", "/no/such/program"]);
    assert_eq!(child.wait().expect("ends").code(), Some(1));
}
