//! How cells are measured, as a scenario says it: load, warm-up, page caches, prefill, and the telemetry it wants.
//!
//! Owns these keys and their defaults. It must never know what telemetry is offered.

use crossvisor_model::{Bytes, Caches, Load, Measuring, Name, Seconds, Warmup};

use crate::reader::{Fields, Reader};
use crate::source::Spanned;
use crate::suggest;
use crate::tree::{Node, Value};

/// The keys of the scenario that are read here.
pub(crate) const KEYS: [&str; 5] = ["load", "warmup", "caches", "prefill", "telemetry"];
/// What stands for no telemetry at all.
pub(crate) const NONE: &str = "none";
const MAX_WARMUPS: i128 = 1000;
/// A millisecond to a day.
const WARMUP_S: std::ops::RangeInclusive<f64> = 0.001..=86_400.0;
/// 1 MiB, by which it is written, to 1 PiB.
const PREFILL: std::ops::RangeInclusive<Bytes> = Bytes(Bytes::MIB)..=Bytes(1 << 50);

/// Reads what is there; what is left out or wrong has its default.
pub(crate) fn measuring(reader: &mut Reader, fields: &Fields) -> Measuring {
    let loads = [("once", Load::Once), ("until-all-finish", Load::UntilAllFinish)];
    let caches = [("drop", Caches::Drop), ("keep", Caches::Keep)];
    Measuring {
        load: word(reader, fields, "load", &loads),
        warmup: fields.get("warmup").and_then(|node| warmup(reader, node)).unwrap_or_default(),
        caches: word(reader, fields, "caches", &caches),
        prefill: fields.get("prefill").and_then(|node| prefill(reader, node)),
    }
}

/// The telemetry offers that are wanted; `None`: all that there are.
pub(crate) fn telemetry(reader: &mut Reader, fields: &Fields) -> Option<Vec<Spanned<Name>>> {
    let node = fields.get("telemetry")?;
    let items = reader.list(node, "telemetry")?;
    let names: Vec<_> = items.iter().filter_map(|item| reader.name(item, "telemetry")).collect();
    Some(match names.as_slice() {
        [one] if one.value.as_str() == NONE => Vec::new(),
        _ => names,
    })
}

/// One of a few words; the first is the default.
fn word<T: Copy + Default>(reader: &mut Reader, fields: &Fields, key: &str, words: &[(&str, T)]) -> T {
    let written = fields.get(key).and_then(|node| reader.text(node, key, "a word"));
    let Some(written) = written else { return T::default() };
    let found = words.iter().find(|(word, _)| *word == written.value).map(|(_, value)| *value);
    if found.is_none() {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let help = suggest::among(&written.value, "the choices are", &known);
        reader.problem(written.span, format!("{key} cannot be '{}'", written.value), help);
    }
    found.unwrap_or_default()
}

/// `2` or `30s`.
fn warmup(reader: &mut Reader, node: &Node) -> Option<Warmup> {
    let is_time = matches!(&node.value, Value::Scalar { text, .. } if text.parse::<Seconds>().is_ok());
    if is_time {
        return reader.time(node, "warmup", WARMUP_S).map(|time| Warmup::For(time.value));
    }
    let times = reader.whole(node, "warmup", 0..=MAX_WARMUPS)?;
    u32::try_from(times.value).ok().map(Warmup::Times)
}

fn prefill(reader: &mut Reader, node: &Node) -> Option<Bytes> {
    let size = reader.size(node, "prefill")?;
    reader.in_range(size, "prefill", PREFILL).map(|size| size.value)
}
