//! Workload `command`: any program on every instance at once; the scenario says what it measures.
//!
//! Owns how a program's arguments are filled in and how its output becomes values. It must never use a shell, and never
//! take the exit code of a program for its result.

mod columns;
mod manifest;
mod wanted;

use crossvisor_plugin::model::{Action, Exec, Manifest, Step, Value};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, Instance, ParseInput, ParseOutput, ParsedSample, Resume, Turn, WorkInput, Workload, finish,
};

use manifest::WALL;
use wanted::{Stream, Wanted};

/// The plugin.
pub struct Command;

crossvisor_plugin::plugin!(workload_command, workload, Command);

const TIMEOUT_S: f64 = 86_400.0;
/// Lines of a program's last words in a message.
const LAST_LINES: usize = 3;

impl Workload for Command {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn prepare(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        argv(chosen)?;
        Wanted::all(&chosen.options)?;
        let Some(argv) = words(chosen, "prepare") else { return finish(Vec::new(), ()) };
        let step = |instance| Step::new("prepare the program", Action::Exec(exec(chosen, &argv, instance)));
        finish(input.instances.iter().map(step).collect(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let argv = argv(chosen)?;
        let together = Action::Together {
            round: "command".into(),
            servers: Vec::new(),
            runs: input.instances.iter().map(|instance| exec(chosen, &argv, instance)).collect(),
        };
        finish(vec![Step::new("run the program", together)], ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let program = argv(chosen)?.swap_remove(0);
        let wanted = Wanted::all(&chosen.options)?;
        if input.exit != Some(0) {
            return Err(failure(&program, input, &input.ending()));
        }
        let found = wanted.iter().map(|metric| (metric, metric.find(printed(metric, input))));
        let (mut samples, mut reasons) = (Vec::new(), Vec::new());
        for (metric, value) in found {
            let value = value.map_or_else(Value::Missing, Value::Measured);
            if let Value::Missing(reason) = &value {
                reasons.push(format!("{}: {reason}", metric.name));
            }
            samples.push(ParsedSample { metric: metric.name.clone(), value, flags: Vec::new() });
        }
        // A program that prints nothing of what it should may have failed, whatever its exit code.
        if !wanted.is_empty() && reasons.len() == wanted.len() {
            return Err(failure(&program, input, &format!("printed no value ({})", reasons.join("; "))));
        }
        let wall = Value::Measured(input.wall_s);
        samples.insert(0, ParsedSample { metric: WALL.into(), value: wall, flags: Vec::new() });
        Ok(ParseOutput { samples, warnings: reasons, ..ParseOutput::default() })
    }
}

fn argv(chosen: &Chosen) -> Result<Vec<String>, Failure> {
    let argv = words(chosen, "argv").filter(|argv| !argv[0].is_empty());
    argv.ok_or_else(|| {
        Failure::new("set the option 'argv' to a program and its arguments: [program, --flag]")
    })
}

/// At least one; `None` where the option is unset.
fn words(chosen: &Chosen, option: &str) -> Option<Vec<String>> {
    let words = chosen.options.get(option)?.as_array()?;
    let words: Vec<String> = words.iter().filter_map(|word| Some(word.as_str()?.to_string())).collect();
    (!words.is_empty()).then_some(words)
}

fn exec(chosen: &Chosen, argv: &[String], instance: &Instance) -> Exec {
    let argv = argv.iter().map(|argument| filled(argument, instance));
    Exec::new(instance.place, argv, chosen.number("timeout").unwrap_or(TIMEOUT_S))
}

/// The argument with the instance's own values in the places of their names. Other braces stay.
fn filled(argument: &str, instance: &Instance) -> String {
    let values = [
        ("{folder}", instance.folder.display().to_string()),
        ("{index}", instance.index.to_string()),
        ("{cpus}", instance.cpus.to_string()),
        ("{memory}", instance.memory_bytes.to_string()),
        ("{peer}", instance.peer.address.clone()),
        ("{port}", instance.peer.port.to_string()),
    ];
    values.iter().fold(argument.to_string(), |text, (name, value)| text.replace(name, value))
}

fn printed<'i>(metric: &Wanted, input: &'i ParseInput) -> &'i str {
    match metric.from {
        Stream::Stdout => &input.stdout,
        Stream::Stderr => &input.stderr,
    }
}

fn failure(program: &str, input: &ParseInput, reason: &str) -> Failure {
    let said = [&input.stderr, &input.stdout].into_iter().find_map(|text| last_words(text));
    Failure::new(format!(
        "{program} on instance {} {reason}; it said: {}; the whole output is in the run directory",
        input.instance.index,
        said.unwrap_or_else(|| "nothing".into())
    ))
}

fn last_words(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    (!last.is_empty()).then(|| last.join(" / "))
}
