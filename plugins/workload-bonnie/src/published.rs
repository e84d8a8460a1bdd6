//! Results of bonnie++ in the tables of wikis and Markdown pages, one machine a row.
//!
//! Owns what a column means by the words in its headings. It must never take a column whose headings do not say.

use std::collections::HashMap;

use crate::cell::{Reading, rate, size_mib, version};
use crate::cells::{self, Cells};
use crate::find::{Find, What};
use crate::lines::Line;
use crate::record::{GETC, PUTC, Record, SEEKS};
use crate::stage::IO_STAGES;

const WRITE: usize = 1;
const REWRITE: usize = 2;
const READ: usize = 4;
const NO_UNIT: &str = "the table does not say the unit of this column";
const MEGABYTES: &str = "the table gives MB/s, which may be 1000 or 1024 KiB/s";
const NO_NUMBER: &str = "the cell of the table is not a number as bonnie++ prints it";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Nothing,
    Size,
    Speed { stage: usize, unit: Unit },
    Cpu { stage: usize },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// KiB, seeks or files per second.
    Own,
    Mebibytes,
    Unknown(&'static str),
}

/// All results in tables of this kind. Tables below each other that name the same machines are parts of one.
pub fn find(lines: &[Line]) -> Vec<Find> {
    if !lines.iter().any(|line| cells::is_row(line.raw)) {
        return Vec::new();
    }
    let mut page = Page::default();
    lines.iter().enumerate().for_each(|(index, line)| page.line(index, line));
    page.found()
}

#[derive(Default)]
struct Page {
    version: Option<String>,
    is_bonnie: bool,
    /// The last line that is no row of a table, in lower case.
    title: String,
    /// The headings of each column of the table, from the upper to the lower.
    headings: Vec<Vec<String>>,
    in_headings: bool,
    columns: Vec<Column>,
    records: Vec<(usize, Record)>,
    by_name: HashMap<String, usize>,
    last: usize,
}

impl Page {
    fn line(&mut self, index: usize, line: &Line) {
        let Some(cells) = Cells::parse(line.raw) else {
            self.prose(line.raw);
            return;
        };
        if cells.is_rule() {
            return;
        }
        if !cells.has_figures() {
            self.heading(&cells);
        } else {
            if self.in_headings {
                self.columns = self.meanings();
                self.in_headings = false;
            }
            self.row(index, &cells);
        }
    }

    fn prose(&mut self, raw: &str) {
        if raw.trim().is_empty() {
            return;
        }
        self.title = raw.to_lowercase();
        self.headings.clear();
        self.columns.clear();
        if let Some((_, after)) = self.title.split_once("bonnie") {
            self.is_bonnie = true;
            let words = after.split(|c: char| c.is_whitespace() || "(),;".contains(c));
            let mut versions = words.map(|word| word.trim_start_matches('v').trim_end_matches('.'));
            self.version =
                versions.find(|word| version(word).is_some()).map(String::from).or(self.version.take());
        }
    }

    fn heading(&mut self, cells: &Cells) {
        if !self.in_headings {
            self.headings.clear();
            self.in_headings = true;
        }
        let width = self.headings.len().max(cells.texts.len());
        self.headings.resize(width, Vec::new());
        for (column, text) in self.headings.iter_mut().zip(&cells.texts) {
            column.push(text.to_lowercase());
        }
    }

    fn meanings(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for headings in &self.headings {
            let left = columns.last().and_then(|column| column.stage());
            columns.push(meaning(headings, &self.title, left));
        }
        columns
    }

    /// A row belongs to the result of the same name, unless that has these figures already.
    fn row(&mut self, index: usize, cells: &Cells) {
        let taken = |column: &Column| matches!(column, Column::Speed { .. });
        if self.columns.iter().filter(|column| taken(column)).count() == 0 {
            return;
        }
        let name = cells.texts[0].clone();
        let mut record =
            Record { machine: Some(name.clone()), version: self.version.clone(), ..Record::default() };
        record.setup.size_mib = size_in(&self.title);
        for (column, text) in self.columns.iter().zip(&cells.texts) {
            column.fill(&mut record, text);
        }
        self.last = index + 1;
        match self
            .by_name
            .get(&name)
            .map(|&at| &mut self.records[at].1)
            .filter(|before| is_apart(before, &record))
        {
            Some(before) => add(before, &record),
            None => {
                self.by_name.insert(name, self.records.len());
                self.records.push((index, record));
            }
        }
    }

    /// The records, if the page is about bonnie++ at all.
    fn found(self) -> Vec<Find> {
        let Self { is_bonnie, records, last, .. } = self;
        let typical = |record: &Record| {
            [PUTC, REWRITE, GETC].iter().any(|&s| record.stages[s].speed != Reading::NotRun)
        };
        let is_bonnie = is_bonnie || records.iter().any(|(_, record)| typical(record));
        let records = records.into_iter().filter(|(_, record)| is_bonnie && record.ran());
        let find = |(index, record): (usize, Record)| Find {
            lines: index..last,
            what: What::Result { record: Box::new(record), warnings: Vec::new(), table: true },
        };
        records.map(find).collect()
    }
}

impl Column {
    fn stage(self) -> Option<usize> {
        match self {
            Self::Speed { stage, .. } | Self::Cpu { stage } => Some(stage),
            Self::Nothing | Self::Size => None,
        }
    }

    fn fill(self, record: &mut Record, text: &str) {
        let reading = if text.is_empty() || text == "-" {
            Reading::NotRun
        } else {
            rate(text).unwrap_or(Reading::Unknown(NO_NUMBER))
        };
        match self {
            Self::Nothing => {}
            Self::Size => record.setup.size_mib = size(text).or(record.setup.size_mib),
            Self::Cpu { stage } => record.stages[stage].cpu = reading,
            Self::Speed { stage, unit } => {
                record.stages[stage].speed = match (unit, reading) {
                    (Unit::Mebibytes, Reading::Measured(speed)) => Reading::Measured(speed * 1024.0),
                    (Unit::Unknown(reason), Reading::Measured(_)) => Reading::Unknown(reason),
                    (_, reading) => reading,
                }
            }
        }
    }
}

/// What a column holds by its headings, the lowest first, and then by the title above the table. The CPU share is in
/// the column right of the speed it belongs to.
fn meaning(headings: &[String], title: &str, left: Option<usize>) -> Column {
    let own = headings.join(" ");
    if own.trim() == "size" || own.contains("file size") {
        return Column::Size;
    }
    let stage = stage(headings, title);
    if own.contains("cpu") || own.contains("%c") {
        let stage = stage.filter(|_| headings.len() > 1).or(left);
        return stage.map_or(Column::Nothing, |stage| Column::Cpu { stage });
    }
    stage.map_or(Column::Nothing, |stage| Column::Speed { stage, unit: unit(&own, title, stage) })
}

fn stage(headings: &[String], title: &str) -> Option<usize> {
    let own = headings.join(" ");
    let all = format!("{title} {own}");
    let says = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    if own.contains("rewrite") {
        return Some(REWRITE);
    }
    if own.contains("seek") {
        return Some(SEEKS);
    }
    if says(&own, &["create", "delet", "stat"]) || says(title, &["sequential create", "random create"]) {
        let first = if says(&all, &["rand"]) { IO_STAGES + 3 } else { IO_STAGES };
        let of = |text: &String| match text {
            text if says(text, &["delet"]) => Some(2),
            text if says(text, &["stat", "read"]) => Some(1),
            text if says(text, &["create"]) => Some(0),
            _ => None,
        };
        return headings.iter().rev().find_map(of).map(|operation| first + operation);
    }
    let (output, input) = (["output", "write", "put"], ["input", "read", "get"]);
    let lowest = [&own, title].into_iter().find(|text| says(text, &output) || says(text, &input))?;
    let (writes, reads) = (
        says(lowest, &output[..2]) || own.contains("putc"),
        says(lowest, &input[..2]) || own.contains("getc"),
    );
    if writes == reads {
        return None;
    }
    if says(&own, &["chr", "char", "putc", "getc"]) {
        Some(if writes { PUTC } else { GETC })
    } else if says(&own, &["block", "seq"]) {
        Some(if writes { WRITE } else { READ })
    } else {
        None
    }
}

fn unit(own: &str, title: &str, stage: usize) -> Unit {
    if stage >= SEEKS {
        return Unit::Own;
    }
    let says = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let of = |text: &str| match text {
        text if says(text, &["kb/s", "k/s", "kib/s", "kbyte/s", "kbytes/s"]) => Some(Unit::Own),
        text if says(text, &["mib/s"]) => Some(Unit::Mebibytes),
        text if says(text, &["mb/s", "m/s", "mbyte/s", "mbytes/s"]) => Some(Unit::Unknown(MEGABYTES)),
        _ => None,
    };
    of(own).or_else(|| of(title)).unwrap_or(Unit::Unknown(NO_UNIT))
}

/// `6G`, `6GB`, `6 GiB`: bonnie++ means 1024 by all of them.
fn size(text: &str) -> Option<u64> {
    let text = text.to_uppercase();
    size_mib(text.trim_end_matches('B').trim_end_matches('I').replace(' ', "").as_str())
}

/// The size of the data set that a title names: `(Size is 6GB)`.
fn size_in(title: &str) -> Option<u64> {
    let (_, after) = title.split_once("size")?;
    let words = after.split(|c: char| c.is_whitespace() || "()=:,;".contains(c)).take(4);
    words.filter(|word| word.contains(['g', 'm'])).find_map(size)
}

fn is_apart(before: &Record, more: &Record) -> bool {
    let mut stages = before.stages.iter().zip(&more.stages);
    stages.all(|(one, other)| one.speed == Reading::NotRun || other.speed == Reading::NotRun)
}

fn add(before: &mut Record, more: &Record) {
    before.setup.size_mib = before.setup.size_mib.or(more.setup.size_mib);
    for (stage, other) in before.stages.iter_mut().zip(&more.stages) {
        if other.speed != Reading::NotRun {
            *stage = *other;
        }
    }
}
