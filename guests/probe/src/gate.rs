//! The gate: holds a program until its controller says go, and ends it when the controller is gone.
//!
//! Owns the program's process group. It must never leave it running after itself, with two limits: the gate being
//! killed by SIGKILL, and a program that moves to a process group of its own.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::protocol::{Clocks, Line};

const ENDED: u8 = 0;
const NOT_RELEASED: u8 = 3;
const CONTROLLER_GONE: u8 = 4;
const NOT_STARTED: u8 = 127;

/// A moment further away than this is a mistake, and now is as good.
const FARTHEST: Duration = Duration::from_secs(60);

/// Runs the program once a line of standard input lets it go; returns the gate's exit code.
pub fn run(program: &str, arguments: &[&str]) -> u8 {
    let start = Instant::now();
    if say(&Line::Ready).is_err() || !released(start) || say(&Line::Go(Clocks::since(start))).is_err() {
        return NOT_RELEASED;
    }
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).process_group(0).spawn();
    match child {
        Ok(child) => watch(child, start),
        Err(error) => {
            // Nobody can be told when the output is closed as well; the exit code still says it.
            let _ = say(&Line::Fail(&format!("cannot start {program}: {error}")));
            NOT_STARTED
        }
    }
}

/// Waits for the program while a thread waits for the end of standard input.
fn watch(mut child: Child, start: Instant) -> u8 {
    let group = child.id();
    let gone = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&gone);
    thread::spawn(move || {
        // An error is as good as the end: nobody is there to be read from.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        told.store(true, Ordering::SeqCst);
        kill_group(group);
        std::process::exit(CONTROLLER_GONE.into());
    });
    let status = child.wait();
    let end = Clocks::since(start);
    let said = match status {
        _ if gone.load(Ordering::SeqCst) => return CONTROLLER_GONE,
        Ok(status) => say(&Line::End(end, status)),
        Err(error) => say(&Line::Fail(&format!("cannot wait for the program: {error}"))),
    };
    if said.is_ok() { ENDED } else { CONTROLLER_GONE }
}

/// Kills every process of a group. The standard library has no call for it and `kill` is not on every minimal
/// system, so the shell's built-in does it.
pub fn kill_group(group: u32) {
    let kill = Command::new("/bin/sh").args(["-c", &format!("kill -s KILL -- -{group}")]).status();
    if !kill.is_ok_and(|status| status.success()) {
        eprintln!(
            "crossvisor-probe: process group {group} may still run: end it with kill -s KILL -- -{group}"
        );
    }
}

/// True once a whole line let the program go; false when the input ended first. Lines that ask for the clock are
/// answered.
fn released(start: Instant) -> bool {
    let mut input = io::stdin().lock();
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).is_err() || !line.ends_with('\n') {
            return false;
        }
        if line.trim_end() != "clock" {
            wait_for_moment(&line, start);
            return true;
        }
        if say(&Line::Clock(Clocks::since(start))).is_err() {
            return false;
        }
    }
}

/// Waits until the moment `at=<ns>` of the line by the clock that counts from `start`; without one it is now.
fn wait_for_moment(line: &str, start: Instant) {
    let at = line.split_whitespace().find_map(|word| word.strip_prefix("at=")?.parse().ok());
    let left = at.map_or(Duration::ZERO, |at| Duration::from_nanos(at).saturating_sub(start.elapsed()));
    thread::sleep(left.min(FARTHEST));
}

fn say(line: &Line<'_>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(line.to_string().as_bytes())?;
    output.flush()
}
