//! Finds bonnie++ results in whatever surrounds them: login banners, prompts, quoted and wrapped mail, Markdown.
//!
//! Owns the search and the tool's own words of complaint. It must never change a digit: a piece of text is a result
//! only when [`Record`] reads it whole.

use crate::csv::Record;

/// A line a mail program broke is in at most this many pieces.
const PIECES: usize = 4;
/// Fewer commas than this, and the line is not the first piece of a result.
const COMMAS: usize = 4;
/// At most this many of the tool's lines go into a message.
const COMPLAINTS: usize = 3;

/// All results of the text in order; one that is printed twice counts once.
#[must_use]
pub fn records(text: &str) -> Vec<Record> {
    let lines: Vec<&str> = text.lines().map(bare).collect();
    let mut found: Vec<Record> = Vec::new();
    let mut rest = lines.as_slice();
    while !rest.is_empty() {
        let (record, used) = first(rest);
        found.extend(record.filter(|record| !found.contains(record)));
        rest = &rest[used..];
    }
    found
}

/// The result that begins on the first line, and how many lines are done with.
fn first(lines: &[&str]) -> (Option<Record>, usize) {
    if lines[0].matches([',', ';']).count() < COMMAS {
        return (None, 1);
    }
    let mut joined = String::new();
    for (index, line) in lines.iter().take(PIECES).enumerate() {
        joined.push_str(line.trim_end_matches('='));
        // `echo "1.96,…" | bon_csv2html`
        if let Some(record) = joined.split('"').find_map(Record::parse) {
            return (Some(record), index + 1);
        }
    }
    (None, 1)
}

/// A line without the marks of quotation, comment or table around it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || ">#|".contains(c)).trim_end()
}

/// What the tool said instead of a result: neither its progress, nor its usage, nor a table.
#[must_use]
pub fn complaint(stdout: &str, stderr: &str) -> Option<String> {
    let said = stderr.lines().take_while(|line| !line.starts_with("usage:")).chain(stdout.lines());
    let words: Vec<&str> =
        said.map(str::trim).filter(|line| !line.is_empty() && !is_progress(line)).collect();
    let last = &words[words.len().saturating_sub(COMPLAINTS)..];
    (!last.is_empty()).then(|| last.join(" / "))
}

fn is_progress(line: &str) -> bool {
    line.ends_with("...done") || line.ends_with("done.") || line.starts_with("Using uid:")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "alpha,2G,30111,91,41222,17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91";

    #[test]
    fn a_result_is_found_in_any_surrounding() {
        let (head, tail) = LINE.split_at(71);
        let surroundings = [
            format!(
                "Last login: Mon\r\n*** welcome, all, to, the, host ***\r\n{LINE}\r\nConnection closed.\r\n"
            ),
            format!("> {LINE} "),
            format!("    # {LINE}\n"),
            format!("```\n{LINE}\n```"),
            format!("{LINE}\necho \"{LINE}\" | bon_csv2html > out.html"),
            format!("> {head}=\n> {tail}"),
            format!("{head}\n{tail}"),
        ];
        for text in surroundings {
            assert_eq!(records(&text), [Record::parse(LINE).expect("good")], "{text}");
        }
    }

    #[test]
    fn two_results_stay_two() {
        let other = LINE.replace("41222", "41223");
        assert_eq!(records(&format!("{LINE}\nname,size,putc,cpu,write,cpu\n{other}")).len(), 2);
        assert!(records("Version 1.03e\nno, result, here, at, all").is_empty());
    }

    #[test]
    fn a_complaint_is_the_tools_own_words() {
        let usage =
            "Can't change to directory \"/x\".\nusage:\nbonnie++ [-d scratch-dir]\n\nVersion: 2.00a\n";
        assert_eq!(complaint("", usage).as_deref(), Some("Can't change to directory \"/x\"."));
        let progress = "Using uid:0, gid:0.\nWriting a byte at a time...done\nRewriting...Can't write block.: No space left on device\n";
        let said = complaint("", progress);
        assert_eq!(said.as_deref(), Some("Rewriting...Can't write block.: No space left on device"));
        assert_eq!(complaint("\n", ""), None);
    }
}
