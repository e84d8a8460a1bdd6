//! Workloads of high-energy physics: loads for processor and memory, DB12, PYTHIA, and benchmarks that a site brings.
//!
//! Owns the command lines of these jobs and the meaning of what they print. It must never run one.

mod copies;
mod db12;
mod line;
mod probe;
mod pythia;
mod reports;
mod runner;
mod spread;

use crossvisor_plugin::model::{Action, Exec, Kind, Manifest, Name, NameError, Step};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, Instance, ParseInput, ParseOutput, Resume, Turn, WorkInput, Workload,
    finish,
};

use runner::Runner;

/// The plugin.
pub struct Hep;

crossvisor_plugin::plugin!(workload_hep, workload, Hep);

/// The deadline of the run phase is the one people set; this one only keeps a lost program from staying for ever.
const TIMEOUT_S: f64 = 24.0 * 3600.0;

/// What an offer is.
#[derive(Clone, Copy)]
enum Job {
    Probe(probe::Job),
    Copies(copies::Job),
    Runner(Runner),
}

impl Workload for Hep {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn prepare(&self, chosen: &Chosen, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure> {
        match Job::of(chosen)? {
            Job::Probe(job) => input.instances.iter().try_for_each(|instance| job.check(chosen, instance))?,
            Job::Copies(job) => return job.prepare(input, resume),
            Job::Runner(runner) => {
                input.instances.iter().try_for_each(|instance| runner.argv(chosen, instance).map(drop))?;
            }
        }
        finish(Vec::new(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let job = Job::of(chosen)?;
        let run = |instance: &Instance| Ok(Exec::new(instance.place, job.argv(chosen, instance)?, TIMEOUT_S));
        let together = Action::Together {
            round: chosen.offer.to_string(),
            servers: Vec::new(),
            runs: input.instances.iter().map(run).collect::<Result<_, Failure>>()?,
        };
        finish(vec![Step::new(job.say(), together)], ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let read = match Job::of(chosen)? {
            Job::Probe(job) => job
                .read(chosen, &input.stdout)
                .map(|samples| ParseOutput { samples, ..ParseOutput::default() }),
            Job::Copies(job) => job.read(chosen, &input.instance, &input.stdout),
            Job::Runner(runner) => return runner.read(input),
        };
        read.map_err(|error| {
            Failure::new(format!(
                "the job {} on instance {} {} and is no result: {error}; it said: {}; \
                 the whole output is in the run directory",
                chosen.offer,
                input.instance.index,
                input.ending(),
                last_line(&input.stderr)
            ))
        })
    }

    /// A report is read as a whole: it is one document of JSON, or lines that belong together.
    fn import(&self, chosen: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        if !input.last {
            return Ok(ImportOutput::default());
        }
        let offers = self.manifest().offers;
        let metrics = offers.into_iter().find(|offer| offer.name == chosen.offer).map(|offer| offer.metrics);
        let metrics = metrics.unwrap_or_default();
        Ok(reports::read(&input.file, &input.text, |name| metrics.iter().any(|metric| metric.name == name)))
    }
}

impl Job {
    fn of(chosen: &Chosen) -> Result<Self, Failure> {
        let name = chosen.offer.as_str();
        let probe = probe::Job::ALL.into_iter().find(|job| job.name() == name).map(Self::Probe);
        let copies = copies::Job::ALL.into_iter().find(|job| job.name() == name).map(Self::Copies);
        let runner = Runner::ALL.into_iter().find(|runner| runner.name() == name).map(Self::Runner);
        probe
            .or(copies)
            .or(runner)
            .ok_or_else(|| Failure::new(format!("this plugin does not offer '{name}'")))
    }

    fn say(self) -> &'static str {
        match self {
            Self::Probe(job) => job.say(),
            Self::Copies(job) => job.say(),
            Self::Runner(_) => "run the site's program",
        }
    }

    fn argv(self, chosen: &Chosen, instance: &Instance) -> Result<Vec<String>, Failure> {
        match self {
            Self::Probe(job) => Ok(job.argv(chosen, instance)),
            Self::Copies(job) => Ok(job.argv(chosen, instance)),
            Self::Runner(runner) => runner.argv(chosen, instance),
        }
    }
}

/// The last thing that a program said.
fn last_line(stderr: &str) -> &str {
    stderr.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("nothing")
}

fn manifest() -> Result<Manifest, NameError> {
    let probe = probe::Job::ALL.into_iter().map(probe::Job::offer);
    let copies = copies::Job::ALL.into_iter().map(copies::Job::offer);
    let runners = Runner::ALL.into_iter().map(Runner::offer);
    Ok(Manifest {
        name: Name::new("workload-hep")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "jobs of high-energy physics: processor and memory load, event generation, site benchmarks"
            .into(),
        offers: probe.chain(copies).chain(runners).collect::<Result<_, _>>()?,
    })
}
