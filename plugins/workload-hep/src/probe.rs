//! The jobs of the probe: decimals of pi, additions, reading and writing memory, each repeated.
//!
//! Owns their command lines, options and metrics and the meaning of what they print. It must never run one.

use crossvisor_plugin::model::{
    Better, Bytes, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec, Value,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, Instance, ParsedSample};
use serde::Deserialize;
use serde_json::json;

use crate::line::{self, Asked, LineError};
use crate::spread::Spread;

/// A third of a second on a processor of 2020, and some seconds under emulation.
const DIGITS: u64 = 10_000;
const PI_REPEAT: u64 = 5;
/// The published test adds 100,000 times 100,000; a hundredth of it is long enough for any clock.
const LIMIT: u64 = 10_000;
/// As often as the published test.
const LOOP_REPEAT: u64 = 50;
/// Larger than the caches of most processors; the published test takes 4 GB.
const SIZE: u64 = 128 * Bytes::MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    Pi,
    Cpu,
    MemRead,
    MemWrite,
}

/// What a job printed.
#[derive(Debug, Deserialize)]
struct Line {
    each: Vec<Cost>,
    /// What the first write to the data set took.
    touch_s: Option<f64>,
    ok: bool,
}

/// What one repetition took.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Cost {
    cycles: u64,
    wall_s: f64,
}

impl Job {
    pub const ALL: [Self; 4] = [Self::Pi, Self::Cpu, Self::MemRead, Self::MemWrite];

    /// The verb of the probe and the name of the offer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Cpu => "cpu",
            Self::MemRead => "memread",
            Self::MemWrite => "memwrite",
        }
    }

    pub fn say(self) -> &'static str {
        match self {
            Self::Pi => "compute pi",
            Self::Cpu => "add numbers",
            Self::MemRead => "read memory",
            Self::MemWrite => "write memory",
        }
    }

    fn on_memory(self) -> bool {
        matches!(self, Self::MemRead | Self::MemWrite)
    }

    fn asked(self, chosen: &Chosen) -> [Asked; 2] {
        let (name, default, repeat) = match self {
            Self::Pi => ("digits", DIGITS, PI_REPEAT),
            Self::Cpu => ("limit", LIMIT, LOOP_REPEAT),
            Self::MemRead | Self::MemWrite => ("size", SIZE, LOOP_REPEAT),
        };
        let number = |option, default| (option, chosen.whole(option).unwrap_or(default));
        [number(name, default), number("repeat", repeat)]
    }

    pub fn argv(self, chosen: &Chosen, instance: &Instance) -> Vec<String> {
        let mut argv = vec![instance.probe.to_string_lossy().into_owned(), self.name().into()];
        argv.extend(line::words(&self.asked(chosen)));
        argv
    }

    /// The data set must fit into the memory beside the system.
    ///
    /// # Errors
    /// [`Failure`] that names the instance and both sizes.
    pub fn check(self, chosen: &Chosen, instance: &Instance) -> Result<(), Failure> {
        let size = chosen.whole("size").unwrap_or(SIZE);
        if self.on_memory() && size > instance.memory_bytes / 4 * 3 {
            return Err(Failure::new(format!(
                "a data set of {} does not fit into three quarters of the {} of instance {}; \
                 make size smaller, or give the guests more memory",
                Bytes(size),
                Bytes(instance.memory_bytes),
                instance.index
            )));
        }
        Ok(())
    }

    /// # Errors
    /// [`LineError`] when the output is not the result that was asked for.
    pub fn read(self, chosen: &Chosen, stdout: &str) -> Result<Vec<ParsedSample>, LineError> {
        let asked = self.asked(chosen);
        let line: Line = line::read(stdout, &asked)?;
        if !line.ok {
            return Err(LineError::Wrong(match self {
                Self::Pi => "its decimals of pi are wrong",
                Self::Cpu => "its sum is wrong",
                Self::MemRead | Self::MemWrite => "an element of its data set changed",
            }));
        }
        let [_, (_, repeat)] = asked;
        if line.each.len() as u64 != repeat {
            return Err(LineError::Count { found: line.each.len(), expected: repeat });
        }
        self.samples(&line).ok_or(LineError::NoTime)
    }

    /// `None` when a repetition took no time.
    fn samples(self, line: &Line) -> Option<Vec<ParsedSample>> {
        if line.each.iter().any(|cost| cost.cycles == 0 || cost.wall_s.is_nan() || cost.wall_s <= 0.0) {
            return None;
        }
        let walls: Vec<f64> = line.each.iter().map(|cost| cost.wall_s).collect();
        let cycles: Vec<f64> = line.each.iter().map(|cost| cost.cycles as f64).collect();
        let mut samples = spread_samples("", walls.iter().sum(), Spread::of(&walls)?);
        samples.extend(spread_samples("cycles", cycles.iter().sum(), Spread::of(&cycles)?));
        samples.extend(line.touch_s.map(|touch| sample("touch".into(), Some(touch))));
        Some(samples)
    }

    /// # Errors
    /// [`NameError`] when a name of the plugin's own is not valid.
    pub fn offer(self) -> Result<Offer, NameError> {
        let (summary, option, repeat) = match self {
            Self::Pi => (
                "decimals of pi by whole-number arithmetic, in time and processor cycles",
                OptionSpec::new(
                    "digits",
                    OptionKind::Integer { min: 50, max: 1_000_000 },
                    json!(DIGITS),
                    "decimals of pi; twice as many take four times as long",
                ),
                PI_REPEAT,
            ),
            Self::Cpu => (
                "additions in two nested loops, a load for the processor alone",
                OptionSpec::new(
                    "limit",
                    OptionKind::Integer { min: 1, max: 1_000_000 },
                    json!(LIMIT),
                    "iterations of each loop; the published test has 100000",
                ),
                LOOP_REPEAT,
            ),
            Self::MemRead => ("reading memory, each time far from the last", size(), LOOP_REPEAT),
            Self::MemWrite => ("writing memory, each time far from the last", size(), LOOP_REPEAT),
        };
        let often = OptionKind::Integer { min: 1, max: 10_000 };
        let repeat = OptionSpec::new("repeat", often, json!(repeat), "how often, one after another");
        let options = vec![option, repeat];
        Ok(Offer { options, metrics: self.metrics(), ..Offer::new(Name::new(self.name())?, summary) })
    }

    fn metrics(self) -> Vec<MetricSpec> {
        let lower = |name: &str, label: &str, unit| MetricSpec::new(name, label, unit, Better::Lower);
        let mut metrics = vec![
            lower("wall", "time for all repetitions", "s"),
            lower("cycles", "time-stamp counter, all repetitions", "cycles"),
            lower("mean", "time of a repetition, mean (E)", "s"),
            lower("sd", "time of a repetition, standard deviation (SD)", "s"),
            lower("sd_e", "time of a repetition, SD/E", "%"),
            lower("min", "time of a repetition, shortest", "s"),
            lower("median", "time of a repetition, median", "s"),
            lower("max", "time of a repetition, longest", "s"),
            lower("cycles_mean", "cycles of a repetition, mean (E)", "cycles"),
            lower("cycles_sd", "cycles of a repetition, standard deviation (SD)", "cycles"),
            lower("cycles_sd_e", "cycles of a repetition, SD/E", "%"),
            lower("cycles_min", "cycles of a repetition, fewest", "cycles"),
            lower("cycles_median", "cycles of a repetition, median", "cycles"),
            lower("cycles_max", "cycles of a repetition, most", "cycles"),
        ];
        if self.on_memory() {
            metrics.push(lower("touch", "first write to the data set, with its page faults", "s"));
        }
        let headlines: &[&str] = if self == Self::Pi { &["wall", "cycles"] } else { &["mean", "sd_e"] };
        for metric in &mut metrics {
            metric.headline = headlines.contains(&metric.name.as_str());
        }
        metrics
    }
}

fn size() -> OptionSpec {
    OptionSpec::new(
        "size",
        OptionKind::Size { min: Bytes::MIB, max: 1 << 40 },
        json!(SIZE),
        "data set, at most three quarters of the memory; the published test has 4 GB",
    )
}

/// The samples of a spread: the total under `wall` or the prefix itself, the rest behind the prefix.
fn spread_samples(prefix: &str, total: f64, spread: Spread) -> Vec<ParsedSample> {
    let name = |what: &str| if prefix.is_empty() { what.to_string() } else { format!("{prefix}_{what}") };
    let total_name = if prefix.is_empty() { "wall" } else { prefix };
    vec![
        sample(total_name.into(), Some(total)),
        sample(name("mean"), Some(spread.mean)),
        sample(name("sd"), spread.deviation),
        sample(name("sd_e"), spread.relative()),
        sample(name("min"), Some(spread.min)),
        sample(name("median"), Some(spread.median)),
        sample(name("max"), Some(spread.max)),
    ]
}

fn sample(metric: String, value: Option<f64>) -> ParsedSample {
    let value =
        value.map_or_else(|| Value::Missing("one repetition has no deviation".into()), Value::Measured);
    ParsedSample { metric, value, flags: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const LINE: &str = r#"{"digits":100,"repeat":2,"cycles":7000,"wall_s":0.5,"each":[{"cycles":3000,"wall_s":0.25},{"cycles":4000,"wall_s":0.75}],"tail":"3421170679","fnv64":"0123456789abcdef","ok":true}"#;

    fn read(line: &str, repeat: u64) -> Result<BTreeMap<String, Value>, LineError> {
        let options = BTreeMap::from([("digits".into(), json!(100)), ("repeat".into(), json!(repeat))]);
        let chosen = Chosen { offer: Name::new("pi").expect("name"), options };
        let samples = Job::Pi.read(&chosen, line)?;
        Ok(samples.into_iter().map(|sample| (sample.metric, sample.value)).collect())
    }

    #[test]
    fn totals_and_spread_come_of_the_repetitions() {
        let samples = read(&format!("Last login: Mon\r\n{LINE}\r\nbye\r\n"), 2).expect("good");
        let value = |name: &str| samples[name].measured().expect(name);
        assert_eq!((value("wall"), value("cycles"), value("mean")), (1.0, 7000.0, 0.5));
        assert_eq!((value("min"), value("median"), value("cycles_max")), (0.25, 0.5, 4000.0));
        assert!((value("sd") - 0.125_f64.sqrt()).abs() < 1e-12);
        assert!((value("sd_e") - 200.0 * 0.125_f64.sqrt()).abs() < 1e-9);
        let offer = Job::Pi.offer().expect("offer");
        assert!(samples.keys().all(|name| offer.metrics.iter().any(|metric| metric.name == *name)));
    }

    #[test]
    fn one_repetition_has_no_deviation() {
        let line =
            LINE.replace(r#""repeat":2"#, r#""repeat":1"#).replace(r#",{"cycles":4000,"wall_s":0.75}"#, "");
        let samples = read(&line, 1).expect("good");
        assert!(matches!(samples["sd"], Value::Missing(_)) && matches!(samples["sd_e"], Value::Missing(_)));
        assert_eq!(samples["max"], Value::Measured(0.25));
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let changed = |from: &str, to: &str| read(&LINE.replacen(from, to, 1), 2);
        assert!(matches!(changed("100", "99"), Err(LineError::Other { name: "digits", .. })));
        assert!(matches!(changed("\"repeat\":2", "\"repeat\":1"), Err(LineError::Other { .. })));
        assert!(matches!(changed("true", "false"), Err(LineError::Wrong(_))));
        assert!(matches!(changed("3000", "0"), Err(LineError::NoTime)));
        assert!(matches!(changed("\"wall_s\":0.25", "\"wall_s\":0"), Err(LineError::NoTime)));
        assert!(matches!(
            changed(r#",{"cycles":4000,"wall_s":0.75}"#, ""),
            Err(LineError::Count { found: 1, .. })
        ));
    }
}
