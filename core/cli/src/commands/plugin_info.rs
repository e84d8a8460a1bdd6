//! `crossvisor plugin info`: all that a plugin says of itself.

use std::io::{self, Write};
use std::path::PathBuf;

use crossvisor_loader::Plugin;
use crossvisor_model::{Bytes, MetricSpec, Name, Offer, OptionKind, OptionSpec, Seconds};
use serde_json::Value;

use crate::exit::Failure;
use crate::inventory;
use crate::output::{self, line, long_line};

/// # Errors
/// [`Failure::NoPlugin`] when it is not loaded, [`Failure::Plugin`] for a file named with `--plugin` that is not;
/// [`Failure::Output`] when standard output does not take it.
pub fn execute(name: &Name, as_json: bool, explicit: Vec<(Name, PathBuf)>) -> Result<(), Failure> {
    let loaded = inventory::plugins(explicit)?;
    let Some(plugin) = loaded.plugins.get(name) else {
        let considered = loaded.candidates.iter().find(|one| one.name == name.as_str());
        let hint = considered.map_or("'crossvisor plugin list' shows those that are".into(), |one| {
            format!("{}: {}", one.origin, one.reason)
        });
        return Err(Failure::NoPlugin { name: name.clone(), hint });
    };
    output::show(|out| {
        if as_json {
            serde_json::to_writer_pretty(&mut *out, &plugin.manifest)?;
            return writeln!(out);
        }
        text(plugin, out)
    })
}

fn text(plugin: &Plugin, out: &mut dyn Write) -> io::Result<()> {
    let manifest = &plugin.manifest;
    writeln!(out, "{} {} ({})", manifest.name, line(&manifest.version), manifest.kind)?;
    writeln!(out, "  {}", line(&manifest.summary))?;
    writeln!(out, "  from {}, run {}", long_line(&plugin.origin.to_string()), plugin.way())?;
    manifest.offers.iter().try_for_each(|offer| describe(offer, out))
}

fn describe(offer: &Offer, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}: {}", offer.name, line(&offer.summary))?;
    for option in &offer.options {
        let OptionSpec { name, kind, default, help } = option;
        let default = default.as_ref().map_or("unset".into(), |value| value_text(kind, value));
        writeln!(out, "  option  {:<14} {} [{}; default: {default}]", line(name), line(help), form(kind))?;
    }
    for MetricSpec { name, label, unit, .. } in &offer.metrics {
        writeln!(out, "  metric  {:<14} {}, {}", line(name), line(label), line(unit))?;
    }
    for (place, programs) in [("host", &offer.host_programs), ("guest", &offer.guest_programs)] {
        if !programs.is_empty() {
            writeln!(out, "  needs   on the {place}: {}", line(&programs.join(", ")))?;
        }
    }
    Ok(())
}

fn form(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Integer { min, max } => format!("integer, {min} to {max}"),
        OptionKind::Size { min, max } => format!("size, {} to {}", Bytes(*min), Bytes(*max)),
        OptionKind::Duration { min, max } => format!("duration, {} to {}", Seconds(*min), Seconds(*max)),
        OptionKind::Boolean => "true or false".into(),
        OptionKind::Choice { of } => format!("one of {}", line(&of.join(", "))),
        OptionKind::Text => "text".into(),
        OptionKind::Words { min, max } => format!("list of {min} to {max} texts"),
        OptionKind::Pattern => "regular expression".into(),
        OptionKind::Pointer => "JSON pointer".into(),
        OptionKind::Metrics { sources, keys } => format!(
            "list of metrics: name, unit, better, label, headline; one of {}; {}",
            names(sources),
            names(keys)
        ),
    }
}

fn names(specs: &[OptionSpec]) -> String {
    line(&specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>().join(", "))
}

fn value_text(kind: &OptionKind, value: &Value) -> String {
    match (kind, value) {
        (OptionKind::Size { .. }, value) if value.is_u64() => {
            Bytes(value.as_u64().unwrap_or_default()).to_string()
        }
        (OptionKind::Duration { .. }, Value::Number(seconds)) => format!("{seconds}s"),
        (_, Value::String(text)) => line(text),
        (_, other) => other.to_string(),
    }
}
