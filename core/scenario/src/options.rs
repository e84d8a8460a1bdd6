//! Options of an offer, checked against what the offer says of them.
//!
//! Owns the way from a YAML value to the JSON form that plugins get. It must never invent an option.

use crossvisor_model::{OptionKind, OptionSpec, Options};
use serde_json::Value;

use crate::reader::Reader;
use crate::source::Spanned;
use crate::suggest;
use crate::tree::Node;

/// The options set in `written`, and the defaults of the others.
pub(crate) fn check(
    reader: &mut Reader,
    offer: &str,
    specs: &[OptionSpec],
    written: &[(Spanned<String>, Node)],
) -> Options {
    let mut options: Options =
        specs.iter().filter_map(|spec| Some((spec.name.clone(), spec.default.clone()?))).collect();
    for (key, node) in written {
        let Some(spec) = specs.iter().find(|spec| spec.name == key.value) else {
            let mut known: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
            known.push("use");
            let help = suggest::among(&key.value, &format!("the keys for {offer} are"), &known);
            reader.problem(key.span, format!("'{offer}' has no option '{}'", key.value), help);
            continue;
        };
        if let Some(value) = value(reader, spec, node) {
            options.insert(spec.name.clone(), value);
        }
    }
    options
}

fn value(reader: &mut Reader, spec: &OptionSpec, node: &Node) -> Option<Value> {
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
        OptionKind::Text => text(reader, what, node),
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

fn text(reader: &mut Reader, what: &str, node: &Node) -> Option<Value> {
    let text = reader.text(node, what, "a text")?;
    if text.value.contains('\0') {
        reader.problem(node.span, format!("{what} contains a NUL character"), "leave it out");
        return None;
    }
    Some(Value::from(text.value))
}
