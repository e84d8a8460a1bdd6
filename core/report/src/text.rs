//! The report for a terminal.
//!
//! Owns columns and widths. It must never print more columns of characters than asked for.

use crossvisor_analysis::Comparison;
use crossvisor_model::RunRecord;

use crate::clean::{one_line, shorten, wrap};
use crate::findings::findings;
use crate::notes::{self, Note};
use crate::table::{Line, Metrics, Table, percent_heading, tables};

/// The narrowest a table gets; below it, lines are longer than asked for.
const NARROWEST: usize = 60;
/// Shorter setups are hard to tell apart.
const SHORTEST_SETUP: usize = 12;

/// The report as plain text in lines of at most `width` characters (at least 60).
#[must_use]
pub fn text(record: &RunRecord, comparison: &Comparison, metrics: Metrics, width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut lines = wrap(&one_line(&record.name), width, 2);
    lines.extend(wrap(&notes::headline(record, comparison), width, 2));
    if let Some(emulated) = notes::emulated(record, comparison) {
        lines.extend(wrap(&format!("!! {emulated}"), width, 3));
    }
    for finding in findings(comparison) {
        lines.extend(wrap(&finding, width, 2));
    }
    for notice in notes::notices(record, comparison) {
        lines.extend(wrap(&format!("note: {notice}"), width, 6));
    }
    section(&mut lines, "All workloads together", &notes::overall(comparison), width);
    let heading = percent_heading(comparison);
    for table in tables(comparison, metrics) {
        lines.push(String::new());
        lines.extend(wrap(&title(&table), width, 2));
        lines.extend(grid(&table, heading.as_deref(), width));
        lines.extend(table.footnotes.iter().flat_map(|note| wrap(note, width, 2)));
    }
    section(&mut lines, "What failed", &notes::problems(comparison), width);
    section(&mut lines, "What was not measured", &notes::missing(comparison), width);
    section(&mut lines, "Values to doubt", &notes::flags(comparison), width);
    section(&mut lines, "Warnings", &notes::warnings(comparison), width);
    lines.push(String::new());
    lines.extend(wrap(&notes::legend(comparison), width, 0));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// `disk: sequential write, block (KiB/s, higher is better)`
pub fn title(table: &Table) -> String {
    let comma = if table.better.is_empty() { "" } else { ", " };
    format!("{}: {} ({}{comma}{})", table.workload, table.label, table.unit, table.better)
}

pub fn section(lines: &mut Vec<String>, title: &str, notes: &[Note], width: usize) {
    if notes.is_empty() {
        return;
    }
    lines.extend([String::new(), title.to_string()]);
    for note in notes {
        lines.extend(wrap(&format!("- {}", note.text), width, 2));
        let places = note.places.iter().flat_map(|place| wrap(place, width - 4, 2));
        lines.extend(places.map(|line| format!("    {line}")));
    }
}

/// The middle columns of a row: mean, SD/E, interval.
fn middle(line: &Line) -> Option<[&str; 3]> {
    line.numbers.as_ref().map(|n| [n.mean.as_str(), &n.sd, &n.interval])
}

fn percent(line: &Line) -> String {
    match line.percent_interval.as_str() {
        "" => line.percent.clone(),
        interval => format!("{} ({interval})", line.percent),
    }
}

pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// The percentages, with the verdicts beside them if there are any.
fn percents(table: &Table, verdicts: bool) -> Vec<String> {
    let plain: Vec<String> = table.rows.iter().map(percent).collect();
    let width = plain.iter().map(|text| length(text)).max().unwrap_or(0);
    let with = |(text, line): (String, &Line)| match line.verdict {
        "" => text,
        verdict if verdicts => format!("{text:width$}  {verdict}"),
        _ => text,
    };
    plain.into_iter().zip(&table.rows).map(with).collect()
}

/// The table in columns two spaces apart, the last only under a heading. Setups are shortened until it fits; where that
/// is not enough, the verdicts are left out.
fn grid(table: &Table, percent_heading: Option<&str>, width: usize) -> Vec<String> {
    let headings = ["mean", "SD/E", "95 % interval"];
    let mut widths = headings.map(length);
    for row in table.rows.iter().filter_map(middle) {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = length(text).max(*width);
        }
    }
    let words = table.rows.iter().map(|line| length(&line.words)).max().unwrap_or(0);
    let between: usize = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
    widths[2] += words.saturating_sub(between);
    let between = between.max(words);

    let count = table.rows.iter().map(|line| length(&line.n)).max().unwrap_or(1);
    let longest = |percents: &[String]| percents.iter().map(|text| length(text)).max().unwrap_or(0);
    let fits = |last: usize| SHORTEST_SETUP + count + between + last + 6 <= width;
    let mut percents = percents(table, true);
    if !fits(longest(&percents)) {
        percents = self::percents(table, false);
    }
    let last = longest(&percents);
    let heading = percent_heading.map(|heading| shorten(heading, last.max("% of baseline".len())));
    let last = heading.as_ref().map_or(0, |heading| length(heading).max(last) + 2);
    let room = width.saturating_sub(count + between + last + 4).max("setup".len());
    let setups: Vec<String> = table.rows.iter().map(|line| shorten(&line.setup, room)).collect();
    let first = setups.iter().map(|text| length(text)).max().unwrap_or(0).max("setup".len());

    let join = |cells: [&str; 3]| {
        let padded: Vec<String> =
            cells.iter().zip(widths).map(|(text, width)| format!("{text:>width$}")).collect();
        padded.join("  ")
    };
    let end = |text: &str| heading.as_ref().map_or(String::new(), |_| format!("  {text}"));
    let title = end(heading.as_deref().unwrap_or_default());
    let mut lines = vec![format!("{:first$}  {:>count$}  {}{title}", "setup", "n", join(headings))];
    for ((line, setup), percent) in table.rows.iter().zip(setups).zip(percents) {
        let middle = middle(line).map_or_else(|| format!("{:between$}", line.words), join);
        lines.push(format!("{setup:first$}  {:>count$}  {middle}{}", line.n, end(&percent)));
    }
    lines
}
