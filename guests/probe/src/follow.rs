//! The follower: runs a program and puts a line of times before what it prints at once.
//!
//! Owns the program's process group, which ends with this program's standard input. It must never change what is
//! printed, but for the lines of times.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use crate::gate::kill_group;
use crate::protocol::{Clocks, Line};

/// Lines that come closer after one another than this belong together.
const APART: Duration = Duration::from_millis(100);

/// Runs the program until it ends or `ended` tells that nobody wants more.
///
/// # Errors
/// When the program cannot be started or the output is closed.
pub fn run(program: &str, arguments: &[&str], ended: Receiver<()>) -> io::Result<()> {
    let start = Instant::now();
    say(start)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut child =
        command.spawn().map_err(|e| io::Error::new(e.kind(), format!("cannot start {program}: {e}")))?;
    let group = child.id();
    thread::spawn(move || {
        // An error is as good as the end: nobody is there to be told from.
        let _ = ended.recv();
        kill_group(group);
    });
    let passed = child.stdout.take().map_or(Ok(()), |output| pass(start, BufReader::new(output)));
    if passed.is_err() {
        kill_group(group);
    }
    child.wait()?;
    passed
}

/// Passes the lines on, with a line of times before the first of those that come together.
fn pass(start: Instant, mut lines: impl BufRead) -> io::Result<()> {
    let mut line = Vec::new();
    let mut last = None::<Instant>;
    while lines.read_until(b'\n', &mut line)? > 0 {
        if last.is_none_or(|last| last.elapsed() > APART) {
            say(start)?;
        }
        last = Some(Instant::now());
        let mut output = io::stdout().lock();
        output.write_all(&line)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

fn say(start: Instant) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(Line::At(Clocks::since(start)).to_string().as_bytes())?;
    output.flush()
}
