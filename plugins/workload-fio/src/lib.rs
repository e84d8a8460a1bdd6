//! Workload `fio`: one pattern of disk requests on every instance at once.
//!
//! Owns the command line of fio and the meaning of what it prints. It must never run it.

mod asked;
mod document;
mod import;
mod job;
mod json;
mod manifest;
mod metrics;
mod quantity;
mod reading;
mod report;
mod said;
mod terse;

use crossvisor_plugin::model::{Action, Exec, Manifest, Step, Value};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, ParseInput, ParseOutput, ParsedSample, Resume, Turn, WorkInput,
    Workload, finish,
};

use asked::Asked;
pub use job::{DIRECTIONS, Direction, Job, Latency};
pub use metrics::values;
pub use reading::{Reading, read};

/// The plugin.
pub struct Fio;

crossvisor_plugin::plugin!(workload_fio, workload, Fio);

/// The deadline of the phase is the one people set; this one only keeps a lost program from staying for ever.
const TIMEOUT_S: f64 = 48.0 * 3600.0;
const CACHED: &str = "the data set is smaller than twice the memory: the page cache may have answered";

impl Workload for Fio {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    /// Lays out the files: they are there before the first instance is let go.
    fn prepare(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let asked = Asked::of(chosen)?;
        let lay_out = |instance| {
            let mut argv = asked.argv(instance);
            argv.push("--create_only=1".into());
            Step::new("lay out the files of fio", Action::Exec(Exec::new(instance.place, argv, TIMEOUT_S)))
        };
        finish(input.instances.iter().map(lay_out).collect(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let asked = Asked::of(chosen)?;
        let runs = input.instances.iter();
        let together = Action::Together {
            round: "fio".into(),
            servers: Vec::new(),
            runs: runs.map(|instance| Exec::new(instance.place, asked.argv(instance), TIMEOUT_S)).collect(),
        };
        finish(vec![Step::new("run fio", together)], ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let asked = Asked::of(chosen)?;
        let job = the_job(input)?;
        let ran_s = job.directions.iter().flatten().filter_map(|d| d.runtime_ms).fold(0.0, f64::max) / 1e3;
        if ran_s < asked.shortest_s() {
            let reason = format!("it ran for {ran_s} s instead of {} s", asked.seconds);
            return Err(failure(input, &reason));
        }
        let mut flags = Vec::new();
        if !asked.direct && asked.data_bytes() < 2 * u128::from(input.instance.memory_bytes) {
            flags.push(CACHED.to_string());
        }
        let samples = samples(&job, &flags, &asked);
        let versions = job.version.into_iter().map(|version| ("fio".into(), version)).collect();
        Ok(ParseOutput { samples, warnings: Vec::new(), versions })
    }

    fn import(&self, _: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        import::import(input)
    }
}

/// The one job of a run that went well.
fn the_job(input: &ParseInput) -> Result<Job, Failure> {
    let Reading { mut jobs, refused, .. } = read(&input.stdout);
    let said = || {
        let words = said::complaint(&input.stderr).or_else(|| said::complaint(&input.stdout));
        let last = || said::last_line(&input.stderr).or(said::last_line(&input.stdout)).map(String::from);
        words.or_else(last).unwrap_or_else(|| "nothing".into())
    };
    if let Some((_, reason)) = refused.into_iter().next() {
        let said = said::complaint(&input.stderr).map(|said| format!("; it said: {said}"));
        return Err(failure(input, &format!("{reason}{}", said.unwrap_or_default())));
    }
    if input.exit != Some(0) {
        return Err(failure(input, &format!("it {}; it said: {}", input.ending(), said())));
    }
    match (jobs.pop(), jobs.len()) {
        (Some(job), 0) => Ok(job),
        (None, _) => {
            Err(failure(input, &format!("expected one JSON document, found none; it said: {}", said())))
        }
        (Some(_), others) => Err(failure(input, &format!("expected one job, found {}", others + 1))),
    }
}

fn samples(job: &Job, flags: &[String], asked: &Asked) -> Vec<ParsedSample> {
    let mut values = metrics::values(job, flags);
    for (name, direction) in DIRECTIONS.iter().zip(&job.directions) {
        if direction.is_none() && asked.does(name) {
            values.missing.insert(format!("{name}_iops"), format!("fio did no {name} in this time"));
        }
    }
    let sample = |metric: String| {
        let value = match (values.measured.get(&metric), values.missing.get(&metric)) {
            (Some(value), _) => Value::Measured(*value),
            (None, Some(reason)) => Value::Missing(reason.clone()),
            (None, None) if values.too_fast.contains(&metric) => Value::TooFast,
            (None, None) => return None,
        };
        let flags = values.flags.get(&metric).cloned().unwrap_or_default();
        Some(ParsedSample { metric, value, flags })
    };
    metrics::specs().into_iter().filter_map(|spec| sample(spec.name)).collect()
}

fn failure(input: &ParseInput, reason: &str) -> Failure {
    Failure::new(format!(
        "fio on instance {} is no result: {reason}; the whole output is in the run directory",
        input.instance.index
    ))
}
