//! Where the vcpus of a configuration may run: `cpus` and xm's `cpu`.
//!
//! Owns the forms of the two. It must never guess at a set that cannot be read.

use std::collections::BTreeMap;

use super::settings::Settings;
use super::value::Value;
use crate::cpus::{self, CpusError};
use crate::guest::Pinning;
use crate::problem::{Place, Problems, code_point, quoted};

/// The pinning; `None` where every vcpu may run everywhere, or it cannot be read.
pub(super) fn pinning(settings: &mut Settings) -> Option<Pinning> {
    let Some(entry) = settings.entry("cpus").cloned() else {
        let cpu = settings.entry("cpu").filter(|entry| matches!(entry.value, Value::Number(0..)))?.clone();
        let cpus = set(&cpu.value, cpu.at, settings.problems)?;
        return Some(Pinning { cpus, ..Pinning::default() });
    };
    let Value::List(items) = &entry.value else {
        let cpus = set(&entry.value, entry.at, settings.problems)?;
        return Some(Pinning { cpus, ..Pinning::default() });
    };
    let mut each = BTreeMap::new();
    for (vcpu, item) in (0..).zip(items) {
        if let Some(cpus) = set(&item.value, item.at, settings.problems) {
            each.insert(vcpu, cpus);
        }
    }
    let all: std::collections::BTreeSet<u32> = each.values().flatten().copied().collect();
    (!each.is_empty()).then(|| Pinning { cpus: all.into_iter().collect(), each, emulator: None })
}

fn set(value: &Value, at: Place, problems: &mut Problems) -> Option<Vec<u32>> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        _ => {
            problems.error(at, "'cpus' is a set of CPUs like '0-3,^1', or a list of such sets: left out");
            return None;
        }
    };
    match cpus::parse(&text) {
        Ok(Some(cpus)) if cpus.is_empty() => {
            problems.error(at, format!("{} leaves no CPU: left out", quoted(&text)));
            None
        }
        Ok(cpus) => cpus,
        Err(CpusError::Host(part)) => {
            let part = quoted(&part);
            problems.warning(
                at,
                format!("which CPUs {part} means, only the host knows: write their numbers to repeat it"),
            );
            None
        }
        Err(CpusError::Part(part)) => {
            let odd = part
                .chars()
                .find(|c| !c.is_ascii())
                .map(|c| format!(" ({})", code_point(c)))
                .unwrap_or_default();
            let meant = cpus::with_carets(&text).map(|text| {
                let all = cpus::parse(&text).ok().flatten().map(|cpus| cpus::text(&cpus)).unwrap_or_default();
                format!("; is '{text}' meant, that is {all}?")
            });
            let (part, meant) = (quoted(&part), meant.unwrap_or_default());
            problems.error(
                at,
                format!("{part}{odd} is no part of a set of CPUs like 0-3,^1: the set is left out{meant}"),
            );
            None
        }
    }
}
