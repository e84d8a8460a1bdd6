//! One CSV line of bonnie++, of every version.
//!
//! Owns the layouts of the line. It must never guess: a line that fits no layout in every cell is not a result.

use std::borrow::Cow;

use crate::cell::{FileSize, Files, chunk_bytes, latency_ms, rate, size_mib, version, whole};
use crate::record::{Readings, Record, Setup};
use crate::stage::{ALL, IO_STAGES, STAGES};

/// Fewer separators than this, and a line is not taken for a result, not even for the first piece of one.
const SEPARATORS: usize = 10;

/// Where a version keeps what, by index; a stage has its speed and its CPU share side by side.
#[derive(Clone, Copy)]
struct Layout {
    fields: usize,
    /// The versions that print it, for messages.
    of: &'static str,
    name: usize,
    concurrency: Option<usize>,
    size: usize,
    chunk: Option<usize>,
    /// The number of seeks; the seekers follow.
    seeks: Option<usize>,
    io: usize,
    num_files: usize,
    files: usize,
    latency: Option<usize>,
}

#[rustfmt::skip]
const OLD: Layout = Layout {
    fields: 27, of: "1.0x", name: 0, concurrency: None, size: 1, chunk: None, seeks: None,
    io: 2, num_files: 14, files: 15, latency: None,
};
#[rustfmt::skip]
const EARLY: Layout = Layout {
    fields: 45, of: "1.90 to 1.92", name: 2, concurrency: None, size: 3, chunk: Some(4), seeks: None,
    io: 5, num_files: 17, files: 21, latency: Some(33),
};
#[rustfmt::skip]
const MIDDLE: Layout = Layout {
    fields: 48, of: "1.93 to 1.97", name: 2, concurrency: Some(3), size: 5, chunk: Some(6), seeks: None,
    io: 7, num_files: 19, files: 24, latency: Some(36),
};
#[rustfmt::skip]
const LATE: Layout = Layout {
    fields: 50, of: "1.98 to 2.00a", name: 2, concurrency: Some(3), size: 5, chunk: Some(6), seeks: Some(7),
    io: 9, num_files: 21, files: 26, latency: Some(38),
};

/// Reads a line. `None`: it does not look like a result; an error: it does, and is none, for this reason.
/// A spreadsheet's `;` with decimal commas is understood, and so are tabs and table bars.
pub fn read(line: &str) -> Option<Result<Record, String>> {
    let separator = separator(line)?;
    let line = if line.contains("\",\"") { Cow::Owned(line.replace('"', "")) } else { Cow::Borrowed(line) };
    let line = if separator == ',' { line } else { Cow::Owned(line.replace(',', ".")) };
    let mut cells: Vec<&str> = line.split(separator).map(str::trim).collect();
    let layout = match (cells.first().and_then(|cell| format(cell)), cells.get(1)) {
        (Some(format), Some(second)) if version(second).is_some() => {
            cells[0] = format;
            by_version(&cells)
        }
        _ if looks_old(&cells) => OLD,
        _ => return None,
    };
    let unlike = || {
        format!(
            "expected {} fields as bonnie++ {} prints them, found {}",
            layout.fields,
            layout.of,
            cells.len()
        )
    };
    let read = fit(&cells, layout).ok_or_else(unlike).and_then(|layout| layout.record(&cells));
    // a row of another table
    if separator == '|' && read.is_err() { None } else { Some(read) }
}

/// What the cells of a line that may be a result are separated by.
fn separator(line: &str) -> Option<char> {
    let count = |separator: u8| line.bytes().filter(|&byte| byte == separator).count() >= SEPARATORS;
    [';', '\t', ',', '|'].into_iter().find(|&separator| count(separator as u8))
}

/// A format number at the end of the first cell, behind whatever a log put before it.
fn format(cell: &str) -> Option<&str> {
    let format = cell.rsplit(|c: char| c.is_whitespace() || "\"'`>:=".contains(c)).next()?;
    (format == "2" || version(format).is_some()).then_some(format)
}

/// A line of 1.0x has a size with its unit, or the right length and a size without (1.00), or no data stage.
fn looks_old(cells: &[&str]) -> bool {
    let size = cells.get(1).is_some_and(|cell| size_of(cell).is_some());
    let unit = cells.get(1).is_some_and(|cell| cell.contains(['M', 'G', 'T']));
    let long = cells.len() >= OLD.fields;
    size && (unit || long) || long && cells[1..14].iter().all(|cell| cell.is_empty()) && !cells[14].is_empty()
}

/// The layout for the version that the line names.
fn by_version(cells: &[&str]) -> Layout {
    match version(cells[0]).or_else(|| version(cells[1])) {
        Some(era) if era < (1, 93) => EARLY,
        Some(era) if era < (1, 98) => MIDDLE,
        _ => LATE,
    }
}

/// The layout if the cells fit it. A spreadsheet may add empty cells. Where no data stage ran, some versions print a
/// comma too few before the number of files: then all that follows lies one to the left.
fn fit(cells: &[&str], layout: Layout) -> Option<Layout> {
    let used = cells.len().max(layout.fields);
    if cells.len() >= layout.fields && cells[layout.fields..used].iter().all(|cell| cell.is_empty()) {
        return Some(layout);
    }
    let latency = layout.latency? - 1;
    let short = cells.len() + 1 == layout.fields
        && cells[layout.size..layout.num_files - 1].iter().all(|cell| cell.is_empty());
    let (io, num_files, files) = (layout.io - 1, layout.num_files - 1, layout.files - 1);
    short.then_some(Layout { io, num_files, files, latency: Some(latency), ..layout })
}

/// The size of the data set and, before 1.9, of the chunk.
fn size_of(cell: &str) -> Option<(u64, Option<u64>)> {
    match cell.split_once(':') {
        Some((size, chunk)) => Some((size_mib(size)?, Some(chunk_bytes(chunk)?))),
        None => Some((size_mib(cell)?, None)),
    }
}

impl Layout {
    fn record(self, cells: &[&str]) -> Result<Record, String> {
        if version(cells[0]).is_some_and(|era| era >= (3, 0)) {
            return Err(format!("expected a format of bonnie++ 1.00 to 2.00a, found {}", cells[0]));
        }
        let mut stages = [Readings::default(); ALL];
        for (index, stage) in stages.iter_mut().enumerate() {
            let at = self.speed(index);
            stage.speed = cell(cells, at, STAGES[index].name, "a number or '+++++'", rate)?;
            stage.cpu = cell(cells, at + 1, STAGES[index].name, "a CPU share or '+++'", rate)?;
            if let Some(first) = self.latency {
                let at = first + index;
                stage.latency = cell(cells, at, STAGES[index].name, "a latency with its unit", latency_ms)?;
            }
        }
        let said = |at: usize| (!cells[at].is_empty()).then(|| cells[at].to_string());
        let old = self.latency.is_none();
        let record = Record {
            machine: if old { name(cells[0]) } else { said(self.name) },
            version: if old { None } else { said(1) },
            format: if old { Some("1".into()) } else { said(0) },
            setup: self.setup(cells)?,
            stages,
        };
        let name = record.machine.as_deref().unwrap_or_default();
        if record.ran() {
            Ok(record)
        } else {
            Err(format!("no stage of '{name}' ran: the line has no figure"))
        }
    }

    fn setup(&self, cells: &[&str]) -> Result<Setup, String> {
        let optional = |at: Option<usize>, what: &str, read: fn(&str) -> Option<u64>| match at {
            Some(at) => cell(cells, at, what, "a number", |cell| none_or(cell, read)),
            None => Ok(None),
        };
        let size = cell(cells, self.size, "size", "a size such as 2G", |cell| none_or(cell, size_of))?;
        let chunk = optional(self.chunk, "chunk", chunk_bytes)?;
        let seeks = optional(self.seeks, "number of seeks", whole)?;
        Ok(Setup {
            size_mib: size.map(|(size, _)| size),
            chunk_bytes: chunk.or(size.and_then(|(_, chunk)| chunk)),
            concurrency: optional(self.concurrency, "concurrency", whole)?,
            seeks,
            seekers: optional(self.seeks.map(|at| at + 1), "seekers", whole)?,
            files: self.files(cells)?,
        })
    }

    /// Before 1.9 one cell says all. Later the number of directories is in the cell after its own, because the
    /// versions that were looked at print the size of chunks, which they never do, before it.
    fn files(&self, cells: &[&str]) -> Result<Option<Files>, String> {
        let at = self.num_files;
        let expected = "files as -n takes them";
        if self.latency.is_none() {
            return cell(cells, at, "files", expected, |cell| none_or(cell, Files::parse));
        }
        let Some(number) = cell(cells, at, "files", expected, |cell| none_or(cell, whole))? else {
            return Ok(None);
        };
        let behind = if self.files - at > 4 && cells[at + 3].is_empty() { at + 4 } else { at + 3 };
        Ok(Some(Files {
            number,
            max: cell(cells, at + 1, "files", "a size, 'link' or 'symlink'", |cell| {
                none_or(cell, FileSize::parse)
            })?,
            min: cell(cells, at + 2, "files", "a size", |cell| none_or(cell, whole))?,
            directories: cell(cells, behind, "files", "a number of directories", directories)?,
        }))
    }

    /// The index of a stage's speed.
    fn speed(&self, stage: usize) -> usize {
        match stage.checked_sub(IO_STAGES) {
            None => self.io + 2 * stage,
            Some(stage) => self.files + 2 * stage,
        }
    }
}

/// The cell at an index, read; the error says what was expected there.
fn cell<T>(
    cells: &[&str],
    at: usize,
    what: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, String> {
    let found = cells[at];
    read(found).ok_or_else(|| {
        let shown: String = found.chars().take(40).collect();
        format!("expected {expected} in field {} ({what}), found '{shown}'", at + 1)
    })
}

/// An empty cell is nothing; another must read.
fn none_or<T>(cell: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if cell.is_empty() { Some(None) } else { read(cell).map(Some) }
}

/// A number of directories, or a size of chunks in its place.
fn directories(cell: &str) -> Option<Option<u64>> {
    if cell.is_empty() || whole(cell).is_some() { Some(whole(cell)) } else { chunk_bytes(cell).map(|_| None) }
}

/// A machine's name at the head of a line, behind the marks of a quotation.
fn name(cell: &str) -> Option<String> {
    let name = cell.rsplit(['>', '"', '\'', '`']).next()?.trim();
    (!name.is_empty()).then(|| name.to_string())
}

#[cfg(test)]
mod tests;
