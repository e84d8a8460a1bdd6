//! The report as Markdown (tables as in GitHub's).
//!
//! Owns Markdown's escapes. It must never let foreign text become markup.

use crossvisor_analysis::Comparison;
use crossvisor_model::RunRecord;

use crate::clean::one_line;
use crate::findings::findings;
use crate::notes::{self, Note};
use crate::table::{Metrics, NONE, Table, percent_heading, tables};
use crate::telemetry::{HEADINGS, told};
use crate::text::title;

/// The report as Markdown.
#[must_use]
pub fn markdown(record: &RunRecord, comparison: &Comparison, metrics: Metrics) -> String {
    let mut out = format!("# {}\n\n", escape(&record.name));
    out += &format!("{}\n", escape(&notes::headline(record, comparison)));
    if let Some(emulated) = notes::emulated(record, comparison) {
        out += &format!("\n**{emulated}**\n");
    }
    bullets(&mut out, &findings(comparison));
    bullets(&mut out, &notes::notices(record, comparison));
    section(&mut out, "All workloads together", &notes::overall(comparison));
    let heading = percent_heading(comparison).map(|heading| escape(&heading));
    for table in tables(comparison, metrics) {
        grid(&mut out, &table, heading.as_deref());
    }
    section(&mut out, "What failed", &notes::problems(comparison));
    section(&mut out, "What was not measured", &notes::missing(comparison));
    section(&mut out, "Values to doubt", &notes::flags(comparison));
    section(&mut out, "Warnings", &notes::warnings(comparison));
    telemetry(&mut out, record, comparison);
    out + &format!("\n{}\n", escape(&notes::legend(comparison)))
}

fn bullets(out: &mut String, texts: &[String]) {
    if !texts.is_empty() {
        *out += "\n";
    }
    for text in texts {
        *out += &format!("- {}\n", escape(text));
    }
}

pub fn section(out: &mut String, title: &str, notes: &[Note]) {
    if !notes.is_empty() {
        *out += &format!("\n## {title}\n");
    }
    let line = |note: &Note| match note.places.as_slice() {
        [] => note.text.clone(),
        places => format!("{} ({})", note.text, places.join("; ")),
    };
    bullets(out, &notes.iter().map(line).collect::<Vec<_>>());
}

fn telemetry(out: &mut String, record: &RunRecord, comparison: &Comparison) {
    let all = told(record, comparison, &[]);
    if !all.is_empty() {
        *out += "\n## What the machines did meanwhile\n";
    }
    for cell in all {
        *out += &format!("\n### {}\n\n| {} |\n", escape(&cell.title), HEADINGS.join(" | "));
        *out += "|:--|--:|--:|--:|--:|\n";
        for row in &cell.rows {
            *out += &format!("| {} |\n", row.texts.each_ref().map(|text| escape(text)).join(" | "));
        }
    }
}

fn grid(out: &mut String, table: &Table, percent_heading: Option<&str>) {
    *out += &format!("\n## {}\n\n", escape(&title(table)));
    let percents = percent_heading.map_or(String::new(), |heading| format!(" {heading} | 95 % | verdict |"));
    *out += &format!("| setup | n | mean | SD/E | 95 % interval | median | min–max | total |{percents}\n");
    *out += &format!("|:--|--:|--:|--:|--:|--:|--:|--:|{}\n", percent_heading.map_or("", |_| "--:|--:|:--|"));
    for line in &table.rows {
        let cells = match &line.numbers {
            Some(n) => [&n.mean, &n.sd, &n.interval, &n.median, &n.range, &n.total].map(String::as_str),
            None => [line.words.as_str(), NONE, NONE, NONE, NONE, NONE],
        };
        let interval = if line.percent_interval.is_empty() { NONE } else { &line.percent_interval };
        let verdict = if line.reason.is_empty() { line.verdict } else { line.reason };
        let percents = percent_heading.map_or(Vec::new(), |_| vec![line.percent.as_str(), interval, verdict]);
        let cells = [&[line.setup.as_str(), &line.n], &cells[..], &percents].concat();
        let cells: Vec<String> = cells.into_iter().map(escape).collect();
        *out += &format!("| {} |\n", cells.join(" | "));
    }
    for note in &table.footnotes {
        *out += &format!("\n{}\n", escape(note));
    }
}

/// The text on one line, with every character that Markdown or HTML could take for markup made harmless.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in one_line(text).chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(escape("a|b\n<b> ![x](y) `c`"), "a\\|b &lt;b&gt; \\!\\[x\\](y) \\`c\\`");
    }
}
