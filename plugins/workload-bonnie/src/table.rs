//! The table for people that bonnie++ and bon_csv2txt print.
//!
//! Owns its headings, rows and columns, and which of them a version prints wrongly. It must never read a table of
//! another make.

use crate::cell::{Files, Reading, latency_ms, number, rate, size_mib, version};
use crate::lines::Line;
use crate::record::{Record, Setup};
use crate::row::{self, Row};
use crate::stage::IO_STAGES;

/// Lines without a row after which a heading has none: headings take three, or six where a mail broke them.
const PATIENCE: usize = 9;
/// A table of files this many lines below the data stages is not of the same run.
const APART: usize = 2;
/// From 1.98 on, where a table does not say.
const SEEKS: u64 = 8192;
const COUNTS: &str =
    "bonnie++ 1.98 to 2.00a prints the number of files in this place of the table, not a rate";

/// What a table gave: its results, the lines that it takes, and what it lacks.
#[derive(Debug, Default, PartialEq)]
pub struct Table {
    pub records: Vec<Record>,
    pub used: usize,
    pub fault: Option<String>,
}

/// What the headings say.
#[derive(Clone, Default)]
struct Heading {
    version: Option<String>,
    concurrency: Option<u64>,
    machine: Option<String>,
    /// Of 1.98 or later.
    late: bool,
    /// By bon_csv2txt, which prints right rates and another order in the first cell.
    converted: bool,
    /// Sizes are plain numbers of MiB, as 1.00 prints them.
    plain: bool,
}

/// The table that begins on the first line; `None` when none does.
pub fn read(lines: &[Line]) -> Option<Table> {
    let first = lines.first()?;
    let data = is_data_heading(&first.text);
    if !data && !is_files_heading(&first.text) {
        return None;
    }
    let mut heading = Heading::default();
    let (mut records, mut used) = if data { section(lines, &mut heading, data_row) } else { (Vec::new(), 0) };
    let next = lines[used..].iter().take(APART).position(|line| is_files_heading(&line.text));
    if let Some(gap) = next {
        let (files, more) = section(&lines[used + gap..], &mut heading, files_row);
        used += gap + more;
        records = joined(records, files);
    }
    let fault = records.is_empty().then(|| {
        "expected a row with a size or a number of files, and 12 values (8 without the stages that go character by \
         character), under the heading of a bonnie++ table, found none"
            .into()
    });
    Some(Table { records, used: used.max(1), fault })
}

fn is_data_heading(text: &str) -> bool {
    text.contains("--Sequential Output--")
}

fn is_files_heading(text: &str) -> bool {
    text.contains("--Sequential Create--")
}

/// The rows under a heading, and the lines up to the last of them.
fn section(
    lines: &[Line],
    heading: &mut Heading,
    read: fn(&Heading, &Row) -> Option<Record>,
) -> (Vec<Record>, usize) {
    heading.take(&lines[0].text);
    let mut records = Vec::new();
    let mut used = 1;
    let mut at = 1;
    while at < lines.len() && at < used + PATIENCE {
        let text = &lines[at].text;
        if is_data_heading(text) || is_files_heading(text) {
            break;
        }
        let row = Row::at(&lines[at..]);
        if let Some(mut record) = read(heading, &row) {
            at += row.lines;
            if let Some(latencies) = lines.get(at).filter(|line| line.text.starts_with("Latency")) {
                let more = row::values_after(&lines[at..]);
                set_latencies(&mut record, &latencies.text, &more.words);
                at += more.lines;
            }
            records.push(record);
            used = at;
        } else if !records.is_empty() {
            break;
        } else {
            heading.take(text);
            at += 1;
        }
    }
    (records, used)
}

impl Heading {
    /// What one line of a heading says.
    fn take(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        match words.next() {
            Some("Version") => {
                let said = words.next().filter(|word| version(word).is_some());
                self.version = said.map(String::from).or(self.version.take());
                self.converted = text.contains(&format!("{}   ---", self.version.as_deref().unwrap_or("?")));
            }
            Some("Concurrency") => self.concurrency = words.next().and_then(|word| word.parse().ok()),
            Some("Machine") => self.plain = text.contains(" MB "),
            Some("Name:Size") => self.late = true,
            _ => {}
        }
        if let Some((machine, _)) = text.split_once("-Create--").filter(|_| !text.contains("Sequential")) {
            self.machine = Some(machine.trim().to_string()).filter(|machine| !machine.is_empty());
        }
        self.converted |= is_files_heading(text) && self.is_late() && !text.starts_with("Version");
    }

    fn is_late(&self) -> bool {
        self.late || self.version.as_deref().and_then(version).is_some_and(|era| era >= (1, 98))
    }

    fn record(&self, machine: Option<String>, setup: Setup) -> Record {
        let era = self.version.as_deref().and_then(version);
        let format = era.map(|era| match era {
            _ if era < (1, 90) => "1".to_string(),
            _ if era < (1, 98) => self.version.clone().unwrap_or_default(),
            _ => "1.98".to_string(),
        });
        Record { machine, version: self.version.clone(), format, setup, ..Record::default() }
    }

    /// The first cell: `2G`, `2G:64k`, and from 1.98 on `2G:64k:concurrency:seeks:seekers`, or by bon_csv2txt
    /// `2G:64k:seeks:seekers`, where what is the default is empty or left out.
    fn setup(&self, cell: &str) -> Option<Setup> {
        let mut parts = cell.split(':');
        let size = parts.next()?;
        let letter = size.ends_with(|c: char| c.is_ascii_alphabetic());
        let size_mib = Some(size_mib(size).filter(|_| letter || self.plain)?);
        let mut next = |read: fn(&str) -> Option<u64>| match parts.next() {
            None | Some("") => Some(None),
            Some(part) => read(part).map(Some),
        };
        let chunk_bytes = next(crate::cell::chunk_bytes)?;
        let own = self.is_late() && !self.converted;
        let concurrency = if own { next(crate::cell::whole)?.or(Some(1)) } else { self.concurrency };
        let seeks = next(crate::cell::whole)?.or(self.is_late().then_some(SEEKS));
        let seekers = next(crate::cell::whole)?;
        Some(Setup { size_mib, chunk_bytes, concurrency, seeks, seekers, files: None })
    }
}

/// A row of the data stages: name, size and the values of all six stages, or of the four that go block by block.
fn data_row(heading: &Heading, row: &Row) -> Option<Record> {
    let words = &row.words;
    let stages: &[(usize, &[usize])] = &[(12, &[0, 1, 2, 3, 4, 5]), (8, &[1, 2, 4, 5])];
    stages.iter().find_map(|(values, stages)| {
        let size = words.len().checked_sub(values + 1)?;
        let mut record = heading.record(name(&words[..size]), heading.setup(words[size])?);
        for (&stage, pair) in stages.iter().zip(words[size + 1..].chunks(2)) {
            let readings = &mut record.stages[stage];
            (readings.speed, readings.cpu) = (row::speed(pair[0])?, rate(pair[1])?);
            // bon_csv2txt reckons with the plus signs and prints `0k`
            if readings.cpu == Reading::TooFast {
                readings.speed = Reading::TooFast;
            }
        }
        Some(record)
    })
}

/// A row of the file operations: the number of files and the values of the six stages.
fn files_row(heading: &Heading, row: &Row) -> Option<Record> {
    let words = &row.words;
    let at = words.len().checked_sub(13)?;
    let files = Files::parse(words[at])?;
    let counts = heading.is_late() && !heading.converted;
    let mut record = heading.record(
        name(&words[..at]).or_else(|| heading.machine.clone()),
        Setup { files: Some(files), concurrency: heading.concurrency, ..Setup::default() },
    );
    for (readings, pair) in record.stages[IO_STAGES..].iter_mut().zip(words[at + 1..].chunks(2)) {
        (readings.speed, readings.cpu) = (rate(pair[0])?, rate(pair[1])?);
        let count = number(pair[0]).is_some_and(|rate| rate == files.number as f64 * 1024.0);
        if readings.speed != Reading::TooFast && (counts || heading.is_late() && count) {
            readings.speed = Reading::Unknown(COUNTS);
        }
    }
    Some(record)
}

/// The worst latencies under a row. Where one is missing, the column tells which.
fn set_latencies(record: &mut Record, text: &str, words: &[&str]) {
    /// Each column ends this many characters behind the one before it, the first 27 behind the line's begin.
    const COLUMN: usize = 10;
    let of_files = record.setup.files.is_some();
    let stages = if of_files { IO_STAGES..2 * IO_STAGES } else { 0..IO_STAGES };
    let ran: Vec<usize> =
        stages.clone().filter(|&stage| record.stages[stage].speed != Reading::NotRun).collect();
    let mut set = |stage: usize, word: &str| {
        if let Some(latency) = latency_ms(word) {
            record.stages[stage].latency = latency;
        }
    };
    if words.len() == ran.len() {
        ran.iter().zip(words).for_each(|(&stage, word)| set(stage, word));
        return;
    }
    for word in text.split_whitespace().skip(1) {
        let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        let column = end.checked_sub(27).filter(|past| past % COLUMN == 0).map(|past| past / COLUMN);
        if let Some(stage) = column.filter(|&column| column < IO_STAGES) {
            set(stages.start + stage, word);
        }
    }
}

fn name(words: &[&str]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(" "))
}

/// The results of both halves: of one machine as they are, of more by their names, which each half cuts where it must.
fn joined(data: Vec<Record>, files: Vec<Record>) -> Vec<Record> {
    let mut joined = data;
    let alone = joined.len() == 1 && files.len() == 1;
    for file in files {
        let same = |record: &Record| record.setup.files.is_none() && (alone || same_name(record, &file));
        match joined.iter_mut().find(|record| same(record)) {
            Some(record) => {
                record.setup.files = file.setup.files;
                record.stages[IO_STAGES..].copy_from_slice(&file.stages[IO_STAGES..]);
                let length = |name: &Option<String>| name.as_ref().map_or(0, String::len);
                if length(&file.machine) > length(&record.machine) {
                    record.machine = file.machine;
                }
            }
            None => joined.push(file),
        }
    }
    joined
}

fn same_name(one: &Record, other: &Record) -> bool {
    match (&one.machine, &other.machine) {
        (Some(one), Some(other)) => one.starts_with(other.as_str()) || other.starts_with(one.as_str()),
        (one, other) => one == other,
    }
}
