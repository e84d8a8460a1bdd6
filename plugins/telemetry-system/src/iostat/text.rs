//! Reports in lines: headings, and under them a row for each device or for the processors.
//!
//! Owns what the lines are. A row counts its values from its name on, so that names that push the columns do no harm.

use crossvisor_plugin::model::Values;
use crossvisor_plugin::{ImportOutput, Imported};

use super::banner::{Banner, refused};
use super::columns::{Column, number};
use super::span;
use crate::diskstats;

/// What the rows under a heading are.
#[derive(Clone, Debug, PartialEq)]
struct Heading {
    of: Of,
    columns: Vec<Column>,
    /// Words before the name: the time, as sar prints it.
    lead: usize,
    /// `iostat -h` has the name behind the values.
    name_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    Devices,
    /// One row without a name.
    Cpus,
    /// A row for each processor and one for all, as sar has it.
    EachCpu,
}

#[derive(Default)]
struct Reader {
    banner: Banner,
    heading: Option<Heading>,
    /// Of devices and of processors, since the banner; `None` without one.
    reports: Option<[usize; 2]>,
    /// A name that stands alone on its line, because it is long.
    alone: Option<String>,
    output: ImportOutput,
}

/// All results of a text.
pub fn import(text: &str) -> ImportOutput {
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader.take(number, line.trim_start_matches(['>', ' ', '\t', '|', '\u{feff}']));
    }
    let found = !reader.output.results.is_empty() || !reader.output.refused.is_empty();
    if !found {
        let expected = "expected a report of iostat or sar -d under its headings (Device or DEV), or lines of \
                        /proc/diskstats; found none";
        reader.output.refused.push(refused(1, expected));
    }
    reader.output
}

impl Reader {
    fn take(&mut self, number: usize, line: &str) {
        if let Some(banner) = Banner::read(line) {
            *self = Self {
                banner,
                reports: Some([0, 0]),
                output: std::mem::take(&mut self.output),
                ..Self::default()
            };
            return;
        }
        if let Some(disk) = diskstats::read(line) {
            self.snapshot(number, disk);
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(heading) = heading(&words) {
            self.begin(number, heading);
        } else if is_other_heading(&words) {
            self.heading = None;
        } else if let Some(heading) = self.heading.take() {
            self.row(number, &heading, &words);
            self.heading = Some(heading);
        }
    }

    fn begin(&mut self, number: usize, heading: Heading) {
        let unknown: Vec<_> =
            heading.columns.iter().filter(|column| !column.is_known()).map(Column::heading).collect();
        if !unknown.is_empty() {
            let columns = unknown.join(", ");
            self.output
                .refused
                .push(refused(number, format!("columns that no sysstat is known to have: {columns}")));
        }
        if let Some(reports) = &mut self.reports {
            reports[usize::from(heading.of != Of::Devices)] += 1;
        }
        self.alone = None;
        self.heading = Some(heading);
    }

    fn row(&mut self, number: usize, heading: &Heading, words: &[&str]) {
        let average = words.first().is_some_and(|word| *word == "Average:");
        let lead = if average { 1 } else { heading.lead };
        let Some(words) = words.get(lead..).filter(|words| !words.is_empty()) else { return };
        let wanted = heading.columns.len();
        let (name, values) = match (heading.of, self.alone.take(), words) {
            (Of::Cpus, _, values) if is_numbers(values) => (String::new(), values),
            (Of::Cpus, ..) => return,
            (_, Some(name), values) if values.len() == wanted && is_numbers(values) => (name, values),
            (_, _, [values @ .., name]) if heading.name_last => ((*name).to_string(), values),
            (_, _, [name]) if lead == 0 => {
                self.alone = Some((*name).to_string());
                return;
            }
            (_, _, [name, values @ ..]) => ((*name).to_string(), values),
            (_, _, []) => return,
        };
        if values.len() != wanted {
            // A line that is no row has hardly a number behind its first word.
            if values.iter().filter(|word| self::number(word).is_some()).count() * 2 > wanted {
                let reason =
                    format!("{name}: expected {wanted} values as the heading has, found {}", values.len());
                self.output.refused.push(refused(number, reason));
            }
            return;
        }
        if !values.iter().any(|word| self::number(word).is_some()) {
            return;
        }
        let mut all = Values::default();
        heading.columns.iter().zip(values).for_each(|(column, word)| column.put(word, &mut all));
        let result = self.result(number, heading, (name, average), all);
        self.output.results.push(result);
    }

    fn result(
        &self,
        number: usize,
        heading: &Heading,
        (name, average): (String, bool),
        values: Values,
    ) -> Imported {
        let what = match heading.of {
            Of::Devices => ("device", name),
            Of::Cpus => ("processor", "all".into()),
            Of::EachCpu => ("processor", name),
        };
        let report = self.reports.map(|reports| reports[usize::from(heading.of != Of::Devices)]);
        let span = match (average, heading.lead, report) {
            (true, ..) => Some("average of the recording"),
            (false, 0, Some(report)) => Some(span(report)),
            (false, 0, None) => None,
            (false, ..) => Some("interval"),
        };
        let span = span.map(|span| ("span", span.to_string()));
        self.banner.imported(number, [what].into_iter().chain(span), values)
    }

    fn snapshot(&mut self, number: usize, disk: Result<diskstats::Disk<'_>, String>) {
        match disk {
            Ok(disk) => {
                let measured =
                    disk.counters.known().map(|(name, value)| (name.to_string(), value as f64)).collect();
                let settings = [("device", disk.device.to_string()), ("span", "since boot".to_string())];
                let values = Values { measured, ..Values::default() };
                self.output.results.push(self.banner.imported(number, settings, values));
            }
            Err(reason) => self.output.refused.push(refused(number, format!("/proc/diskstats: {reason}"))),
        }
    }
}

fn heading(words: &[&str]) -> Option<Heading> {
    let at = words.iter().position(|word| ["Device", "Device:", "DEV", "CPU", "avg-cpu:"].contains(word))?;
    let (of, lead) = match words[at] {
        "avg-cpu:" => (Of::Cpus, 0),
        "CPU" => (Of::EachCpu, at),
        _ => (Of::Devices, at),
    };
    let name_last = at + 1 == words.len() && at > 0;
    let columns = if name_last { &words[..at] } else { &words[at + 1..] };
    let columns: Vec<Column> = columns.iter().map(|heading| Column::new(heading)).collect();
    let lead = if name_last { 0 } else { lead };
    columns.iter().any(Column::is_known).then_some(Heading { of, columns, lead, name_last })
}

/// Headings of what else these programs print: `03:00:23 PM IFACE rxpck/s`, `Filesystem: rkB_nor/s`.
fn is_other_heading(words: &[&str]) -> bool {
    let counts = words.iter().filter(|word| word.ends_with("/s")).count();
    counts > 0 && words.iter().all(|word| number(word).is_none())
}

fn is_numbers(words: &[&str]) -> bool {
    words.iter().all(|word| number(word).is_some())
}
