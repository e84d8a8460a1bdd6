//! What machines tell of themselves while they are measured: sources are started, listened to, ended, and read.
//!
//! Owns the sources' processes. It must never let one cost a cell more than what it would have told: whatever goes wrong
//! here is a warning.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crossvisor_loader::Plugin;
use crossvisor_model::host::driver;
use crossvisor_model::{CellId, Name, Place, Recording, Telemetry, Use, Window};
use crossvisor_plugin::{Call, RecordInput, Source, SourcesInput, SourcesOutput, stamps};
use crossvisor_target::machine::OUTPUT_LIMIT;
use crossvisor_target::{Cancel, Process, TargetError};
use serde::de::DeserializeOwned;

use crate::context::{Run, find, offer};
use crate::steps::{Steps, first_request, in_seconds};

/// Between readings.
const INTERVAL_S: f64 = 1.0;
/// A source may take so long until it prints its first line, and until it has ended; in seconds.
const START_S: f64 = 30.0;
const END_S: f64 = 10.0;
/// Between looks at what sources have printed: seldom, because the host that is measured may be this machine.
const LISTEN: Duration = Duration::from_millis(250);
/// Between looks whether the work is over.
const TICK: Duration = Duration::from_millis(25);

/// What is asked, and where.
pub struct Asked<'a> {
    pub run: &'a Run<'a>,
    pub steps: &'a Steps<'a>,
    /// The host and the guests, each with the path of its probe.
    pub places: Vec<(Place, PathBuf)>,
}

/// A source that runs or has run.
struct Running<'a> {
    place: Place,
    using: (&'a Plugin, &'a Use),
    source: Name,
    process: Box<dyn Process>,
    started: Instant,
    /// What it has printed, once it has ended.
    text: String,
}

/// What all sources printed while some work was done.
pub struct Told<'a> {
    sources: Vec<Running<'a>>,
    warnings: Vec<String>,
}

impl<'a> Asked<'a> {
    /// Does `work` while all sources run.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> (T, Told<'a>) {
        let (mut sources, mut warnings) = self.start();
        let over = Cancel::default();
        thread::scope(|scope| {
            let listener = scope.spawn(|| {
                warnings.extend(listen(&mut sources, &over));
                Told { sources, warnings }
            });
            let done = work();
            over.raise();
            let told = listener.join();
            (
                done,
                told.unwrap_or_else(|_| Told {
                    sources: Vec::new(),
                    warnings: vec!["a thread panicked".into()],
                }),
            )
        })
    }

    /// Starts all sources at all places at once.
    fn start(&self) -> (Vec<Running<'a>>, Vec<String>) {
        let started: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                self.places.iter().map(|place| scope.spawn(move || self.start_at(place))).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let (mut sources, mut warnings) = (Vec::new(), Vec::new());
        for one in started.into_iter().flatten().flatten() {
            match one {
                Ok(source) => sources.push(source),
                Err(warning) => warnings.push(warning),
            }
        }
        (sources, warnings)
    }

    fn start_at(&self, (place, probe): &(Place, PathBuf)) -> Vec<Result<Running<'a>, String>> {
        let run = self.run;
        let driver = driver(&self.steps.host.address.uri);
        let mut started = Vec::new();
        for name in run.plan.telemetry.keys() {
            let Ok(using) = find(&run.plan.telemetry, run.plugins, name) else { continue };
            let fits = |drivers: &[String]| drivers.is_empty() || drivers.iter().any(|known| known == driver);
            if !offer(using).is_some_and(|offer| fits(&offer.drivers)) {
                continue;
            }
            let failed = |reason: String| format!("telemetry {name} on the {place} told nothing: {reason}");
            let input = SourcesInput {
                place: *place,
                driver: driver.to_string(),
                probe: probe.clone(),
                interval_s: INTERVAL_S,
            };
            match ask::<SourcesOutput>(using, Call::Sources(input)) {
                Ok(output) => {
                    let start = |source| self.start_one(*place, using, source);
                    started.extend(output.sources.into_iter().map(|source| start(source).map_err(failed)));
                }
                Err(reason) => started.push(Err(failed(reason))),
            }
        }
        started
    }

    fn start_one(
        &self,
        place: Place,
        using: (&'a Plugin, &'a Use),
        source: Source,
    ) -> Result<Running<'a>, String> {
        let deadline = in_seconds(START_S);
        let start = || -> Result<_, TargetError> {
            let mut process = self.steps.machine(place)?.start(&source.argv, deadline)?;
            let line = process.line(deadline, self.steps.cancel)?;
            let arrived = Instant::now();
            let Some(at_s) = stamps::time_s(&line) else {
                return Err(TargetError::EndedEarly { what: process.name().into(), tail: line });
            };
            let started = arrived.checked_sub(Duration::from_secs_f64(at_s)).unwrap_or(arrived);
            process.printed().stdout.splice(..0, format!("{line}\n").into_bytes());
            Ok((process, started))
        };
        let (process, started) = start().map_err(|e| e.to_string())?;
        Ok(Running { place, using, source: source.name, process, started, text: String::new() })
    }
}

/// Takes what the sources print until `over` is raised, then ends them and takes the rest. What went wrong is returned.
fn listen(sources: &mut Vec<Running<'_>>, over: &Cancel) -> Vec<String> {
    let mut next = Instant::now();
    while !over.is_raised() {
        thread::sleep(TICK);
        if Instant::now() >= next {
            // One that has ended says so when it is ended.
            sources.iter_mut().for_each(|source| drop(source.process.pump(Duration::ZERO)));
            sources.retain_mut(|source| source.process.printed().stdout.len() < OUTPUT_LIMIT);
            next = Instant::now() + LISTEN;
        }
    }
    sources.iter_mut().for_each(|source| drop(source.process.close_stdin()));
    let mut warnings = Vec::new();
    for source in sources {
        match source.process.wait(in_seconds(END_S), &Cancel::default()) {
            Ok(ended) => source.text = String::from_utf8_lossy(&ended.stdout).into_owned(),
            Err(error) => {
                let printed = std::mem::take(source.process.printed());
                source.text = String::from_utf8_lossy(&printed.stdout).into_owned();
                warnings.push(format!("telemetry {} on the {}: {error}", source.using.1.offer, source.place));
            }
        }
    }
    warnings
}

impl Told<'_> {
    /// Reads what the sources printed and keeps it; `measured` are the windows that a summary is of. Returns what a
    /// person should know.
    pub fn keep(
        self,
        run: &Run<'_>,
        (cell, replicate): (&CellId, u32),
        domains: &BTreeMap<Name, u32>,
        measured: &[Window],
    ) -> Vec<String> {
        let mut warnings = self.warnings;
        for Running { place, using, source, started, text, .. } in self.sources {
            let input =
                RecordInput { source: source.clone(), place, text: text.clone(), domains: domains.clone() };
            let failed = |reason: String| format!("telemetry {} on the {place}: {reason}", using.1.offer);
            match ask::<Recording>(using, Call::Record(input)) {
                Ok(recording) => {
                    warnings.extend(recording.warnings.iter().map(|warning| failed(warning.clone())));
                    let telemetry = Telemetry {
                        cell: cell.clone(),
                        replicate,
                        place,
                        offer: using.1.offer.clone(),
                        source,
                        start_s: run.log.at(started),
                        recording,
                    };
                    let summary = telemetry.summary(measured);
                    let kept = run.log.directory().telemetry(&text, &telemetry, &summary);
                    warnings.extend(kept.err().map(|error| failed(error.to_string())));
                }
                Err(reason) => warnings.push(failed(reason)),
            }
        }
        warnings
    }
}

/// Asks a plugin what needs no steps.
fn ask<T: DeserializeOwned>((plugin, using): (&Plugin, &Use), call: Call) -> Result<T, String> {
    let turn = plugin.call(&first_request(using, call)).map_err(|e| e.to_string())?;
    serde_json::from_value(turn.output).map_err(|e| format!("its output is not understood: {e}"))
}
