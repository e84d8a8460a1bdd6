//! Workload `pi`: decimals of pi on every instance at once, a load for the processor alone.
//!
//! Owns the command line of the probe's PI job and the meaning of what it prints. It must never run it.

mod printed;

use crossvisor_plugin::model::{
    Action, Better, Exec, Kind, Manifest, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec, Step,
    Value,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, Instance, ParseInput, ParseOutput, ParsedSample, Resume, Turn, WorkInput, Workload, finish,
};
use serde_json::json;

pub use printed::{Printed, PrintedError};

/// The plugin.
pub struct Hep;

crossvisor_plugin::plugin!(workload_hep, workload, Hep);

/// The deadline of the run phase is the one people set; this one only keeps a lost program from staying for ever.
const TIMEOUT_S: f64 = 24.0 * 3600.0;
/// A third of a second on a processor of 2020, and some seconds under emulation.
const DIGITS: u64 = 10_000;
const REPEAT: u64 = 5;

impl Workload for Hep {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn prepare(&self, _: &Chosen, _: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        finish(Vec::new(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let run = |instance: &Instance| Exec::new(instance.place, argv(chosen, instance), TIMEOUT_S);
        let together = Action::Together {
            round: "pi".into(),
            servers: Vec::new(),
            runs: input.instances.iter().map(run).collect(),
        };
        finish(vec![Step::new("compute pi", together)], ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let (digits, repeat) = asked(chosen);
        let printed = Printed::read(&input.stdout, digits, repeat).map_err(|e| failure(input, &e))?;
        let sample = |metric: &str, value| ParsedSample {
            metric: metric.into(),
            value: Value::Measured(value),
            flags: Vec::new(),
        };
        let samples = vec![sample("wall", printed.wall_s), sample("cycles", printed.cycles as f64)];
        Ok(ParseOutput { samples, ..ParseOutput::default() })
    }
}

fn asked(chosen: &Chosen) -> (u64, u64) {
    (chosen.whole("digits").unwrap_or(DIGITS), chosen.whole("repeat").unwrap_or(REPEAT))
}

fn argv(chosen: &Chosen, instance: &Instance) -> Vec<String> {
    let (digits, repeat) = asked(chosen);
    let probe = instance.probe.to_string_lossy();
    [&*probe, "pi", "--digits", &digits.to_string(), "--repeat", &repeat.to_string()].map(String::from).into()
}

fn failure(input: &ParseInput, error: &PrintedError) -> Failure {
    let said = input.stderr.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("nothing");
    Failure::new(format!(
        "the PI job on instance {} {} and is no result: {error}; it said: {said}; \
         the whole output is in the run directory",
        input.instance.index,
        input.ending()
    ))
}

fn manifest() -> Result<Manifest, NameError> {
    let whole = |max| OptionKind::Integer { min: 1, max };
    let pi = Offer {
        options: vec![
            OptionSpec::new(
                "digits",
                OptionKind::Integer { min: 50, max: 1_000_000 },
                json!(DIGITS),
                "decimals of pi; twice as many take four times as long",
            ),
            OptionSpec::new(
                "repeat",
                whole(10_000),
                json!(REPEAT),
                "how often they are computed, one after another",
            ),
        ],
        metrics: vec![
            MetricSpec::new("wall", "time for all computations", "s", Better::Lower).headline(),
            MetricSpec::new("cycles", "time-stamp counter, all computations", "cycles", Better::Lower)
                .headline(),
        ],
        ..Offer::new(
            Name::new("pi")?,
            "decimals of pi by whole-number arithmetic, in time and processor cycles",
        )
    };
    Ok(Manifest {
        name: Name::new("workload-hep")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "jobs of high-energy physics: processor load".into(),
        offers: vec![pi],
    })
}
