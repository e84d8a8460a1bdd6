//! The jobs in Python, with a process on every processor of an instance: DB12 and PYTHIA.
//!
//! Owns their command lines, options and metrics and the meaning of what the program `hep.py` prints. It must never
//! run it.

use std::collections::BTreeMap;

use crossvisor_plugin::model::{Action, Exec, NameError, Offer, Step, StepResult};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, Instance, ParseOutput, Resume, Turn, WorkInput, finish};
use serde::Deserialize;

use crate::line::{self, Asked, LineError};
use crate::{db12, pythia};

/// Data of this plugin: it is put into each instance's folder.
const PROGRAM: &str = include_str!("hep.py");
const PREPARE_TIMEOUT_S: f64 = 600.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    Db12,
    Pythia,
}

/// What the program printed.
#[derive(Debug, Deserialize)]
pub struct Line {
    pub python: String,
    /// Of the module that does the work.
    pub version: Option<String>,
    /// The first word of the processor's model name.
    pub brand: Option<String>,
    /// The slowest copy's time until it could be released.
    pub ready_s: f64,
    /// From the release of all copies to the last one's result.
    pub wall_s: f64,
    pub each: Vec<One>,
}

/// What one copy did.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct One {
    pub wall_s: f64,
    pub cpu_s: f64,
    /// The same for all copies that did the same work.
    pub check: f64,
}

impl Job {
    pub const ALL: [Self; 2] = [Self::Db12, Self::Pythia];

    pub fn name(self) -> &'static str {
        match self {
            Self::Db12 => "db12",
            Self::Pythia => "pythia",
        }
    }

    pub fn say(self) -> &'static str {
        match self {
            Self::Db12 => "draw random numbers",
            Self::Pythia => "collide protons",
        }
    }

    /// # Errors
    /// [`NameError`] when a name of the plugin's own is not valid.
    pub fn offer(self) -> Result<Offer, NameError> {
        match self {
            Self::Db12 => db12::offer(),
            Self::Pythia => pythia::offer(),
        }
    }

    fn asked(self, chosen: &Chosen, instance: &Instance) -> Vec<Asked> {
        let copies = chosen.whole("copies").unwrap_or(instance.cpus.into());
        let mut asked = vec![("copies", copies)];
        asked.extend(match self {
            Self::Db12 => db12::asked(chosen),
            Self::Pythia => pythia::asked(chosen),
        });
        asked
    }

    pub fn argv(self, chosen: &Chosen, instance: &Instance) -> Vec<String> {
        self.command(instance, &self.asked(chosen, instance))
    }

    fn command(self, instance: &Instance, asked: &[Asked]) -> Vec<String> {
        let mut argv = vec!["python3".to_string(), program(instance), self.name().into()];
        argv.extend(line::words(asked));
        argv
    }

    /// Puts the program into each instance's folder; for PYTHIA one event is tried, which needs its module.
    ///
    /// # Errors
    /// [`Failure`] when the event cannot be made.
    pub fn prepare(self, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure> {
        if !resume.results.is_empty() {
            tried(input, resume)?;
            return finish(Vec::new(), ());
        }
        let put = input.instances.iter().map(|instance| {
            let of = format!("of={}", program(instance));
            let exec = Exec::new(instance.place, ["dd", "status=none", &of], PREPARE_TIMEOUT_S);
            Step::new("put the program", Action::Exec(Exec { stdin: Some(PROGRAM.into()), ..exec }))
        });
        if self == Self::Db12 {
            return finish(put.collect(), ());
        }
        let one = input.instances.iter().map(|instance| {
            let argv = self.command(instance, &pythia::TRIAL);
            let exec = Exec::new(instance.place, argv, PREPARE_TIMEOUT_S);
            Step::new("try one event", Action::Exec(Exec { ok_exit: vec![0, 1], ..exec }))
        });
        Ok(Turn { steps: put.chain(one).collect(), ..Turn::default() })
    }

    /// # Errors
    /// [`LineError`] when the output is not the result that was asked for.
    pub fn read(self, chosen: &Chosen, instance: &Instance, stdout: &str) -> Result<ParseOutput, LineError> {
        let asked = self.asked(chosen, instance);
        let line: Line = line::read(stdout, &asked)?;
        let copies = asked[0].1;
        if line.each.len() as u64 != copies {
            return Err(LineError::Count { found: line.each.len(), expected: copies });
        }
        let mut times = line.each.iter().flat_map(|one| [one.wall_s, one.cpu_s]).chain([line.wall_s]);
        if times.any(|time| time.is_nan() || time <= 0.0) {
            return Err(LineError::NoTime);
        }
        if line.each.iter().any(|one| one.check != line.each[0].check) {
            return Err(LineError::Wrong("copies that did the same work have different results"));
        }
        let (samples, warnings) = match self {
            Self::Db12 => db12::samples(chosen, &line)?,
            Self::Pythia => pythia::samples(chosen, &line),
        };
        let mut versions = BTreeMap::from([("python".to_string(), line.python)]);
        versions.extend(line.version.map(|version| ("pythia8mc".to_string(), version)));
        Ok(ParseOutput { samples, warnings, versions })
    }
}

fn program(instance: &Instance) -> String {
    instance.folder.join("hep.py").to_string_lossy().into_owned()
}

fn tried(input: &WorkInput, resume: &Resume) -> Result<(), Failure> {
    let events = resume.results.iter().skip(input.instances.len());
    for (instance, result) in input.instances.iter().zip(events) {
        let StepResult::Exec(exec) = result else { continue };
        if exec.exit != Some(0) {
            return Err(Failure::new(format!(
                "PYTHIA does not work on instance {}: {}; use the guest image debian-12-hep, or install pythia8mc {} \
                 with pip for the python3 there",
                instance.index,
                exec.stderr.trim().lines().last().unwrap_or("it said nothing"),
                pythia::VERSION
            )));
        }
    }
    Ok(())
}
