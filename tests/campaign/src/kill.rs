//! Follows a run from outside and kills it at a point.
//!
//! A line is seen when it is in the file. The journal waits for the disk after each announcement, so that the program
//! is stopped before it acts; how many lines there were when it stood still is recorded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::point::Extent;
use crate::{Machine, Point};

const TICK: Duration = Duration::from_micros(100);
/// A run takes seconds, and on a machine that has much else to do minutes.
const LIMIT: Duration = Duration::from_secs(300);

/// A run that was followed to its death, or to its end when that came first.
#[derive(Clone, Copy, Debug)]
pub struct Killed {
    pub by_us: bool,
    /// What it had come to.
    pub extent: Extent,
}

/// Starts a scenario and kills it at `point`; without one it is followed to its end.
///
/// # Errors
/// When it cannot be started or followed, or does not end.
pub fn run(machine: &Machine, scenario: &str, point: Option<Point>) -> io::Result<Killed> {
    let mut journal = Lines::of(machine.work(scenario).join("journal.jsonl"));
    let mut events = Lines::of(machine.run(scenario).join("events.jsonl"));
    let mut child = machine.start(scenario)?.spawn()?;
    let began = Instant::now();
    loop {
        let extent = Extent { journal: journal.count(), events: events.count(), time: began.elapsed() };
        let reached = match point {
            None => false,
            Some(Point::Journal(line)) => extent.journal >= line,
            Some(Point::Event(line)) => extent.events >= line,
            Some(Point::After(time)) => extent.time >= time,
        };
        let ended = child.try_wait()?.is_some();
        if ended {
            return Ok(Killed { by_us: false, extent });
        }
        if reached || extent.time > LIMIT {
            end(&mut child)?;
            let extent = Extent { journal: journal.count(), events: events.count(), ..extent };
            return match reached {
                true => Ok(Killed { by_us: true, extent }),
                false => Err(io::Error::other(format!("run {scenario} does not end"))),
            };
        }
        std::thread::sleep(TICK);
    }
}

/// Stops the process where it is, and kills it there.
fn end(child: &mut Child) -> io::Result<()> {
    let pid = Pid::from_child(child);
    kill_process(pid, Signal::STOP)?;
    kill_process(pid, Signal::KILL)?;
    child.wait().map(drop)
}

/// Counts the whole lines of a file that grows.
struct Lines {
    path: PathBuf,
    length: u64,
    count: usize,
}

impl Lines {
    fn of(path: PathBuf) -> Self {
        Self { path, length: 0, count: 0 }
    }

    /// Lines so far. They stay when the file is removed.
    fn count(&mut self) -> usize {
        let length = fs::metadata(&self.path).map_or(self.length, |file| file.len());
        if length != self.length {
            self.length = length;
            self.count = whole_lines(&self.path).unwrap_or(self.count);
        }
        self.count
    }
}

fn whole_lines(path: &Path) -> io::Result<usize> {
    Ok(fs::read(path)?.iter().filter(|byte| **byte == b'\n').count())
}
