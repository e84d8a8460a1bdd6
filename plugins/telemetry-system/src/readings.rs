//! From the readings of the probe's sampler to a recording.
//!
//! Owns which series there are and what they are called. Rates are by the sampler's clock; a counter that went backwards
//! makes no value.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_plugin::model::{Recording, Series};
use crossvisor_plugin::recorder::Recorder;
use crossvisor_plugin::stamps;

use crate::cpu::Cpu;
use crate::diskstats::{self, Counters};

const KIB: f64 = 1024.0;

/// What the lines so far say.
#[derive(Clone, Debug, Default)]
struct Told {
    cpu: Option<Cpu>,
    disks: BTreeMap<String, Counters>,
    /// Bytes received and sent.
    interfaces: BTreeMap<String, [u64; 2]>,
    /// KiB, by the name of the line.
    memory: BTreeMap<String, u64>,
    /// Microseconds that tasks stood still, by file and line: `memory some`.
    pressure: BTreeMap<String, u64>,
    /// Times that a CPU or its package was slowed down, by file.
    throttles: BTreeMap<String, u64>,
    /// kHz, by file.
    frequencies: BTreeMap<String, u64>,
    /// What was not understood.
    wrong: BTreeSet<String>,
}

/// The recording that the sampler's output makes.
pub fn record(text: &str) -> Recording {
    let mut recorder = Recorder::default();
    let mut before: Option<(f64, Told)> = None;
    let mut told = Told::default();
    for piece in stamps::read(text) {
        piece.text.lines().for_each(|line| told.take(line));
        if let Some((start_s, before)) = &before {
            if recorder.span(piece.at_s) {
                told.put(before, piece.at_s - start_s, &mut recorder);
            }
        }
        if before.as_ref().is_none_or(|(start_s, _)| piece.at_s > *start_s) {
            before = Some((piece.at_s, told.clone()));
        }
    }
    let warnings = told.wrong.iter().cloned().collect();
    let partitions = told.disks.keys().filter(|name| is_partition(name, &told.disks));
    let partitions: Vec<String> = partitions.map(|name| format!("disk {name} ")).collect();
    recorder.finish(warnings, |series| is_of_use(series, &partitions))
}

/// `sda1` beside `sda`, `nvme0n1p2` beside `nvme0n1`.
fn is_partition(name: &str, disks: &BTreeMap<String, Counters>) -> bool {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let disk = match digits.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ => digits,
    };
    digits.len() < name.len() && disks.contains_key(disk)
}

/// Disks and interfaces that did nothing at all are left out, and partitions, whose disk has all that they have.
fn is_of_use(series: &Series, partitions: &[String]) -> bool {
    let is_device = ["disk ", "net "].iter().any(|kind| series.name.starts_with(kind));
    let moved = series.values.iter().flatten().any(|value| *value != 0.0);
    (moved || !is_device) && !partitions.iter().any(|beginning| series.name.starts_with(beginning))
}

impl Told {
    /// One line: the file's name, and a line of it.
    fn take(&mut self, line: &str) {
        let Some((file, line)) = line.split_once(' ') else { return };
        if self.understand(file, line).is_none() {
            self.wrong.insert(format!("a line of {file} is not understood"));
        }
    }

    fn understand(&mut self, file: &str, line: &str) -> Option<()> {
        match file {
            "stat" => self.cpu = Some(Cpu::read(line)?),
            "diskstats" => {
                let disk = diskstats::read(line)?.ok()?;
                self.disks.insert(disk.device.into(), disk.counters);
            }
            "net/dev" => return self.interface(line),
            "meminfo" => {
                let (name, rest) = line.split_once(':')?;
                self.memory.insert(name.into(), rest.split_whitespace().next()?.parse().ok()?);
            }
            "pressure/memory" | "pressure/io" => return self.stalls(file, line),
            _ => {
                let number = line.trim().parse().ok()?;
                let numbers = match file {
                    _ if file.contains("/thermal_throttle/") => &mut self.throttles,
                    _ if file.contains("/cpufreq/") => &mut self.frequencies,
                    _ => return None,
                };
                numbers.insert(file.into(), number);
            }
        }
        Some(())
    }

    /// `  eth0: 1 2 3 …`; the two lines of headings are none.
    fn interface(&mut self, line: &str) -> Option<()> {
        let Some((name, numbers)) = line.split_once(':') else { return Some(()) };
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        let bytes = |at: usize| numbers.get(at).and_then(|word| word.parse().ok());
        self.interfaces.insert(name.trim().into(), [bytes(0)?, bytes(8)?]);
        Some(())
    }

    /// `some avg10=0.00 avg60=0.00 avg300=0.00 total=5`.
    fn stalls(&mut self, file: &str, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let total = rest.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
        let of = file.strip_prefix("pressure/")?;
        self.pressure.insert(format!("{of} pressure {kind}"), total.parse().ok()?);
        Some(())
    }

    /// The values of a span that began with `before`.
    fn put(&self, before: &Self, span_s: f64, recorder: &mut Recorder) {
        if let (Some(cpu), Some(before)) = (&self.cpu, &before.cpu) {
            for (name, share) in cpu.shares(before) {
                recorder.put(&format!("cpu {name}"), "%", share * 100.0);
            }
        }
        for (name, disk, before) in both(&self.disks, &before.disks) {
            for (column, unit, value) in disk.rates(before, span_s) {
                recorder.put(&format!("disk {name} {column}"), unit, value);
            }
        }
        for (name, bytes, before) in both(&self.interfaces, &before.interfaces) {
            for (way, (now, before)) in ["received", "sent"].iter().zip(bytes.iter().zip(before)) {
                if let Some(grown) = now.checked_sub(*before) {
                    recorder.put(&format!("net {name} {way}"), "KiB/s", grown as f64 / KIB / span_s);
                }
            }
        }
        for (name, stalled, before) in both(&self.pressure, &before.pressure) {
            if let Some(grown) = stalled.checked_sub(*before) {
                recorder.put(name, "%", grown as f64 / 1e4 / span_s);
            }
        }
        self.put_memory(recorder);
        self.put_speed(before, recorder);
    }

    fn put_memory(&self, recorder: &mut Recorder) {
        let of = |name: &str| self.memory.get(name).map(|kib| *kib as f64 / KIB);
        if let Some(available) = of("MemAvailable") {
            recorder.put("memory available", "MiB", available);
        }
        if let (Some(total), Some(free)) = (of("SwapTotal"), of("SwapFree")) {
            recorder.put("swap used", "MiB", total - free);
        }
    }

    fn put_speed(&self, before: &Self, recorder: &mut Recorder) {
        if !self.throttles.is_empty() {
            let grown =
                both(&self.throttles, &before.throttles).map(|(_, now, before)| now.saturating_sub(*before));
            recorder.put("cpu slowed down by heat", "times", grown.sum::<u64>() as f64);
        }
        let khz = |name: &str| {
            let mut of_name = self.frequencies.iter().filter(|(file, _)| file.ends_with(name));
            of_name.next().map(|(_, khz)| *khz as f64)
        };
        if let (Some(allowed), Some(most)) = (khz("scaling_max_freq"), khz("cpuinfo_max_freq")) {
            recorder.put("cpu frequency allowed", "%", allowed / most * 100.0);
        }
    }
}

/// What both have, with both values.
fn both<'m, T>(
    now: &'m BTreeMap<String, T>,
    before: &'m BTreeMap<String, T>,
) -> impl Iterator<Item = (&'m String, &'m T, &'m T)> {
    now.iter().filter_map(|(name, value)| Some((name, value, before.get(name)?)))
}
