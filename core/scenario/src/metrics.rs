//! Metrics that a scenario describes: the option of a workload that reads whatever a program prints.
//!
//! Owns what every such metric has, whatever the workload adds to it. It must never know where a value comes from.

use std::collections::BTreeSet;

use crossvisor_model::{OptionKind, OptionSpec};
use serde_json::{Value, json};

use crate::options::{Place, set};
use crate::reader::Reader;
use crate::tree::Node;

/// What a workload says of the metrics that a scenario may describe.
pub(crate) struct Form<'a> {
    pub sources: &'a [OptionSpec],
    pub keys: &'a [OptionSpec],
    /// Names that the workload's own metrics have.
    pub taken: &'a [String],
}

impl Form<'_> {
    /// The list `node` in JSON.
    pub fn read(&self, reader: &mut Reader, what: &str, node: &Node) -> Option<Value> {
        let mut taken: BTreeSet<String> = self.taken.iter().cloned().collect();
        let items = reader.list(node, what)?;
        let metrics: Vec<_> = items.iter().map(|item| self.metric(reader, what, item, &mut taken)).collect();
        metrics.into_iter().collect::<Option<Vec<_>>>().map(Value::from)
    }

    fn metric(
        &self,
        reader: &mut Reader,
        what: &str,
        node: &Node,
        taken: &mut BTreeSet<String>,
    ) -> Option<Value> {
        let written = reader.entries(node, what)?;
        let specs: Vec<OptionSpec> = common()
            .into_iter()
            .chain(self.sources.iter().cloned())
            .chain(self.keys.iter().cloned())
            .collect();
        let place = Place { of: "metric", extra: &[], taken: &[] };
        let mut metric = set(reader, &place, &specs, written);
        let has = |key: &str| written.iter().any(|(name, _)| name.value == key);
        let missing: Vec<&str> = ["name", "unit", "better"].into_iter().filter(|key| !has(key)).collect();
        for key in &missing {
            reader.problem(node.span, format!("a metric lacks the key '{key}'"), help(key));
        }
        let sources: Vec<&str> = self.sources.iter().map(|source| source.name.as_str()).collect();
        if sources.iter().filter(|source| has(source)).count() != 1 {
            let help = format!("say where its value is found, by one of the keys {}", sources.join(", "));
            reader.problem(node.span, "a metric has exactly one source", help);
            return None;
        }
        let (_, named) = written.iter().find(|(key, _)| key.value == "name")?;
        let name = reader.name(named, "name")?.value.to_string();
        if !taken.insert(name.clone()) {
            reader.problem(
                named.span,
                format!("there is another metric '{name}'"),
                "choose a name of its own",
            );
            return None;
        }
        metric.entry("label".into()).or_insert_with(|| name.into());
        missing.is_empty().then(|| json!(metric))
    }
}

/// What every metric has.
fn common() -> Vec<OptionSpec> {
    let better = OptionKind::Choice { of: ["higher", "lower", "neither"].map(String::from).into() };
    vec![
        OptionSpec::new("name", OptionKind::Text, None, ""),
        OptionSpec::new("label", OptionKind::Text, None, ""),
        OptionSpec::new("unit", OptionKind::Text, None, ""),
        OptionSpec::new("better", better, None, ""),
        OptionSpec::new("headline", OptionKind::Boolean, json!(true), ""),
    ]
}

fn help(key: &str) -> &'static str {
    match key {
        "name" => "add 'name: …', a word that files and tables call it by",
        "unit" => "add 'unit: …', as the program counts: MB/s, s, events",
        _ => "add 'better: higher', 'better: lower', or 'better: neither'",
    }
}
