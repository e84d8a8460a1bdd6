//! The tables of xentop, of every column set, also where their lines were broken in two.
//!
//! Owns headings and rows. A row ends when it has a word for each heading, whatever lines they stand on.

use crossvisor_plugin::model::Values;
use crossvisor_plugin::{ImportOutput, Refused};

use super::{imported, put, take_back};
use crate::words;

/// Headings behind NAME and STATE, and their metrics.
const COLUMNS: [(&str, &str); 16] = [
    ("CPU(sec)", "cpu time"),
    (RATE, "cpu"),
    ("MEM(k)", "memory"),
    ("MEM(%)", "memory share"),
    ("MAXMEM(k)", "max memory"),
    ("MAXMEM(%)", "max memory share"),
    ("VCPUS", "vcpus"),
    ("NETS", "nets"),
    ("NETTX(k)", "net sent"),
    ("NETRX(k)", "net received"),
    ("VBDS", "vbds"),
    ("VBD_OO", "vbd out of requests"),
    ("VBD_RD", "vbd reads"),
    ("VBD_WR", "vbd writes"),
    ("VBD_RSECT", "vbd sectors read"),
    ("VBD_WSECT", "vbd sectors written"),
];
/// The heading of the CPU rate.
pub const RATE: &str = "CPU(%)";
/// The heading that ends a table's; it has no metric.
const LAST: &str = "SSID";

/// What was printed at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Behind NAME and STATE.
    headings: Vec<String>,
    pub rows: Vec<Row>,
}

/// What was printed of one domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The line that it begins on.
    line: usize,
    pub domain: String,
    /// By the headings.
    values: Vec<String>,
}

/// Reads tables line by line.
#[derive(Default)]
struct Reader {
    tables: Vec<Table>,
    in_headings: bool,
    /// A row that lacks words.
    open: Option<Row>,
    refused: Vec<Refused>,
}

/// All tables of a text, and rows that are none.
pub fn tables(text: &str) -> (Vec<Table>, Vec<Refused>) {
    let mut reader = Reader::default();
    (1..).zip(text.lines()).for_each(|(number, line)| reader.take(number, &words::of(line)));
    reader.close();
    (reader.tables, reader.refused)
}

pub fn import(text: &str, output: &mut ImportOutput) {
    let (tables, refused) = tables(text);
    output.refused.extend(refused);
    let (version, cpus) = host(text);
    for (number, table) in tables.iter().enumerate() {
        let no_rate = number == 0 && table.rows.iter().all(|row| table.value(row, RATE) == Some(0.0));
        for row in &table.rows {
            let mut values = Values::default();
            for (heading, word) in table.headings.iter().zip(&row.values) {
                if let Some((_, metric)) = COLUMNS.iter().find(|(known, _)| known == heading) {
                    put(&mut values, metric, 1.0, word);
                }
            }
            if no_rate {
                take_back(&mut values, "cpu", "xentop has no rate in its first table, and prints 0.0");
            }
            let cpus = cpus.iter().map(|cpus| ("host cpus", cpus.clone()));
            let settings: Vec<_> = [("domain", row.domain.clone())].into_iter().chain(cpus).collect();
            let mut result = imported(row.line, &settings, values);
            result.versions.extend(version.iter().map(|version| ("xen".to_string(), version.clone())));
            output.results.push(result);
        }
    }
}

/// Xen's version and the host's CPUs, of `xentop - 02:01:05  Xen 4.17.5` and `Mem: … CPUs: 8 @ 2112MHz`.
fn host(text: &str) -> (Option<String>, Option<String>) {
    let behind = |line: &str, mark: &str| {
        let words = words::of(line);
        let at = words.iter().position(|word| *word == mark)?;
        words.get(at + 1).map(|word| (*word).to_string())
    };
    let mut banners = text.lines().filter(|line| line.contains("xentop - "));
    let mut memory = text.lines().filter(|line| line.contains("CPUs: "));
    (banners.find_map(|line| behind(line, "Xen")), memory.find_map(|line| behind(line, "CPUs:")))
}

impl Table {
    /// The number of a row under a heading.
    pub fn value(&self, row: &Row, heading: &str) -> Option<f64> {
        let at = self.headings.iter().position(|known| known == heading)?;
        row.values.get(at).and_then(|word| words::number(word))
    }
}

impl Reader {
    fn take(&mut self, number: usize, words: &[&str]) {
        if words.starts_with(&["NAME", "STATE"]) {
            self.close();
            self.tables.push(Table::default());
            self.head(&words[2..]);
        } else if self.in_headings && words.first().is_some_and(|word| is_heading(word)) {
            self.head(words);
        } else if let Some((domain, words)) = row(words) {
            self.close();
            self.open = Some(Row { line: number, domain, values: Vec::new() });
            self.fill(words);
        } else if self.open.is_some() && words.iter().all(|word| is_value(word)) {
            self.fill(words);
        }
    }

    fn head(&mut self, words: &[&str]) {
        self.in_headings = !words.contains(&LAST);
        if let Some(table) = self.tables.last_mut() {
            table.headings.extend(words.iter().map(ToString::to_string));
        }
    }

    /// Adds words to the open row, and closes it once it has all.
    fn fill(&mut self, words: &[&str]) {
        let wanted = self.tables.last().map_or(0, |table| table.headings.len());
        if let Some(row) = &mut self.open {
            for word in words {
                match row.values.last_mut() {
                    Some(last) if last == "no" && *word == "limit" => *last = "no limit".into(),
                    _ => row.values.push((*word).to_string()),
                }
            }
            if row.values.len() >= wanted {
                self.close();
            }
        }
    }

    /// Keeps the open row, where it is one.
    fn close(&mut self) {
        let Some(row) = self.open.take() else { return };
        let reason = match self.tables.last_mut() {
            Some(table) if table.headings.len() == row.values.len() => {
                table.rows.push(row);
                return;
            }
            Some(table) => format!(
                "xentop, domain {}: expected {} values as the headings have, found {}",
                row.domain,
                table.headings.len(),
                row.values.len()
            ),
            None => format!("xentop, domain {}: expected the headings NAME STATE … before it", row.domain),
        };
        self.refused.push(Refused { line: row.line, reason });
    }
}

fn is_heading(word: &str) -> bool {
    word == LAST || COLUMNS.iter().any(|(known, _)| *known == word)
}

/// What may stand in a row behind the state.
fn is_value(word: &str) -> bool {
    words::number(word).is_some() || ["no", "limit", "n/a"].contains(&word)
}

/// The domain and the words behind its state; a long name may touch the state.
fn row<'w>(words: &'w [&'w str]) -> Option<(String, &'w [&'w str])> {
    let at = words.iter().position(|word| words::is_state(word) || touching(word).is_some())?;
    let own = touching(words[at]).filter(|_| !words::is_state(words[at]));
    let name: Vec<&str> = words[..at].iter().copied().chain(own).collect();
    let rest = &words[at + 1..];
    let is_row = !name.is_empty() && rest.first().is_some_and(|word| words::number(word).is_some());
    // A row of xl list has its state behind numbers, and little after it.
    let is_list =
        at >= 3 && words[at - 2..at].iter().all(|word| words::number(word).is_some()) && rest.len() <= 2;
    (is_row && !is_list).then(|| (name.join(" "), rest))
}

/// The name of a word that ends with a state.
fn touching(word: &str) -> Option<&str> {
    let at = word.len().checked_sub(6).filter(|at| *at > 0 && word.is_char_boundary(*at))?;
    words::is_state(&word[at..]).then(|| &word[..at])
}
