//! Workload `tree`: trees of many small files are copied at once on every instance.
//!
//! Owns the options of the probe's tree job and the meaning of what it prints. It must never run it.

mod line;
mod manifest;

use std::fmt::Display;

use crossvisor_plugin::model::{Action, Bytes, Exec, Manifest, Step, Value};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, Instance, ParseInput, ParseOutput, ParsedSample, Resume, Turn, WorkInput, Workload, finish,
};

use line::Line;

/// The plugin.
pub struct Tree;

crossvisor_plugin::plugin!(workload_tree, workload, Tree);

/// The deadline of the phase is the one people set; this one only keeps a lost program from staying for ever.
const TIMEOUT_S: f64 = 24.0 * 3600.0;
/// Lines of the job's last words in a message.
const LAST_LINES: usize = 3;

impl Workload for Tree {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    /// Makes the trees: they are there before the first instance is let go.
    fn prepare(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let step = |instance| Step::new("make the trees", Action::Exec(exec(chosen, "make", instance)));
        finish(input.instances.iter().map(step).collect(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let together = Action::Together {
            round: "copy".into(),
            servers: Vec::new(),
            runs: input.instances.iter().map(|instance| exec(chosen, "copy", instance)).collect(),
        };
        finish(vec![Step::new("copy the trees", together)], ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        if input.exit != Some(0) {
            return Err(failure(input, &"it failed"));
        }
        let line =
            Line::read(&input.stdout, files(chosen), copies(chosen)).map_err(|e| failure(input, &e))?;
        let data_bytes = line.all_bytes();
        let mean = line.each_s.iter().sum::<f64>() / line.each_s.len() as f64;
        let first = line.each_s.iter().copied().fold(f64::INFINITY, f64::min);
        let values = [
            ("wall", line.wall_s),
            ("synced", line.synced_s),
            ("rate", line.all_files() / line.synced_s),
            ("throughput", data_bytes / Bytes::MIB as f64 / line.synced_s),
            ("copy_first", first),
            ("copy_mean", mean),
        ];
        let sample = |(metric, value): (&str, f64)| ParsedSample {
            metric: metric.into(),
            value: Value::Measured(value),
            flags: Vec::new(),
        };
        Ok(ParseOutput { samples: values.into_iter().map(sample).collect(), ..ParseOutput::default() })
    }
}

fn files(chosen: &Chosen) -> u64 {
    chosen.whole("files").unwrap_or(manifest::FILES)
}

fn copies(chosen: &Chosen) -> u64 {
    chosen.whole("copies").unwrap_or(manifest::COPIES)
}

fn exec(chosen: &Chosen, verb: &str, instance: &Instance) -> Exec {
    let (files, copies) = (files(chosen).to_string(), copies(chosen).to_string());
    let (probe, folder) = (instance.probe.to_string_lossy(), instance.folder.to_string_lossy());
    let words = [&probe, "tree", verb, "--files", &files, "--copies", &copies, "--folder", &folder];
    Exec::new(instance.place, words, TIMEOUT_S)
}

fn failure(input: &ParseInput, reason: &dyn Display) -> Failure {
    let said: Vec<&str> = input.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let said = said[said.len().saturating_sub(LAST_LINES)..].join(" / ");
    Failure::new(format!(
        "the tree job on instance {} has no result: {reason}; it {} and said: {}; the whole output is in the run \
         directory",
        input.instance.index,
        input.ending(),
        if said.is_empty() { "nothing" } else { &said }
    ))
}
