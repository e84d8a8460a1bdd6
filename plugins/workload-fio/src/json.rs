//! Jobs out of a JSON document, of fio 2 and of fio 3.
//!
//! Owns its units: fio 2 counts microseconds and KiB under names that fio 3 has given to nanoseconds (`…_ns`) and bytes.
//! It must never take a number whose unit is not known.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::document::Document;
use crate::job::{DIRECTIONS, Direction, Job, Latency};

/// All jobs of a document.
#[must_use]
pub fn jobs(document: &Document) -> Vec<Job> {
    let root = &document.value;
    let version = root["fio version"].as_str().map(|text| text.trim_start_matches("fio-").to_string());
    let entries = ["jobs", "client_stats"].map(|key| root[key].as_array());
    let entries: Vec<&Value> = entries.into_iter().flatten().flatten().collect();
    let disk_busy = if entries.len() == 1 { disk_busy(root) } else { None };
    let job = |entry: &&Value| {
        let number = |key: &str| entry[key].as_f64();
        let directions =
            DIRECTIONS.map(|name| entry.get(name).and_then(|section| direction(section, version.as_deref())));
        Job {
            line: document.line,
            name: entry["jobname"].as_str().unwrap_or_default().into(),
            machine: entry["hostname"].as_str().filter(|name| !name.is_empty()).map(String::from),
            group: entry["groupid"].as_u64(),
            run: document.line,
            error: entry["error"].as_i64().unwrap_or_default(),
            version: version.clone(),
            options: options(root, entry),
            directions,
            cpu_user: number("usr_cpu"),
            cpu_system: number("sys_cpu"),
            disk_busy,
            interrupted: None,
        }
    };
    entries.iter().map(job).collect()
}

/// When the document was printed and when its run began, by the clock of its machine in milliseconds.
#[must_use]
pub fn span_ms(document: &Document) -> Option<(f64, f64)> {
    let root = &document.value;
    let longest =
        |key: &str| root["jobs"].as_array()?.iter().filter_map(|job| job[key].as_f64()).reduce(f64::max);
    let exact = || Some((root["timestamp_ms"].as_f64()?, longest("job_runtime")?));
    // fio 2 has whole seconds only.
    let coarse = || Some((root["timestamp"].as_f64()? * 1e3, longest("elapsed")? * 1e3));
    let (printed, ran) = exact().or_else(coarse)?;
    Some((printed, printed - ran))
}

/// The job's own options before those of all jobs.
fn options(root: &Value, entry: &Value) -> BTreeMap<String, String> {
    let sections = [&root["global options"], &entry["job options"]];
    let pairs = sections.into_iter().filter_map(Value::as_object).flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    pairs.map(|(key, value)| (key.clone(), text(value))).collect()
}

fn disk_busy(root: &Value) -> Option<f64> {
    let disks = root["disk_util"].as_array()?;
    disks.iter().filter_map(|disk| disk["util"].as_f64()).reduce(f64::max)
}

fn direction(section: &Value, version: Option<&str>) -> Option<Direction> {
    let number = |key: &str| section[key].as_f64();
    let (completion, percentiles) = match &section["clat_ns"] {
        Value::Null => (latency(section, "clat"), percentiles(&section["clat"], 1.0)),
        nanoseconds => (latency(section, "clat"), percentiles(nanoseconds, 1e-3)),
    };
    let direction = Direction {
        io_kib: io_kib(section, version),
        runtime_ms: number("runtime"),
        iops: number("iops"),
        bandwidth_kib_s: number("bw_bytes").map(|bytes| bytes / 1024.0).or_else(|| number("bw")),
        bandwidth_mean_kib_s: number("bw_mean").filter(|mean| *mean > 0.0),
        requests: number("total_ios"),
        submission: latency(section, "slat"),
        completion,
        total: latency(section, "lat"),
        percentiles,
    };
    direction.is_used().then_some(direction)
}

/// fio 3 says KiB in a field of its own; `io_bytes` is bytes since then and was KiB before.
fn io_kib(section: &Value, version: Option<&str>) -> Option<f64> {
    let io = section["io_bytes"].as_f64();
    match (section["io_kbytes"].as_f64(), version.and_then(major)) {
        (Some(_), _) => io.map(|bytes| bytes / 1024.0).or(section["io_kbytes"].as_f64()),
        (None, Some(0..=2)) => io,
        (None, Some(_)) => io.map(|bytes| bytes / 1024.0),
        (None, None) => None,
    }
}

/// The first number of a version.
#[must_use]
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

fn latency(section: &Value, name: &str) -> Option<Latency> {
    let read = |values: &Value, scale: f64| {
        Latency::new(values["max"].as_f64()? * scale, values["mean"].as_f64()? * scale)
    };
    match section.get(format!("{name}_ns")) {
        Some(values) => read(values, 1e-3),
        None => read(section.get(name)?, 1.0),
    }
}

fn percentiles(values: &Value, scale: f64) -> Vec<(f64, f64)> {
    let pairs = values["percentile"].as_object().into_iter().flatten();
    let read = |(percent, value): (&String, &Value)| Some((percent.parse().ok()?, value.as_f64()? * scale));
    // fio 2 fills its table up with zeros.
    pairs.filter_map(read).filter(|&(percent, _): &(f64, f64)| percent > 0.0).collect()
}
