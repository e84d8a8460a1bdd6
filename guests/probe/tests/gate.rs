//! The gate's protocol as a controller sees it: every way it can end, by its lines and exit codes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

struct Gate {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Gate {
    fn open(argv: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_crossvisor-probe"))
            .args(["gate", "--"])
            .args(argv)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("gate starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("piped"));
        let mut gate = Self { child, input, output: BufReader::new(output) };
        assert_eq!(gate.line(), "@crossvisor ready\n");
        gate
    }

    fn release(&mut self) {
        self.input.as_mut().expect("open").write_all(b"go\n").expect("gate reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("text");
        line
    }

    /// What is printed until the end, and the exit code.
    fn rest(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        (rest, self.child.wait().expect("gate ends").code())
    }
}

/// The two clocks of a line `<words> mono=<ns> real=<ns>…`.
fn clocks(line: &str) -> (u64, u64) {
    let number = |key: &str| {
        let word = line.split_whitespace().find_map(|word| word.strip_prefix(key)).expect(key);
        word.parse().expect("nanoseconds")
    };
    (number("mono="), number("real="))
}

#[test]
fn a_program_runs_between_go_and_end() {
    let mut gate = Gate::open(&["sh", "-c", "printf out; sleep 0.05; exit 5"]);
    gate.release();
    let go = gate.line();
    assert!(go.starts_with("@crossvisor go mono="), "{go}");
    let (rest, code) = gate.rest();
    let (output, end) = rest.split_once('\n').expect("the protocol's own newline");
    assert_eq!(output, "out");
    assert!(end.starts_with("@crossvisor end mono=") && end.ends_with(" exit=5\n"), "{end}");
    let (start, end) = (clocks(&go), clocks(end));
    assert!(end.0 - start.0 >= 50_000_000, "{start:?} {end:?}");
    assert!(start.1 > 1_600_000_000_000_000_000);
    assert_eq!(code, Some(0));
}

#[test]
fn a_program_goes_at_the_moment_it_is_told() {
    let mut gate = Gate::open(&["true"]);
    gate.input.as_mut().expect("open").write_all(b"clock\n").expect("gate reads");
    let clock = gate.line();
    assert!(clock.starts_with("@crossvisor clock mono="), "{clock}");
    let moment = clocks(&clock).0 + 200_000_000;
    let line = format!("go at={moment}\n");
    gate.input.as_mut().expect("open").write_all(line.as_bytes()).expect("gate reads");
    let go = gate.line();
    assert!(go.starts_with("@crossvisor go mono=") && clocks(&go).0 >= moment, "{go}");
    assert!(gate.rest().0.ends_with("exit=0\n"));
}

#[test]
fn a_signal_is_told_from_an_exit_code() {
    let mut gate = Gate::open(&["sh", "-c", "kill -s TERM $$"]);
    gate.release();
    assert!(gate.rest().0.ends_with(" signal=15\n"));
}

#[test]
fn without_a_whole_line_nothing_runs() {
    let mut gate = Gate::open(&["echo", "ran"]);
    gate.input.as_mut().expect("open").write_all(b"go").expect("gate reads");
    gate.input = None;
    assert_eq!(gate.rest(), (String::new(), Some(3)));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut gate = Gate::open(&["/no/such/program"]);
    gate.release();
    gate.line();
    let (rest, code) = gate.rest();
    assert!(rest.starts_with("\n@crossvisor fail cannot start /no/such/program: "), "{rest}");
    assert_eq!(code, Some(127));
}

#[test]
fn the_whole_group_ends_when_the_controller_is_gone() {
    let mut gate = Gate::open(&["sh", "-c", "sleep 20 & echo $!; wait"]);
    gate.release();
    gate.line();
    let grandchild = gate.line();
    gate.input = None;
    let (rest, code) = gate.rest();
    assert_eq!((rest.as_str(), code), ("", Some(4)));
    let process = Path::new("/proc").join(grandchild.trim());
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_alive(&process) {
        assert!(Instant::now() < deadline, "the program's own child still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// False for a process that is gone or only waits to be reaped.
fn is_alive(process: &Path) -> bool {
    std::fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn wrong_usage_is_refused() {
    for words in [&["gate", "true"][..], &["gate", "--"], &["pi"], &["pi", "--digits", "x"], &[]] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_crossvisor-probe")).args(words).output().expect("starts");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: "));
    }
}
