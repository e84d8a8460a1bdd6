//! Logs of zcav, which reads a disk from end to end and tells how fast each part was.
//!
//! Owns the log's forms and its units. It must never make up a speed for a part that was read too fast to tell.

use std::collections::BTreeMap;

use crossvisor_plugin::model::{Better, MetricSpec, Values};
use crossvisor_plugin::{ImportInput, ImportOutput, Imported, Refused};

use crate::cell::version;

/// The metrics of a whole log, and last those of one part of the disk.
pub fn metrics() -> Vec<MetricSpec> {
    let speed = |name: &str, label: &str| MetricSpec::new(name, label, "KiB/s", Better::Higher);
    vec![
        speed("mean", "mean of all parts").headline(),
        speed("first", "first part, the outer tracks of a disk"),
        speed("last", "last part, the inner tracks of a disk"),
        speed("slowest", "slowest part"),
        speed("fastest", "fastest part"),
        MetricSpec::new("parts", "parts that were read", "parts", Better::Neither),
        MetricSpec::new("too_fast_parts", "parts that were read too fast to tell", "parts", Better::Neither),
        speed("speed", "this part"),
        MetricSpec::new("time", "time for this part", "s", Better::Lower),
    ]
}

/// A log of more parts than this is given by its summary alone.
const MOST: usize = 200;

/// What a version prints, told from the heading of the columns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// 1.0x to 1.9x: MiB, KiB/s, seconds.
    Old,
    /// Later: GiB, MiB/s, seconds.
    New,
}

/// One part of the disk.
struct Part {
    /// As printed.
    position: String,
    /// KiB/s; `None` where it was too fast to tell.
    speed: Option<f64>,
    seconds: f64,
}

/// One log.
struct Log {
    line: usize,
    form: Form,
    version: Option<String>,
    loops: Option<u64>,
    parts: Vec<Part>,
}

/// All logs of a file, which is wanted whole.
pub fn import(input: &ImportInput) -> ImportOutput {
    if !input.last {
        return ImportOutput::default();
    }
    let mut output = ImportOutput { used: input.text.len(), ..ImportOutput::default() };
    let mut logs: Vec<Log> = Vec::new();
    let (mut version_said, mut loops) = (None, None);
    for (index, line) in input.text.lines().enumerate() {
        let line = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(form) = form(line) {
            let (version, loops) = (version_said.take(), loops.take());
            logs.push(Log { line: index + 1, form, version, loops, parts: Vec::new() });
        } else if let Some(rest) = line.strip_prefix("#loops: ") {
            let (count, version) = rest.split_once(", version: ").unwrap_or((rest, ""));
            loops = count.trim().parse().ok();
            version_said = self::version(version.trim()).map(|_| version.trim().to_string());
        } else if let Some(log) = logs.last_mut() {
            match part(line, log.form) {
                Some(Ok(part)) => log.parts.push(part),
                Some(Err(reason)) => output.refused.push(Refused { line: index + 1, reason }),
                None => {}
            }
        }
    }
    for log in &logs {
        match log.parts.is_empty() {
            true => output.refused.push(Refused {
                line: log.line,
                reason:
                    "expected lines of position, speed and time under the heading of a zcav log, found none"
                        .into(),
            }),
            false => output.results.extend(log.results()),
        }
    }
    output
}

fn form(line: &str) -> Option<Form> {
    match line.strip_prefix("#block")? {
        rest if rest.contains("MiB/s") => Some(Form::New),
        rest if rest.contains("K/s") => Some(Form::Old),
        _ => None,
    }
}

/// A line of a log: `600 54979 1.862497`, `#600 ++++ 0.412331`. `None`: it is something else.
fn part(line: &str, form: Form) -> Option<Result<Part, String>> {
    let (too_fast, text) = line.strip_prefix('#').map_or((false, line), |rest| (true, rest));
    let words: Vec<&str> = text.split_whitespace().collect();
    let position = *words.first()?;
    number(position)?;
    let [_, speed, time] = words[..] else {
        return Some(Err(format!("expected a position, a speed and a time, found '{}'", shown(line))));
    };
    let (unit, scale) = match form {
        Form::Old => ("MiB", 1.0),
        Form::New => ("GiB", 1024.0),
    };
    let fast = speed.len() >= 3 && speed.bytes().all(|byte| byte == b'+');
    let speed = number(speed).filter(|_| !too_fast).map(|speed| speed * scale);
    let position = format!("{position} {unit}");
    match (speed, number(time)) {
        (None, Some(seconds)) if fast => Some(Ok(Part { position, speed: None, seconds })),
        (Some(speed), Some(seconds)) => Some(Ok(Part { position, speed: Some(speed), seconds })),
        _ => Some(Err(format!(
            "expected a speed or '++++', and a time, behind the position, found '{}'",
            shown(line)
        ))),
    }
}

fn shown(line: &str) -> String {
    line.chars().take(60).collect()
}

/// Digits and decimals, no sign and no exponent.
fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

impl Log {
    fn results(&self) -> Vec<Imported> {
        let mut results = vec![self.imported("all", self.summary())];
        if self.parts.len() > MOST {
            let warning =
                format!("{} parts: more than {MOST} are given by their summary alone", self.parts.len());
            results[0].warnings.push(warning);
        } else {
            results.extend(self.parts.iter().map(|part| self.imported(&part.position, part.values())));
        }
        results
    }

    fn imported(&self, position: &str, values: Values) -> Imported {
        let settings =
            [("loops", self.loops.map(|loops| loops.to_string())), ("position", Some(position.to_string()))];
        Imported {
            line: self.line,
            settings: settings
                .into_iter()
                .filter_map(|(name, text)| Some((name.to_string(), text?)))
                .collect(),
            values,
            versions: self.version.iter().map(|version| ("zcav".into(), version.clone())).collect(),
            ..Imported::default()
        }
    }

    fn summary(&self) -> Values {
        let speeds: Vec<f64> = self.parts.iter().filter_map(|part| part.speed).collect();
        let mut values = Values::default();
        let mut say = |name: &str, value: f64| values.measured.insert(name.to_string(), value);
        say("parts", self.parts.len() as f64);
        say("too_fast_parts", (self.parts.len() - speeds.len()) as f64);
        let ends = [("first", self.parts.first()), ("last", self.parts.last())];
        ends.iter().filter_map(|(name, part)| Some((name, part.as_ref()?.speed?))).for_each(
            |(name, speed)| {
                say(name, speed);
            },
        );
        if speeds.len() == self.parts.len() {
            say("mean", speeds.iter().sum::<f64>() / speeds.len() as f64);
            say("fastest", speeds.iter().copied().fold(f64::MIN, f64::max));
        } else {
            values.too_fast.extend(["mean".to_string(), "fastest".to_string()]);
        }
        match speeds.iter().copied().reduce(f64::min) {
            Some(slowest) => values.measured.insert("slowest".into(), slowest).map_or((), drop),
            None => values.too_fast.extend(["slowest".to_string()]),
        }
        let too_fast = ends.iter().filter(|(_, part)| part.is_some_and(|part| part.speed.is_none()));
        values.too_fast.extend(too_fast.map(|(name, _)| name.to_string()));
        values
    }
}

impl Part {
    fn values(&self) -> Values {
        let mut measured = BTreeMap::from([("time".to_string(), self.seconds)]);
        let too_fast = self.speed.is_none().then(|| "speed".to_string());
        measured.extend(self.speed.map(|speed| ("speed".to_string(), speed)));
        Values { measured, too_fast: too_fast.into_iter().collect(), ..Values::default() }
    }
}
