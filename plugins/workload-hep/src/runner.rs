//! Benchmarks that a site has and nobody may hand on: HEPscore, HEP-SPEC06, the HEP Benchmark Suite.
//!
//! Owns how the site's own program is started, where its result is found, and their options and metrics. It must never
//! know how such a program is installed.

use std::collections::BTreeMap;

use crossvisor_plugin::model::{Better, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec, Value};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, Imported, Instance, ParseInput, ParseOutput, ParsedSample};

use crate::{db12, reports};

/// Starts the program in the instance's folder, and prints only the result it leaves there; one that was there before is
/// not its result. Constant text: what people write comes as arguments of its own, `$0` the folder and `$1` the result's
/// file.
const WITH_FILE: &str = r#"cd "$0" || exit
result=$1; shift
: > .started || exit
"$@" >&2
ended=$?
if [ .started -nt "$result" ]; then echo "it left no new $result" >&2; exit 1; fi
cat -- "$result" || exit
exit $ended"#;
/// The same for a program that prints its result.
const PRINTED: &str = r#"cd "$0" && exec "$@""#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    HepScore,
    Hs06,
    /// Any of them.
    Hep,
}

impl Runner {
    pub const ALL: [Self; 3] = [Self::HepScore, Self::Hs06, Self::Hep];

    pub fn name(self) -> &'static str {
        match self {
            Self::HepScore => "hepscore",
            Self::Hs06 => "hs06",
            Self::Hep => "hep",
        }
    }

    /// # Errors
    /// [`Failure`] when the program is not said.
    pub fn argv(self, chosen: &Chosen, instance: &Instance) -> Result<Vec<String>, Failure> {
        let words = chosen.options.get("argv").and_then(|words| words.as_array()).into_iter().flatten();
        let program: Vec<String> = words.filter_map(|word| word.as_str().map(String::from)).collect();
        if program.first().is_none_or(String::is_empty) {
            return Err(Failure::new(format!(
                "set the option 'argv' to your program and its arguments: [program, --flag]; {} comes with none",
                self.name()
            )));
        }
        let folder = instance.folder.to_string_lossy().into_owned();
        let mut argv: Vec<String> = match chosen.word("result") {
            Some(file) => ["sh", "-c", WITH_FILE, &folder, file].map(String::from).into(),
            None => ["sh", "-c", PRINTED, &folder].map(String::from).into(),
        };
        argv.extend(program);
        Ok(argv)
    }

    /// # Errors
    /// [`Failure`] when the program failed or left no result of this benchmark.
    pub fn read(self, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let found = reports::read("", &input.stdout, |metric| self.has(metric));
        let mine = |result: &&Imported| !result.settings.contains_key(reports::WORKLOAD);
        let results: Vec<&Imported> = found.results.iter().filter(mine).collect();
        let mut wrong: Vec<String> = found.refused.into_iter().map(|refused| refused.reason).collect();
        if input.exit == Some(0) && !results.is_empty() {
            return Ok(output(&results, wrong));
        }
        if results.is_empty() && wrong.is_empty() {
            wrong.push("it left no report of this benchmark".into());
        }
        Err(Failure::new(format!(
            "the program of {} on instance {} {}; {}it said: {}; the whole output is in the run \
             directory",
            self.name(),
            input.instance.index,
            input.ending(),
            wrong.iter().map(|reason| format!("{reason}; ")).collect::<String>(),
            crate::last_line(&input.stderr)
        )))
    }

    fn has(self, metric: &str) -> bool {
        self.metrics().iter().any(|known| known.name == metric)
    }

    /// # Errors
    /// [`NameError`] when a name of the plugin's own is not valid.
    pub fn offer(self) -> Result<Offer, NameError> {
        let summary = match self {
            Self::HepScore => "HEPscore by a program of the site",
            Self::Hs06 => "HEP-SPEC06 or SPEC CPU 2017 by a program of the site",
            Self::Hep => "any report of the HEP Benchmark Suite, HEPscore or DB12, by a program of the site",
        };
        Ok(Offer {
            options: vec![
                OptionSpec::new(
                    "argv",
                    OptionKind::Words { min: 1, max: 1000 },
                    None,
                    "program and arguments, started in a folder of its own",
                ),
                OptionSpec::new(
                    "result",
                    OptionKind::Text,
                    None,
                    "file with its report in JSON, in that folder or by its whole path; unset: it prints it",
                ),
            ],
            metrics: self.metrics(),
            guest_programs: vec!["sh".into(), "cat".into()],
            imports: true,
            ..Offer::new(Name::new(self.name())?, summary)
        })
    }

    fn metrics(self) -> Vec<MetricSpec> {
        let mut metrics = match self {
            Self::HepScore => hepscore(),
            Self::Hs06 => spec(),
            Self::Hep => [hepscore(), spec(), db12::metrics()].concat(),
        };
        let fact = |name: &str, label: &str, unit| MetricSpec::new(name, label, unit, Better::Neither);
        metrics.extend([
            fact("cpus", "logical processors", "processors"),
            fact("threads_per_core", "threads of a core", "threads"),
            fact("memory", "memory", "KiB"),
        ]);
        metrics
    }
}

fn hepscore() -> Vec<MetricSpec> {
    let score = |name: &str, label: &str| MetricSpec::new(name, label, "HEPscore", Better::Higher);
    let rate = |name: String, label: String| MetricSpec::new(name, label, "events/s", Better::Higher);
    let mut metrics = vec![
        score("hepscore", "HEPscore").headline(),
        score("hepscore_core", "HEPscore per core").headline(),
        rate("workload".into(), "one run of one workload, all copies".into()).headline(),
        MetricSpec::new("duration", "one run of one workload", "s", Better::Lower),
    ];
    for (name, word) in reports::STATISTICS {
        metrics.push(rate(format!("copy_{name}"), format!("one run of one workload, {word} copy")));
        metrics.push(rate(format!("cpu_{name}"), format!("events by processor time, {word} copy")));
    }
    metrics
}

fn spec() -> Vec<MetricSpec> {
    let metrics = reports::SPEC.into_iter().flat_map(|(_, metric, label, unit)| {
        let score = MetricSpec::new(metric, label, unit, Better::Higher).headline();
        [score, MetricSpec::new(format!("{metric}_core"), format!("{label} per copy"), unit, Better::Higher)]
    });
    metrics.collect()
}

/// All values of the results, each metric once; what else was in the report and is no result becomes a warning.
fn output(results: &[&Imported], warnings: Vec<String>) -> ParseOutput {
    let mut samples = BTreeMap::new();
    let mut output = ParseOutput { warnings, ..ParseOutput::default() };
    for result in results {
        for (metric, value) in &result.values.measured {
            let flags = result.values.flags.get(metric).cloned().unwrap_or_default();
            let sample = ParsedSample { metric: metric.clone(), value: Value::Measured(*value), flags };
            samples.entry(metric).or_insert(sample);
        }
        output.warnings.extend(result.warnings.iter().cloned());
        output.versions.extend(result.versions.clone());
    }
    output.samples = samples.into_values().collect();
    output
}
