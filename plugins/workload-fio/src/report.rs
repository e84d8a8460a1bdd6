//! Jobs out of the report that fio prints for people, of fio 1 to 3.
//!
//! Owns its lines. It must never take a value that does not read whole.
//!
//! fio 1 and 2 print `io=…, bw=…, iops=…, runt=…` with units that are powers of 1024 (`KB/s`); fio 3 prints
//! `IOPS=…, BW=… (…)(…/…)` and means 1024 by `KiB` and 1000 by `kB`.

use std::collections::BTreeMap;

use crate::job::{DIRECTIONS, Direction, Job, Latency};
use crate::quantity::{self, Quantity};

/// All jobs, and the lines that cannot be read, with the reason.
#[must_use]
pub fn jobs(text: &str) -> (Vec<Job>, Vec<(usize, String)>) {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Err(reason) = reader.line(index + 1, line) {
            reader.refuse(index + 1, reason);
        }
    }
    reader.end_job();
    (reader.jobs, reader.refused)
}

#[derive(Default)]
struct Reader {
    jobs: Vec<Job>,
    refused: Vec<(usize, String)>,
    job: Option<Job>,
    /// Index into [`DIRECTIONS`].
    direction: usize,
    /// Microseconds of the unit of the percentiles that follow; `None` where they are of no use.
    percentiles: Option<f64>,
    version: Option<String>,
    interrupted: Option<String>,
    /// What was asked for, by job.
    options: BTreeMap<String, BTreeMap<String, String>>,
    /// The line on which the run says its version.
    run: usize,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if let Some(signal) = crate::said::signal(line) {
            self.interrupted = Some(signal);
        } else if let Some(version) = version(line) {
            self.end_job();
            (self.version, self.interrupted, self.run) = (Some(version), None, number);
        } else if let Some((name, asked)) = line.split_once(": (g=") {
            self.options.insert(name.into(), options(asked));
        } else if let Some((name, rest)) = line.split_once(": (groupid=") {
            self.end_job();
            self.job = Some(self.begin(number, name, rest)?);
        } else if line.starts_with("Run status") || line.starts_with("Disk stats") {
            self.end_job();
        } else if self.job.is_none() {
            self.disk(line);
        } else {
            self.of_job(line)?;
        }
        Ok(())
    }

    fn begin(&self, line: usize, name: &str, rest: &str) -> Result<Job, String> {
        let error = quantity::after(rest, "err=").and_then(|error| error.trim_end_matches(':').parse().ok());
        Ok(Job {
            line,
            name: name.into(),
            run: self.run,
            group: rest.split([',', ')']).next().and_then(|group| group.trim().parse().ok()),
            error: error.ok_or_else(|| format!("expected 'err=' and a number after '{name}: (groupid='"))?,
            version: self.version.clone(),
            options: self.asked(name, rest),
            interrupted: self.interrupted.clone(),
            ..Job::default()
        })
    }

    fn asked(&self, name: &str, rest: &str) -> BTreeMap<String, String> {
        let mut asked = self.options.get(name).cloned().unwrap_or_default();
        asked.extend(quantity::after(rest, "jobs=").map(|jobs| ("numjobs".into(), jobs.into())));
        asked
    }

    /// A line of the job that is being read.
    fn of_job(&mut self, line: &str) -> Result<(), String> {
        let (head, rest) = line.split_once(':').unwrap_or((line, ""));
        let head = head.trim();
        if line.starts_with('|') {
            return self.percentile_line(line);
        }
        self.percentiles = None;
        if let Some(direction) = DIRECTIONS.iter().position(|name| *name == head) {
            let read = direction_line(rest)?;
            self.direction = direction;
            self.set(|job| &mut job.directions[direction], read.is_used().then_some(read));
        } else if head.starts_with("clat percentiles") {
            self.percentiles = Some(microseconds(head)?);
        } else if head == "cpu" {
            let share =
                |key| quantity::after(rest, key).and_then(|text| text.strip_suffix('%')?.parse().ok());
            self.set(|job| &mut job.cpu_user, share("usr="));
            self.set(|job| &mut job.cpu_system, share("sys="));
        } else if rest.contains("avg=") {
            self.summary(head, rest)?;
        }
        Ok(())
    }

    /// `clat (usec)`, `bw (  KiB/s)`: minimum, maximum and mean.
    fn summary(&mut self, head: &str, rest: &str) -> Result<(), String> {
        let value = |key: &str| {
            let found = quantity::after(rest, key).and_then(Quantity::plain);
            found.ok_or_else(|| format!("expected a number after '{key}', found '{}'", rest.trim()))
        };
        let latency = || Ok::<_, String>((value("max=")?, value("avg=")?, microseconds(head)?));
        let latency = || latency().map(|(max, mean, unit)| Latency::new(max * unit, mean * unit));
        match head.split([' ', '(']).next() {
            Some("slat") => self.set_direction(|direction| &mut direction.submission, latency()?),
            Some("clat") => self.set_direction(|direction| &mut direction.completion, latency()?),
            Some("lat") => self.set_direction(|direction| &mut direction.total, latency()?),
            Some("bw") => {
                let kib = Quantity::new(value("avg=")?, inside(head)).kib(false);
                self.set_direction(|direction| &mut direction.bandwidth_mean_kib_s, kib);
            }
            _ => {}
        }
        Ok(())
    }

    /// `| 99.00th=[ 1592], 99.50th=[ 2024],`
    fn percentile_line(&mut self, line: &str) -> Result<(), String> {
        let Some(unit) = self.percentiles else { return Ok(()) };
        for part in line.split(']') {
            let Some((percent, value)) = part.trim_matches(['|', ',', ' ']).split_once("th=[") else {
                continue;
            };
            let pair = percent.trim().parse().ok().zip(Quantity::plain(value.trim()));
            let (percent, value): (f64, f64) =
                pair.ok_or_else(|| format!("expected a percentile such as '99.00th=[ 12]', found '{part}'"))?;
            if let Some(direction) = self.current() {
                direction.percentiles.push((percent, value * unit));
            }
        }
        Ok(())
    }

    fn current(&mut self) -> Option<&mut Direction> {
        self.job.as_mut().and_then(|job| job.directions[self.direction].as_mut())
    }

    fn set<T>(&mut self, place: impl FnOnce(&mut Job) -> &mut T, value: T) {
        if let Some(job) = &mut self.job {
            *place(job) = value;
        }
    }

    fn set_direction<T>(&mut self, place: impl FnOnce(&mut Direction) -> &mut T, value: T) {
        if let Some(direction) = self.current() {
            *place(direction) = value;
        }
    }

    /// `xvda1: ios=5272/5248, …, util=97.54%`, below the jobs of a run: told of the job only where it was alone.
    fn disk(&mut self, line: &str) {
        let busy = quantity::after(line, "util=").and_then(|text| text.strip_suffix('%')?.parse().ok());
        let mut jobs = self.jobs.iter_mut().filter(|job| job.run == self.run);
        if let (Some(busy), Some(job), None) = (busy, jobs.next(), jobs.next()) {
            job.disk_busy = Some(job.disk_busy.map_or(busy, |other: f64| other.max(busy)));
        }
    }

    fn end_job(&mut self) {
        self.jobs.extend(self.job.take());
        (self.direction, self.percentiles) = (0, None);
    }

    /// A job with a line that does not read is no result.
    fn refuse(&mut self, line: usize, reason: String) {
        self.job = None;
        self.refused.push((line, reason));
    }
}

/// `fio-3.33`, `fio 1.59`, alone on a line.
fn version(line: &str) -> Option<String> {
    let version = line.strip_prefix("fio-").or_else(|| line.strip_prefix("fio "))?;
    (version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' ')).then(|| version.to_string())
}

/// `0): rw=read, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) …, ioengine=psync, iodepth=1`
fn options(asked: &str) -> BTreeMap<String, String> {
    let word =
        |key: &'static str| Some((key.to_string(), quantity::after(asked, &format!("{key}="))?.into()));
    let mut options: BTreeMap<String, String> =
        ["rw", "ioengine", "iodepth"].into_iter().filter_map(word).collect();
    let ranges = asked.split_once("bs=").and_then(|(_, rest)| rest.split(", ioengine").next());
    let mut sizes: Vec<&str> = ranges
        .into_iter()
        .flat_map(|ranges| ranges.split(|c: char| !c.is_ascii_alphanumeric() && c != '.'))
        .collect();
    sizes.retain(|size| size.starts_with(|c: char| c.is_ascii_digit()));
    sizes.dedup();
    match (sizes.as_slice(), ranges) {
        ([size], _) => options.insert("bs".into(), quantity::size_words(size)),
        (_, Some(ranges)) => options.insert("bs".into(), ranges.into()),
        (_, None) => None,
    };
    options
}

/// What follows `read :`.
fn direction_line(rest: &str) -> Result<Direction, String> {
    let wrong = || format!("expected 'bw=' or 'BW=' with a rate and a run time, found '{}'", rest.trim());
    let quantity = |key: &str| quantity::after(rest, key).and_then(Quantity::read);
    let iops = || quantity::after(rest, "iops=").or_else(|| quantity::after(rest, "IOPS="));
    let (io, rate, runtime, decimal) = match quantity("BW=") {
        Some(rate) => {
            let (io, runtime) = rest
                .rsplit('(')
                .next()
                .and_then(|last| last.split(')').next()?.split_once('/'))
                .ok_or_else(wrong)?;
            (Quantity::read(io), rate, Quantity::read(runtime), true)
        }
        None => (quantity("io="), quantity("bw=").ok_or_else(wrong)?, quantity("runt="), false),
    };
    Ok(Direction {
        io_kib: Some(io.and_then(|io| io.kib(decimal)).ok_or_else(wrong)?),
        bandwidth_kib_s: Some(rate.kib(decimal).ok_or_else(wrong)?),
        runtime_ms: Some(runtime.and_then(|time| time.milliseconds()).ok_or_else(wrong)?),
        iops: iops().map(|text| Quantity::plain(text).ok_or_else(wrong)).transpose()?,
        ..Direction::default()
    })
}

/// What stands in the parentheses of `clat (usec)`.
fn inside(head: &str) -> &str {
    head.split_once('(').map_or("", |(_, rest)| rest.trim_matches([')', ' ']))
}

/// Of the unit in parentheses.
fn microseconds(head: &str) -> Result<f64, String> {
    match inside(head) {
        "nsec" => Ok(1e-3),
        "usec" => Ok(1.0),
        "msec" => Ok(1e3),
        "sec" => Ok(1e6),
        other => Err(format!("expected nsec, usec, msec or sec in '{head}', found '{other}'")),
    }
}
