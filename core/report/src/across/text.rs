//! Runs side by side for a terminal.
//!
//! Owns columns and widths. It must never print more columns of characters than asked for.

use crossvisor_analysis::Across;

use super::{HEADINGS, LEGEND, Shown, differences, lone, tables, title, unlike, unlike_title};
use crate::Metrics;
use crate::clean::{shorten, wrap};
use crate::text::{length, section};

/// The narrowest a table gets; below it, lines are longer than asked for.
const NARROWEST: usize = 80;

/// The comparison as plain text in lines of at most `width` characters (at least 80).
#[must_use]
pub fn text(across: &Across, metrics: Metrics, width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut lines = Vec::new();
    for run in &across.runs {
        lines.extend(wrap(&title(&across.baseline, run), width, 2));
        section(&mut lines, "What is different", &differences(run), width);
        section(&mut lines, unlike_title(across.unlike_allowed), &unlike(run), width);
        for table in tables(run, metrics, across.unlike_allowed) {
            lines.push(String::new());
            lines.extend(wrap(&table.title, width, 2));
            lines.extend(grid(&table, width));
            lines.extend(table.footnotes.iter().flat_map(|note| wrap(note, width, 2)));
        }
        section(&mut lines, "Only one has", &lone(run), width);
        lines.push(String::new());
    }
    lines.extend(wrap(LEGEND, width, 0));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The table in columns two spaces apart. Setups are shortened until it fits, and what still does not is cut.
fn grid(table: &Shown, width: usize) -> Vec<String> {
    let mut widths = HEADINGS.map(length);
    for row in &table.rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = length(text).max(*width);
        }
    }
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    widths[0] = widths[0].min(width.saturating_sub(others).max(HEADINGS[0].len()));
    let [first, second, third, fourth, _] = widths;
    let line = |[setup, baseline, run, difference, verdict]: [&str; 5]| {
        let setup = shorten(setup, first);
        let line =
            format!("{setup:first$}  {baseline:>second$}  {run:>third$}  {difference:fourth$}  {verdict}");
        shorten(&line, width)
    };
    let rows = table.rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    std::iter::once(line(HEADINGS)).chain(rows).collect()
}
