//! An offer of a plugin, asked through the contract as the program asks it.
//!
//! Owns what must hold for the output of each operation.

use std::collections::BTreeSet;

use crossvisor_model::{Name, Options, Recording, Value, Values};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Call, Failure, ImportInput, ImportOutput, ParseInput, ParseOutput, Plugin, RecordInput, Resume, Turn,
};
use serde::Deserialize;
use serde_json::json;

use crate::read_back;

/// An offer with its options, and its plugin's answers.
pub struct Offered {
    chosen: Chosen,
    metrics: BTreeSet<String>,
    answer: fn(&Chosen, &Call, &Resume) -> Result<Turn, Failure>,
    import: fn(&Chosen, &ImportInput) -> Result<ImportOutput, Failure>,
}

impl Offered {
    /// With the defaults of its options.
    ///
    /// # Panics
    /// Where the plugin has no such offer.
    #[must_use]
    pub fn of<P: Plugin>(name: &str) -> Self {
        Self::with::<P>(name, Options::new())
    }

    /// With these options, and the defaults of others.
    ///
    /// # Panics
    /// Where the plugin has no such offer.
    #[must_use]
    pub fn with<P: Plugin>(name: &str, options: Options) -> Self {
        let offers = P::manifest().offers;
        let offer = offers.into_iter().find(|offer| offer.name.as_str() == name).expect("an offer");
        let defaults =
            offer.options.iter().filter_map(|spec| Some((spec.name.clone(), spec.default.clone()?)));
        let options = defaults.chain(options).collect();
        let metrics = offer.metrics_with(&options).into_iter().map(|metric| metric.name).collect();
        let chosen = Chosen { offer: offer.name, options };
        Self { chosen, metrics, answer: P::answer, import: P::import }
    }

    /// Reads `text` as a piece of an imported file, and as a whole one.
    ///
    /// # Panics
    /// Where what must hold does not.
    pub fn imports(&self, text: &str) {
        for last in [false, true] {
            let input = ImportInput { file: "kept".into(), text: text.into(), last };
            match (self.import)(&self.chosen, &input) {
                Ok(output) => self.imported(&output, text, last),
                Err(failure) => assert!(!failure.message.is_empty()),
            }
        }
    }

    fn imported(&self, output: &ImportOutput, text: &str, last: bool) {
        read_back(output);
        assert!(last || text.is_char_boundary(output.used), "{} bytes are used", output.used);
        let lines = 1..=text.split('\n').count();
        for result in &output.results {
            assert!(lines.contains(&result.line), "line {} of {lines:?}", result.line);
            self.values(&result.values);
        }
        for refused in &output.refused {
            assert!(lines.contains(&refused.line), "line {} of {lines:?}", refused.line);
            assert!(!refused.reason.is_empty());
        }
    }

    /// Every value is of a metric that is declared, is a number or says why not, and there is one for a metric.
    fn values(&self, values: &Values) {
        let Values { measured, too_fast, missing, flags } = values;
        assert!(measured.values().all(|value| value.is_finite()), "{measured:?}");
        let metrics: Vec<&String> = measured.keys().chain(too_fast).chain(missing.keys()).collect();
        let different: BTreeSet<_> = metrics.iter().collect();
        assert_eq!(different.len(), metrics.len(), "{values:?}");
        let undeclared =
            metrics.into_iter().chain(flags.keys()).find(|metric| !self.metrics.contains(*metric));
        assert_eq!(undeclared, None);
    }

    /// Reads `text` as what the tool printed in a round.
    ///
    /// # Panics
    /// Where what must hold does not.
    pub fn parses(&self, round: &str, text: &str) {
        let call = Call::Parse(printed(round, text));
        let Some(output) = self.output::<ParseOutput>(&call) else { return };
        for sample in &output.samples {
            assert!(self.metrics.contains(&sample.metric), "{} is not declared", sample.metric);
            assert!(!matches!(&sample.value, Value::Missing(reason) if reason.is_empty()), "{sample:?}");
        }
    }

    /// Reads `text` as what a source of telemetry printed.
    ///
    /// # Panics
    /// Where what must hold does not.
    pub fn records(&self, text: &str) {
        let domains = ["a", "guest-2"].into_iter().zip(1..);
        let domains = domains.map(|(domain, guest)| (Name::new(domain).expect("a name"), guest)).collect();
        let source = self.chosen.offer.clone();
        let place = crossvisor_model::Place::Host;
        let call = Call::Record(RecordInput { source, place, text: text.into(), domains });
        let Some(recording) = self.output::<Recording>(&call) else { return };
        assert!(recording.at_s.is_sorted_by(|before, after| before < after), "{:?}", recording.at_s);
        for series in &recording.series {
            assert_eq!(series.values.len(), recording.at_s.len(), "{}", series.name);
        }
    }

    /// The output of the one turn, as the other side of the contract reads it: a number that is none does not pass.
    fn output<T: for<'de> Deserialize<'de>>(&self, call: &Call) -> Option<T> {
        match (self.answer)(&self.chosen, call, &Resume::default()) {
            Ok(turn) => {
                assert!(turn.done && turn.steps.is_empty());
                let output = turn.output.to_string();
                Some(serde_json::from_str(&output).unwrap_or_else(|e| panic!("{output}: {e}")))
            }
            Err(failure) => {
                assert!(!failure.message.is_empty());
                None
            }
        }
    }
}

fn printed(round: &str, text: &str) -> ParseInput {
    let instance = json!({
        "index": 1, "place": "host", "folder": "/var/tmp/work", "probe": "/usr/bin/crossvisor-probe",
        "memory_bytes": 536_870_912, "cpus": 2, "peer": {"address": "10.0.2.2", "port": 5301}
    });
    ParseInput {
        round: round.into(),
        instance: serde_json::from_value(instance).expect("an instance"),
        exit: Some(0),
        stdout: text.into(),
        stderr: text.into(),
        wall_s: 10.0,
    }
}
