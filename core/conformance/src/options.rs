//! Options: whether a value is one of an option's, which of them must be set, and the values at their limits.

use crossvisor_model::{MetricSpec, Offer, OptionKind, OptionSpec, Options};
use crossvisor_plugin::Call;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::inputs;
use crate::session::Session;

/// A set of options and how it differs from the defaults; empty for the defaults themselves.
pub(crate) struct OptionSet {
    pub name: String,
    pub options: Options,
}

impl OptionSet {
    /// `offer 'file', cache=none`.
    pub fn place(&self, offer: &Offer) -> String {
        let separator = if self.name.is_empty() { "" } else { ", " };
        format!("offer '{}'{separator}{}", offer.name, self.name)
    }
}

/// True where `value` is the JSON form of a value of this kind, within its limits.
pub(crate) fn is_valid(kind: &OptionKind, value: &Value) -> bool {
    match kind {
        OptionKind::Integer { min, max } => value.as_i64().is_some_and(|v| (*min..=*max).contains(&v)),
        OptionKind::Size { min, max } => value.as_u64().is_some_and(|v| (*min..=*max).contains(&v)),
        OptionKind::Duration { min, max } => value.as_f64().is_some_and(|v| (*min..=*max).contains(&v)),
        OptionKind::Boolean => value.is_boolean(),
        OptionKind::Choice { of } => value.as_str().is_some_and(|word| of.iter().any(|one| one == word)),
        OptionKind::Text | OptionKind::Pattern => value.is_string(),
        OptionKind::Pointer => value.as_str().is_some_and(|text| text.is_empty() || text.starts_with('/')),
        OptionKind::Words { min, max } => value.as_array().is_some_and(|words| {
            (*min..=*max).contains(&(words.len() as u64)) && words.iter().all(Value::is_string)
        }),
        OptionKind::Metrics { .. } => Vec::<MetricSpec>::deserialize(value).is_ok(),
    }
}

/// Why no value can be one of this kind; `None` where some can.
pub(crate) fn impossible(kind: &OptionKind) -> Option<String> {
    match kind {
        OptionKind::Integer { min, max } => (min > max).then(|| format!("min {min} is above max {max}")),
        OptionKind::Size { min, max } => (min > max).then(|| format!("min {min} is above max {max}")),
        OptionKind::Duration { min, max } => (min > max).then(|| format!("min {min} is above max {max}")),
        OptionKind::Choice { of } => of.is_empty().then(|| "there is no word to choose".into()),
        OptionKind::Words { min, max } => (min > max).then(|| format!("min {min} is above max {max}")),
        OptionKind::Metrics { sources, .. } => sources.is_empty().then(|| "a metric has no source".into()),
        OptionKind::Boolean | OptionKind::Text | OptionKind::Pattern | OptionKind::Pointer => None,
    }
}

/// The defaults, with a value for every option whose absence `call` is refused for.
pub(crate) fn defaults(session: &mut Session<'_>, offer: &Offer, call: &Call) -> Options {
    let mut options: Options =
        offer.options.iter().filter_map(|o| Some((o.name.clone(), o.default.clone()?))).collect();
    for _ in &offer.options {
        let request = inputs::request(offer, &options, call.clone());
        let Some(Err(failure)) = session.ask(&request) else { break };
        let is_named = |o: &&OptionSpec| {
            !options.contains_key(&o.name) && failure.message.contains(&format!("'{}'", o.name))
        };
        let Some(option) = offer.options.iter().find(is_named) else { break };
        let text = (option.kind == OptionKind::Text).then(|| json!("check"));
        let Some(value) = text.or_else(|| limits(option).into_iter().next()) else { break };
        options.insert(option.name.clone(), value);
    }
    options
}

/// The defaults, then one set for every limit of every option.
pub(crate) fn sets(session: &mut Session<'_>, offer: &Offer, call: &Call) -> Vec<OptionSet> {
    let defaults = defaults(session, offer, call);
    let mut sets = vec![OptionSet { name: String::new(), options: defaults.clone() }];
    for option in &offer.options {
        for value in limits(option) {
            let shown: String = value.to_string().chars().take(40).collect();
            let mut options = defaults.clone();
            options.insert(option.name.clone(), value);
            sets.push(OptionSet { name: format!("{}={shown}", option.name), options });
        }
    }
    sets
}

fn limits(option: &OptionSpec) -> Vec<Value> {
    match &option.kind {
        OptionKind::Integer { min, max } => vec![json!(min), json!(max)],
        OptionKind::Size { min, max } => vec![json!(min), json!(max)],
        OptionKind::Duration { min, max } => vec![json!(min), json!(max)],
        OptionKind::Boolean => vec![json!(false), json!(true)],
        OptionKind::Choice { of } => of.iter().map(|word| json!(word)).collect(),
        OptionKind::Text => {
            vec![json!(""), json!("x".repeat(4096)), json!("it's \"$(id)\"; `id`\n\u{e9}\u{1f600}")]
        }
        OptionKind::Words { min, max } => {
            [*min.max(&1), *max.min(&100)].map(|n| json!(vec!["check"; n as usize])).into()
        }
        OptionKind::Pattern => vec![json!("([0-9]+)"), json!("^$")],
        OptionKind::Pointer => vec![json!(""), json!("/check/0")],
        OptionKind::Metrics { sources, .. } => sources.iter().flat_map(metrics_from).collect(),
    }
}

/// Lists of one metric whose value comes from `source`, one for each of its values.
fn metrics_from(source: &OptionSpec) -> Vec<Value> {
    let with = |value: Value| {
        let mut metric =
            json!({"name": "check", "label": "check", "unit": "s", "better": "lower", "headline": true});
        metric[&source.name] = value;
        json!([metric])
    };
    limits(source).into_iter().map(with).collect()
}
