//! Workload `bonnie`: bonnie++ on the disk of every instance at once.
//!
//! Owns its command line and the meaning of what it prints. It must never run it.

mod cell;
mod cells;
mod complaint;
mod csv;
mod find;
mod import;
mod lines;
mod manifest;
mod published;
mod record;
mod row;
mod stage;
mod table;
mod zcav;

use crossvisor_plugin::model::{Action, Bytes, Exec, Manifest, Place, Step, StepResult, Value};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, Instance, ParseInput, ParseOutput, ParsedSample, Resume, Turn,
    WorkInput, Workload, finish,
};

use cell::Reading;
use find::What;
use record::{Readings, Record};
use stage::STAGES;

/// The plugin.
pub struct Bonnie;

crossvisor_plugin::plugin!(workload_bonnie, workload, Bonnie);

const ID_TIMEOUT_S: f64 = 30.0;
/// The deadline of the run phase is the one people set; this one only keeps a lost program from staying for ever.
const RUN_TIMEOUT_S: f64 = 24.0 * 3600.0;
const CACHED: &str = "the data set is smaller than twice the memory: the page cache may have answered";

impl Workload for Bonnie {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn prepare(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        if chosen.offer.as_str() == manifest::ZCAV {
            return Err(only_imported());
        }
        input.instances.iter().try_for_each(|instance| check(chosen, instance))?;
        finish(Vec::new(), ())
    }

    /// bonnie++ takes a user only from root, and wants one from root. Guests are entered as root; who works on the
    /// bare host is asked first.
    fn work(&self, chosen: &Chosen, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure> {
        let outside = input.instances.iter().find(|instance| !matches!(instance.place, Place::Guest(_)));
        match (outside, resume.results.first()) {
            (Some(instance), None) => {
                let id = Action::Exec(Exec::new(instance.place, ["id", "-u"], ID_TIMEOUT_S));
                Ok(Turn { steps: vec![Step::new("ask who does the work", id)], ..Turn::default() })
            }
            (_, Some(StepResult::Exec(id))) => measure(chosen, input, id.stdout.trim() == "0"),
            (_, Some(StepResult::Done | StepResult::Domain { .. }) | None) => measure(chosen, input, true),
        }
    }

    fn import(&self, chosen: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        Ok(if chosen.offer.as_str() == manifest::ZCAV { zcav::import(input) } else { import::import(input) })
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        if chosen.offer.as_str() == manifest::ZCAV {
            return Err(only_imported());
        }
        let found = records(&input.stdout);
        let [record] = found.as_slice() else {
            return Err(not_one(found.len(), input));
        };
        let mut samples = samples(record);
        if size_bytes(chosen, &input.instance) < 2 * input.instance.memory_bytes {
            let cached = stage::cached(chosen.is_on("direct"));
            let doubtful = samples.iter_mut().filter(|sample| cached.contains(&&*sample.metric));
            doubtful.for_each(|sample| sample.flags.push(CACHED.into()));
        }
        Ok(ParseOutput { samples, warnings: Vec::new(), versions: import::versions(record) })
    }
}

/// The measured round.
fn measure(chosen: &Chosen, input: &WorkInput, as_root: bool) -> Result<Turn, Failure> {
    let run = |instance: &Instance| Exec::new(instance.place, argv(chosen, instance, as_root), RUN_TIMEOUT_S);
    let together = Action::Together {
        round: "bonnie".into(),
        servers: Vec::new(),
        runs: input.instances.iter().map(run).collect(),
    };
    finish(vec![Step::new("run bonnie++", together)], ())
}

fn argv(chosen: &Chosen, instance: &Instance, as_root: bool) -> Vec<String> {
    let mut argv = vec!["bonnie++".to_string(), "-q".into()];
    let mut option = |name: &str, value: String| argv.extend([name.to_string(), value]);
    if as_root {
        option("-u", chosen.word("user").unwrap_or("nobody").into());
    }
    option("-d", instance.folder.to_string_lossy().into_owned());
    option("-m", format!("instance-{}", instance.index));
    option("-s", size_mib(chosen, instance).to_string());
    option("-r", ram_mib(chosen, instance).to_string());
    option("-n", chosen.whole("files").unwrap_or(0).to_string());
    let switches = [("fast", "-f"), ("direct", "-D"), ("sync", "-b")];
    argv.extend(switches.iter().filter(|(name, _)| chosen.is_on(name)).map(|(_, flag)| flag.to_string()));
    argv
}

fn size_bytes(chosen: &Chosen, instance: &Instance) -> u64 {
    chosen.whole("size").unwrap_or(2 * instance.memory_bytes)
}

fn size_mib(chosen: &Chosen, instance: &Instance) -> u64 {
    size_bytes(chosen, instance).div_ceil(Bytes::MIB)
}

/// Always said, so that bonnie++ does not refuse a data set by the memory it finds; small ones are flagged instead.
fn ram_mib(chosen: &Chosen, instance: &Instance) -> u64 {
    chosen.whole("ram").map_or(size_mib(chosen, instance) / 2, |ram| ram / Bytes::MIB)
}

fn check(chosen: &Chosen, instance: &Instance) -> Result<(), Failure> {
    if chosen.is_on("direct") && !chosen.is_on("fast") {
        return Err(Failure::new(
            "bonnie++ fails with direct: true unless fast: true, because O_DIRECT refuses to write single \
             characters; set fast: true, or leave direct unset",
        ));
    }
    let (size, ram) = (size_mib(chosen, instance), ram_mib(chosen, instance));
    if size < 2 * ram {
        return Err(Failure::new(format!(
            "bonnie++ refuses size: {size}MiB with ram: {ram}MiB; make size at least {}MiB, or leave ram unset",
            2 * ram
        )));
    }
    Ok(())
}

/// The results of an output; one that is printed as a table and as a line is one.
fn records(text: &str) -> Vec<Record> {
    let results = find::find(&lines::lines(text)).into_iter().filter_map(|find| match find.what {
        What::Result { record, .. } => Some(*record),
        What::Refused(_) => None,
    });
    results.collect()
}

fn only_imported() -> Failure {
    Failure::new(
        "zcav is not run, its logs are only imported; for a disk's speed in a run use the workload bonnie",
    )
}

fn samples(record: &Record) -> Vec<ParsedSample> {
    let named = STAGES.iter().zip(&record.stages).flat_map(|(stage, readings)| {
        let Readings { speed, cpu, latency } = *readings;
        [(stage.name.to_string(), speed), (stage.cpu(), cpu), (stage.latency(), latency)]
    });
    let sample = |(metric, reading)| {
        let value = match reading {
            Reading::NotRun => return None,
            Reading::Unknown(reason) => Value::Missing(reason.into()),
            Reading::TooFast => Value::TooFast,
            Reading::Measured(value) => Value::Measured(value),
        };
        Some(ParsedSample { metric, value, flags: Vec::new() })
    };
    named.filter_map(sample).collect()
}

/// The output holds no result, or several.
fn not_one(found: usize, input: &ParseInput) -> Failure {
    let said = complaint::complaint(&input.stdout, &input.stderr).unwrap_or_else(|| "nothing".into());
    Failure::new(format!(
        "bonnie++ {} and printed {found} results where 1 is expected; it said: {said}; \
         the whole output is in the run directory",
        input.ending()
    ))
}
