//! The tables of `xl list` and `xl vcpu-list`, and of xm's.
//!
//! Owns their rows, also where a mail broke the affinity into a line of its own.

use crossvisor_plugin::ImportOutput;
use crossvisor_plugin::model::Values;

use super::{imported, put};
use crate::words;

/// KiB of a MiB.
const MIB: f64 = 1024.0;
/// What the hypervisor's own console begins its lines with.
const CONSOLE: &str = "(XEN)";

/// Which table the lines are of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Table {
    None,
    Domains,
    Vcpus,
}

pub fn import(text: &str, output: &mut ImportOutput) {
    let mut table = Table::None;
    let first = output.results.len();
    let mut noise = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let words = words::of(line);
        match table_of(&words).unwrap_or(table) {
            new if new != table => table = new,
            Table::None => {}
            _ if words.first() == Some(&CONSOLE) => noise += 1,
            Table::Domains => output.results.extend(domain(number, &words)),
            Table::Vcpus => match vcpu(number, &words) {
                Some(result) => output.results.push(result),
                None => more_affinity(&words, output.results.last_mut()),
            },
        }
    }
    if let Some(result) = output.results.get_mut(first).filter(|_| noise > 0) {
        result
            .warnings
            .push(format!("{noise} lines of the hypervisor's console stand among the rows: left out"));
    }
}

/// The table whose headings the line is.
fn table_of(words: &[&str]) -> Option<Table> {
    match words {
        ["NAME", "STATE", ..] => Some(Table::None),
        ["Name", id, rest @ ..] if id.eq_ignore_ascii_case("id") => match rest {
            _ if rest.starts_with(&["VCPU", "CPU", "State"]) => Some(Table::Vcpus),
            [memory, ..] if memory.starts_with("Mem") => Some(Table::Domains),
            _ => Some(Table::None),
        },
        _ => None,
    }
}

/// `Domain-0  0  4096  4  r-----  123.4`.
fn domain(line: usize, words: &[&str]) -> Option<crossvisor_plugin::Imported> {
    let at = words.iter().position(|word| words::is_state(word)).filter(|at| *at >= 4)?;
    let [name @ .., id, memory, vcpus] = &words[..at] else { return None };
    words::number(id)?;
    let mut values = Values::default();
    put(&mut values, "memory", MIB, memory);
    put(&mut values, "vcpus", 1.0, vcpus);
    put(&mut values, "cpu time", 1.0, words.get(at + 1).copied().unwrap_or_default());
    let settings = [("domain", name.join(" ")), ("id", (*id).to_string())];
    Some(imported(line, &settings, values))
}

/// `Domain-0  0  1  3  -b-  457.2  all / all`.
fn vcpu(line: usize, words: &[&str]) -> Option<crossvisor_plugin::Imported> {
    let is_state = |(at, word): (usize, &&str)| at >= 4 && words::is_vcpu_state(word);
    let at = words.iter().enumerate().position(is_state)?;
    let [name @ .., _, vcpu, cpu] = &words[..at] else { return None };
    words::number(vcpu)?;
    let mut values = Values::default();
    put(&mut values, "cpu time", 1.0, words.get(at + 1).copied().unwrap_or_default());
    let state = match words[at] {
        "r--" => "running",
        "-b-" => "blocked",
        "--p" => "offline",
        _ => "ready",
    };
    let affinity = words.get(at + 2..).unwrap_or_default().join(" ");
    let settings = [
        ("domain", name.join(" ")),
        ("vcpu", (*vcpu).to_string()),
        ("on cpu", (*cpu).to_string()),
        ("state", state.to_string()),
        ("affinity", affinity),
    ];
    Some(imported(line, &settings, values))
}

/// The rest of an affinity that stands on a line of its own.
fn more_affinity(words: &[&str], last: Option<&mut crossvisor_plugin::Imported>) {
    let affinity = last.and_then(|result| result.settings.get_mut("affinity"));
    if let Some(affinity) = affinity.filter(|text| text.is_empty() || text.ends_with('/')) {
        *affinity = format!("{affinity} {}", words.join(" ")).trim().to_string();
    }
}
