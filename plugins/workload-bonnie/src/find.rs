//! Finds bonnie++ results in whatever surrounds them: login banners, prompts, quoted and wrapped mail, pages.
//!
//! Owns the search, and which of the things found are the same result twice. It must never change a figure.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::cell::Reading;
use crate::complaint;
use crate::csv;
use crate::lines::Line;
use crate::record::Record;
use crate::table;

/// A line that a mail program broke is in at most this many pieces …
const PIECES: usize = 6;
/// … each but the last at least this long.
const SHORTEST: usize = 40;
/// Fewer commas than this, and the line is not the first piece of a result.
const COMMAS: usize = 4;
const COPY: &str =
    "the same line, figure by figure, stands in the file before: it may be a copy and no run of its own";

/// Something in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Find {
    /// The lines that it takes, by index.
    pub lines: Range<usize>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Result {
        record: Box<Record>,
        warnings: Vec<String>,
        table: bool,
    },
    /// It looks like a result, or is the tool's complaint; why there is no figure.
    Refused(String),
}

/// All that is found, in order.
pub fn find(lines: &[Line]) -> Vec<Find> {
    let mut search = Search::default();
    let mut at = 0;
    while at < lines.len() {
        at += search.step(lines, at);
    }
    paired(search.found)
}

#[derive(Default)]
struct Search<'a> {
    found: Vec<Find>,
    /// CSV lines that were read, with what stood before each.
    seen: HashMap<Cow<'a, str>, &'a str>,
}

impl<'a> Search<'a> {
    /// Looks at one line, and says how many are done with.
    fn step(&mut self, lines: &'a [Line], at: usize) -> usize {
        if let Some((used, text, outcome)) = csv_at(&lines[at..]) {
            self.csv(at..at + used, text, lines[at].raw, outcome);
            return used;
        }
        if let Some(table) = table::read(&lines[at..]) {
            let lines = at..at + table.used;
            let results = table.records.into_iter().map(|record| What::Result {
                record: Box::new(record),
                warnings: Vec::new(),
                table: true,
            });
            let all = results.chain(table.fault.map(What::Refused));
            self.found.extend(all.map(|what| Find { lines: lines.clone(), what }));
            return table.used;
        }
        if let Some((used, said)) = complaint::at(&lines[at..]) {
            self.found.push(Find { lines: at..at + used, what: What::Refused(said) });
            return used;
        }
        1
    }

    /// A line that stands in the text twice with other marks around it, once as printed and once in a command or a
    /// quotation, is one result. With the same marks it is a second one, and suspicious.
    fn csv(
        &mut self,
        lines: Range<usize>,
        text: Cow<'a, str>,
        raw: &'a str,
        outcome: Result<Record, String>,
    ) {
        let what = match outcome {
            Err(reason) => What::Refused(reason),
            Ok(record) => {
                let mut ends = (0..=text.len().min(SHORTEST)).rev();
                let head = ends.find_map(|end| text.get(..end)).unwrap_or_default();
                let marks = raw.find(head).map_or(raw, |start| &raw[..start]);
                let mut warnings = Vec::new();
                match self.seen.insert(text, marks) {
                    Some(before) if before != marks => return,
                    Some(_) => warnings.push(COPY.into()),
                    None => {}
                }
                What::Result { record: Box::new(record), warnings, table: false }
            }
        };
        self.found.push(Find { lines, what });
    }
}

/// The CSV line that begins on the first line: how many lines it takes, its text, and what it says.
fn csv_at<'a>(lines: &'a [Line]) -> Option<(usize, Cow<'a, str>, Result<Record, String>)> {
    let first = &lines[0].text;
    if first.bytes().filter(|byte| b",;\t|".contains(byte)).count() < COMMAS {
        return None;
    }
    let whole = csv::read(first);
    if let Some(Ok(record)) = whole {
        return Some((1, Cow::Borrowed(first), Ok(record)));
    }
    if let Some((part, record)) = inside(first) {
        return Some((1, Cow::Borrowed(part), Ok(record)));
    }
    let mut joined = String::from(first.as_ref());
    let mut last = first.len();
    for (index, line) in lines.iter().enumerate().take(PIECES).skip(1) {
        if last < SHORTEST || !continues(&line.text) {
            break;
        }
        last = line.text.len();
        joined.push_str(&line.text);
        if let Some(Ok(record)) = csv::read(&joined) {
            return Some((index + 1, Cow::Owned(joined), Ok(record)));
        }
    }
    let reason = whole?.err()?;
    Some((1, Cow::Borrowed(first), Err(reason)))
}

/// A result within quotation marks or tags: `echo "1.96,…" | bon_csv2html`, `<pre>1.96,…</pre>`, `"stdout": "1.96,…"`.
fn inside(line: &str) -> Option<(&str, Record)> {
    let parts = line.split(['"', '\'', '<', '>', '`']).flat_map(|part| part.split("\\n"));
    parts.flat_map(|part| part.split(" | ")).find_map(|part| Some((part.trim(), csv::read(part)?.ok()?)))
}

/// Nothing but cells of values: what follows where a line was broken.
fn continues(line: &str) -> bool {
    let value = |byte: u8| byte.is_ascii_digit() || b",;.:+/kMGumslinky".contains(&byte);
    !line.is_empty() && line.bytes().all(value) && csv::read(line).is_none_or(|read| read.is_err())
}

/// Puts a table and the CSV line of the same run together, in either order: the line has the exact figures, the table
/// what the line does not say.
fn paired(found: Vec<Find>) -> Vec<Find> {
    let mut paired: Vec<Find> = Vec::with_capacity(found.len());
    // the results of the last table that have no line yet
    let mut open: Vec<usize> = Vec::new();
    for find in found {
        let What::Result { record, table, .. } = &find.what else {
            paired.push(find);
            continue;
        };
        if *table {
            open.retain(|&index| paired[index].lines == find.lines);
            match paired.last_mut() {
                Some(Find { lines, what: What::Result { record: line, table: false, .. } })
                    if agree(record, line) =>
                {
                    complete(line, record);
                    lines.end = find.lines.end;
                }
                _ => {
                    open.push(paired.len());
                    paired.push(find);
                }
            }
        } else if let Some(at) = open.iter().position(|&index| paired[index].is(|table| agree(table, record)))
        {
            let before = &mut paired[open.remove(at)];
            let mut find = Find { lines: before.lines.start..find.lines.end, ..find };
            if let (What::Result { record, .. }, What::Result { record: table, .. }) =
                (&mut find.what, &before.what)
            {
                complete(record, table);
            }
            *before = find;
        } else {
            paired.push(find);
        }
    }
    paired
}

impl Find {
    fn is(&self, like: impl Fn(&Record) -> bool) -> bool {
        matches!(&self.what, What::Result { record, .. } if like(record))
    }
}

/// Whether a table has the figures of a line, as far as it shows them and as exactly as it does.
fn agree(table: &Record, line: &Record) -> bool {
    let near = |shown: Reading, exact: Reading, share: f64| match (shown, exact) {
        (Reading::NotRun | Reading::Unknown(_), _) => true,
        (Reading::Measured(shown), Reading::Measured(exact)) => {
            (shown - exact).abs() <= (share * exact).max(1.0)
        }
        (shown, exact) => shown == exact,
    };
    // `1.0g` stands for all from 0.95 to 1.05
    let share = if table.format.as_deref() == Some("1.98") { 0.053 } else { 0.0 };
    let mut stages = table.stages.iter().zip(&line.stages);
    table.ran()
        && stages.all(|(shown, exact)| {
            near(shown.speed, exact.speed, share)
                && near(shown.cpu, exact.cpu, 0.0)
                && near(shown.latency, exact.latency, 0.0)
        })
}

/// Adds what only the table says.
fn complete(line: &mut Record, table: &Record) {
    line.machine = line.machine.take().or_else(|| table.machine.clone());
    line.version = line.version.take().or_else(|| table.version.clone());
    line.setup.chunk_bytes = line.setup.chunk_bytes.or(table.setup.chunk_bytes);
}

#[cfg(test)]
mod tests;
