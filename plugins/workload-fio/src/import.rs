//! Results that people kept, as results that compare.
//!
//! Owns which settings make them comparable. It must never compare a part of a run with a whole one.

use std::collections::BTreeMap;

use crossvisor_plugin::{Failure, ImportInput, ImportOutput, Imported, Refused};

use crate::job::Job;
use crate::json::major;
use crate::quantity::size_words;
use crate::reading::{Reading, read};
use crate::{metrics, said};

/// fio's options that make results comparable, and what they are called here.
const SETTINGS: [(&[&str], &str); 11] = [
    (&["rw", "readwrite"], "rw"),
    (&["bs", "blocksize"], "block"),
    (&["iodepth"], "depth"),
    (&["ioengine"], "engine"),
    (&["numjobs"], "jobs"),
    (&["size", "filesize"], "size"),
    (&["direct"], "direct"),
    (&["rwmixread"], "read share"),
    (&["percentage_random"], "random share"),
    (&["runtime"], "time"),
    (&["fsync"], "fsync"),
];

/// Reads a whole file: a document may begin anywhere in it and end at its end.
pub fn import(input: &ImportInput) -> Result<ImportOutput, Failure> {
    if !input.last {
        return Ok(ImportOutput::default());
    }
    let Reading { jobs, refused, superseded } = read(&input.text);
    let mut refused: Vec<Refused> =
        refused.into_iter().map(|(line, reason)| Refused { line, reason }).collect();
    if jobs.is_empty() && refused.is_empty() {
        let line = input.text.lines().position(|line| line.trim().starts_with("fio: "));
        let reason = said::complaint(&input.text).ok_or_else(|| nothing(&input.file))?;
        refused.push(Refused { line: line.unwrap_or_default() + 1, reason: format!("fio failed: {reason}") });
    }
    let mut groups: BTreeMap<Place<'_>, Vec<&Job>> = BTreeMap::new();
    jobs.iter().for_each(|job| groups.entry(place(job)).or_default().push(job));
    let mut results: Vec<Imported> = jobs.iter().map(|job| imported(job, &groups[&place(job)])).collect();
    if let (Some(last), 1..) = (results.last_mut(), superseded) {
        let warning = format!("{superseded} earlier states of the same run in this file were passed over");
        last.warnings.push(warning);
    }
    Ok(ImportOutput { used: input.text.len(), results, refused })
}

fn nothing(file: &str) -> Failure {
    Failure::new(format!(
        "'{file}' holds no output of fio: expected a JSON document with 'fio version', a terse line of version 2 to 5, \
         or a report with '(groupid='"
    ))
}

/// `group` are the jobs that ran at once, this one among them.
fn imported(job: &Job, group: &[&Job]) -> Imported {
    let mut warnings = Vec::new();
    let mut flags = Vec::new();
    if group.len() > 1 {
        let (name, count) = (&job.name, group.len());
        warnings.push(format!("'{name}' is one of {count} jobs that ran at once and are not summed up here"));
    }
    if let Some(signal) = &job.interrupted {
        flags.push(format!("fio was ended early by signal {signal}"));
    }
    flags.extend(short(job));
    warnings.extend(flags.iter().cloned());
    let versions = job.version.iter().map(|version| ("fio".to_string(), version.clone())).collect();
    let values = metrics::values(job, &flags);
    Imported {
        line: job.line,
        machine: job.machine.clone(),
        settings: settings(job, group),
        values,
        warnings,
        versions,
    }
}

/// Run, group and machine: jobs that agree in them ran at once.
type Place<'a> = (usize, Option<u64>, Option<&'a str>);

fn place(job: &Job) -> Place<'_> {
    (job.run, job.group, job.machine.as_deref())
}

/// A job that was to run for a time and did not.
fn short(job: &Job) -> Option<String> {
    let asked: f64 =
        job.options.get("time_based").and(job.options.get("runtime"))?.trim_end_matches('s').parse().ok()?;
    let ran_ms = job.directions.iter().flatten().filter_map(|d| d.runtime_ms).reduce(f64::max)?;
    (ran_ms < asked * 900.0).then(|| format!("it ran for {} s instead of {asked} s", ran_ms / 1e3))
}

fn settings(job: &Job, group: &[&Job]) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([("job".to_string(), job.name.clone())]);
    for (names, setting) in SETTINGS {
        if let Some(value) = names.iter().find_map(|name| job.options.get(*name)) {
            settings.insert(setting.into(), words(setting, value));
        }
    }
    if let Some(major) = job.version.as_deref().and_then(major) {
        settings.insert("fio".into(), major.to_string());
    }
    if job.interrupted.is_some() {
        settings.insert("ended".into(), "early".into());
    }
    let namesakes = || group.iter().filter(|other| other.name == job.name);
    if let (count @ 2.., Some(at)) =
        (namesakes().count(), namesakes().position(|other| std::ptr::eq(*other, job)))
    {
        settings.insert("process".into(), format!("{} of {count}", at + 1));
    }
    settings
}

/// A value for people.
fn words(setting: &str, value: &str) -> String {
    match setting {
        // To fio's options `KiB` is 1000 unless told otherwise.
        "block" | "size" if !value.contains('i') => size_words(value),
        "read share" | "random share" => format!("{value} %"),
        "time" if value.ends_with(|c: char| c.is_ascii_digit()) => format!("{value} s"),
        "direct" => if matches!(value, "0" | "false") { "no" } else { "yes" }.into(),
        _ => value.into(),
    }
}
