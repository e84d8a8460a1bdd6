//! The sampler: prints, reading by reading, what the kernel tells of its machine.
//!
//! Owns which files are read and the form of what is printed. It must never compute: whoever reads it does, and can do
//! so again. Lines that have not changed since the reading before are left out, which keeps it cheap.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::protocol::{Clocks, Line};

/// The files of `/proc`, by the name they have in the output, and the beginnings of the lines that are told.
const FILES: [(&str, &[&str]); 6] = [
    ("stat", &["cpu "]),
    ("diskstats", &[""]),
    ("net/dev", &[""]),
    ("meminfo", &["MemTotal:", "MemAvailable:", "SwapTotal:", "SwapFree:"]),
    ("pressure/memory", &[""]),
    ("pressure/io", &[""]),
];
const CPUS: &str = "/sys/devices/system/cpu";
/// Below the folder of each CPU: how often it was slowed down, because it or its package was too hot.
const THROTTLES: [&str; 2] = ["core_throttle_count", "package_throttle_count"];
/// Below the folder of the first CPU: the highest frequency that is allowed, and that it can have.
const FREQUENCIES: [&str; 2] = ["scaling_max_freq", "cpuinfo_max_freq"];
/// Once in so many readings, because each CPU has its own files: they count up, so nothing is lost.
const SELDOM: u64 = 10;

/// A file that is read again and again.
struct Told {
    name: String,
    lines: &'static [&'static str],
    file: File,
    before: String,
}

/// Prints a reading at once, after every interval, and when `ended` tells that nobody wants more.
///
/// # Errors
/// When the output is closed.
pub fn run(interval: Duration, ended: &Receiver<()>) -> io::Result<()> {
    let start = Instant::now();
    let (mut often, mut seldom) = (often(), seldom());
    let mut next = interval;
    for count in 0_u64.. {
        let seldom = if count % SELDOM == 0 { seldom.as_mut_slice() } else { &mut [] };
        print(start, often.iter_mut().chain(seldom))?;
        match ended.recv_timeout(next.saturating_sub(start.elapsed())) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => break,
        }
        // A machine that stood still has missed readings: they are not made up for.
        while next <= start.elapsed() {
            next += interval;
        }
    }
    print(start, often.iter_mut().chain(&mut seldom))
}

fn print<'t>(start: Instant, files: impl Iterator<Item = &'t mut Told>) -> io::Result<()> {
    let mut text = Line::At(Clocks::since(start)).to_string();
    files.for_each(|file| file.tell(&mut text));
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

/// What is read every time. What this kernel does not have is left out.
fn often() -> Vec<Told> {
    let open = |(name, lines): (&str, &'static [&'static str])| {
        Told::open(name.to_string(), lines, format!("/proc/{name}").into())
    };
    FILES.into_iter().filter_map(open).collect()
}

fn seldom() -> Vec<Told> {
    let mut cpus: Vec<String> = fs::read_dir(CPUS)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok()))
        .collect();
    cpus.sort();
    let throttles =
        cpus.iter().flat_map(|cpu| THROTTLES.map(|file| format!("{cpu}/thermal_throttle/{file}")));
    let frequencies = FREQUENCIES.map(|file| format!("cpu0/cpufreq/{file}"));
    let open = |name: String| {
        let path = format!("{CPUS}/{name}").into();
        Told::open(name, &[""], path)
    };
    throttles.chain(frequencies).filter_map(open).collect()
}

impl Told {
    fn open(name: String, lines: &'static [&'static str], path: PathBuf) -> Option<Self> {
        let file = File::open(path).ok()?;
        Some(Self { name, lines, file, before: String::new() })
    }

    /// Adds the lines that are new. A file that cannot be read now has none.
    fn tell(&mut self, text: &mut String) {
        let Ok(now) = whole(&self.file) else { return };
        let mut before = self.before.lines();
        for line in now.lines() {
            let changed = before.next() != Some(line);
            if changed && self.lines.iter().any(|beginning| line.starts_with(beginning)) {
                text.extend([&*self.name, " ", line, "\n"]);
            }
        }
        self.before = now;
    }
}

/// A file of the kernel from its beginning, which makes the kernel write it anew.
fn whole(file: &File) -> io::Result<String> {
    let mut bytes = vec![0; 1 << 14];
    let mut length = 0;
    loop {
        let read = file.read_at(&mut bytes[length..], length as u64)?;
        length += read;
        if read == 0 {
            bytes.truncate(length);
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        if length == bytes.len() {
            bytes.resize(length * 2, 0);
        }
    }
}
