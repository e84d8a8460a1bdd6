//! Options of an offer, checked against what the offer says of them.
//!
//! Owns the way from a YAML value to the JSON form that plugins get. It must never invent an option.

use crossvisor_model::{Offer, OptionKind, OptionSpec, Options};
use regex::Regex;
use serde_json::Value;

use crate::metrics::Form;
use crate::reader::Reader;
use crate::source::Spanned;
use crate::suggest;
use crate::tree::Node;

/// Where options are set: for messages, and what else may stand there.
pub(crate) struct Place<'a> {
    /// `fio`, `metric`.
    pub of: &'a str,
    /// Keys that are no options.
    pub extra: &'a [&'a str],
    /// Names of metrics that an option may not describe again.
    pub taken: &'a [String],
}

/// The options of `offer` set in `written`, and the defaults of the others.
pub(crate) fn check(reader: &mut Reader, offer: &Offer, written: &[(Spanned<String>, Node)]) -> Options {
    let taken: Vec<String> = offer.metrics.iter().map(|metric| metric.name.clone()).collect();
    let place = Place { of: offer.name.as_str(), extra: &["use"], taken: &taken };
    set(reader, &place, &offer.options, written)
}

/// The options of `specs` set in `written`, and the defaults of the others.
pub(crate) fn set(
    reader: &mut Reader,
    place: &Place<'_>,
    specs: &[OptionSpec],
    written: &[(Spanned<String>, Node)],
) -> Options {
    let mut options: Options =
        specs.iter().filter_map(|spec| Some((spec.name.clone(), spec.default.clone()?))).collect();
    for (key, node) in written {
        let Some(spec) = specs.iter().find(|spec| spec.name == key.value) else {
            let mut known: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
            known.extend(place.extra);
            let help = suggest::among(&key.value, &format!("the keys for {} are", place.of), &known);
            reader.problem(key.span, format!("'{}' has no option '{}'", place.of, key.value), help);
            continue;
        };
        if let Some(value) = value(reader, place, spec, node) {
            options.insert(spec.name.clone(), value);
        }
    }
    options
}

fn value(reader: &mut Reader, place: &Place<'_>, spec: &OptionSpec, node: &Node) -> Option<Value> {
    let what = spec.name.as_str();
    match &spec.kind {
        OptionKind::Integer { min, max } => {
            let number = reader.whole(node, what, (*min).into()..=(*max).into())?;
            i64::try_from(number.value).ok().map(Value::from)
        }
        OptionKind::Size { min, max } => {
            let size = reader.size(node, what)?;
            let range = crossvisor_model::Bytes(*min)..=crossvisor_model::Bytes(*max);
            reader.in_range(size, what, range).map(|size| Value::from(size.value.0))
        }
        OptionKind::Duration { min, max } => {
            reader.time(node, what, *min..=*max).map(|time| Value::from(time.value.0))
        }
        OptionKind::Boolean => reader.switch(node, what).map(|switch| Value::from(switch.value)),
        OptionKind::Choice { of } => choice(reader, what, of, node),
        OptionKind::Text => text(reader, what, node).map(Value::from),
        OptionKind::Words { min, max } => words(reader, what, (*min, *max), node),
        OptionKind::Pattern => pattern(reader, what, node),
        OptionKind::Pointer => pointer(reader, what, node),
        OptionKind::Metrics { sources, keys } => {
            Form { sources, keys, taken: place.taken }.read(reader, what, node)
        }
    }
}

fn choice(reader: &mut Reader, what: &str, of: &[String], node: &Node) -> Option<Value> {
    let word = reader.text(node, what, "a word")?;
    if of.contains(&word.value) {
        return Some(Value::from(word.value));
    }
    let known: Vec<_> = of.iter().map(String::as_str).collect();
    let help = suggest::among(&word.value, "the choices are", &known);
    reader.problem(node.span, format!("{what} cannot be '{}'", word.value), help);
    None
}

fn text(reader: &mut Reader, what: &str, node: &Node) -> Option<String> {
    let text = reader.text(node, what, "a text")?;
    if text.value.contains('\0') {
        reader.problem(node.span, format!("{what} contains a NUL character"), "leave it out");
        return None;
    }
    Some(text.value)
}

fn words(reader: &mut Reader, what: &str, (min, max): (u64, u64), node: &Node) -> Option<Value> {
    let items = reader.list(node, what)?;
    let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
    reader.in_range(
        Spanned { value: count, span: node.span },
        &format!("the length of {what}"),
        min..=max,
    )?;
    let words: Vec<_> = items.iter().map(|item| text(reader, what, item)).collect();
    words.into_iter().collect::<Option<Vec<_>>>().map(Value::from)
}

fn pattern(reader: &mut Reader, what: &str, node: &Node) -> Option<Value> {
    let text = text(reader, what, node)?;
    if let Err(error) = Regex::new(&text) {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let help = "see https://docs.rs/regex for the syntax; in single quotes YAML leaves backslashes alone";
        reader.problem(node.span, format!("{what} is not a regular expression: {reason}"), help);
        return None;
    }
    Some(Value::from(text))
}

fn pointer(reader: &mut Reader, what: &str, node: &Node) -> Option<Value> {
    let text = text(reader, what, node)?;
    if !text.is_empty() && !text.starts_with('/') {
        let help = format!("write '/' before each step: /{}", text.replace('.', "/"));
        reader.problem(node.span, format!("{what} is not a JSON pointer: '{text}'"), help);
        return None;
    }
    Some(Value::from(text))
}
