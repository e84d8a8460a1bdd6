//! Runs side by side as Markdown (tables as in GitHub's).

use crossvisor_analysis::Across;

use super::{HEADINGS, LEGEND, differences, lone, tables, title, unlike, unlike_title};
use crate::Metrics;
use crate::markdown::{escape, section};

/// The comparison as Markdown.
#[must_use]
pub fn markdown(across: &Across, metrics: Metrics) -> String {
    let mut out = String::new();
    for run in &across.runs {
        out += &format!("# {}\n", escape(&title(&across.baseline, run)));
        section(&mut out, "What is different", &differences(run));
        section(&mut out, unlike_title(across.unlike_allowed), &unlike(run));
        for table in tables(run, metrics, across.unlike_allowed) {
            out += &format!("\n## {}\n\n| {} |\n", escape(&table.title), HEADINGS.join(" | "));
            out += "|:--|--:|--:|--:|:--|\n";
            for (row, reason) in table.rows.iter().zip(&table.reasons) {
                let mut cells = row.each_ref().map(|text| escape(text));
                if !reason.is_empty() {
                    cells[4] = escape(reason);
                }
                out += &format!("| {} |\n", cells.join(" | "));
            }
            for note in &table.footnotes {
                out += &format!("\n{}\n", escape(note));
            }
        }
        section(&mut out, "Only one has", &lone(run));
        out += "\n";
    }
    out + &format!("{}\n", escape(LEGEND))
}
