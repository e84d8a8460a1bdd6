//! The cells of one row of a wiki's or a Markdown page's table.
//!
//! Owns the marks of MoinMoin, MediaWiki and Markdown. It must never know what a cell means.

use crate::cell::{Reading, rate};

/// The cells of a row, without their marks; a cell that spans columns stands in each of them.
#[derive(Debug, PartialEq)]
pub struct Cells {
    pub texts: Vec<String>,
}

/// A row has at most this many cells.
const MOST: usize = 100;

/// Whether a line can be a row of a table.
pub fn is_row(raw: &str) -> bool {
    let line = raw.trim_start_matches(['>', ' ', '\t']);
    line.starts_with(['|', '!']) && line.len() > 1 && !line.starts_with("|}")
}

impl Cells {
    pub fn parse(raw: &str) -> Option<Self> {
        if !is_row(raw) {
            return None;
        }
        let line = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        let parts: Vec<&str> = if let Some(moin) = line.strip_prefix("||") {
            moin.strip_suffix("||").unwrap_or(moin).split("||").collect()
        } else if let Some(heading) = line.strip_prefix('!') {
            heading.split("!!").collect()
        } else if line.contains("||") {
            line.trim_matches('|').split("||").collect()
        } else {
            line.trim_matches('|').split('|').collect()
        };
        let mut texts = Vec::new();
        let mut span = 1;
        for part in parts {
            // in MoinMoin nothing at all between two marks widens the next cell
            if part.is_empty() && line.starts_with("||") {
                span += 1;
                continue;
            }
            let (wider, text) = attributes(part);
            texts.extend(std::iter::repeat_n(plain(text), span.max(wider)));
            span = 1;
        }
        (texts.len() > 1 && texts.len() <= MOST).then_some(Self { texts })
    }

    /// The line between the heading and the rows of a Markdown table.
    pub fn is_rule(&self) -> bool {
        self.texts.iter().all(|text| !text.is_empty() && text.bytes().all(|byte| b"-: ".contains(&byte)))
    }

    /// A name and at least one figure.
    pub fn has_figures(&self) -> bool {
        let figure = |text: &String| matches!(rate(text), Some(Reading::Measured(_) | Reading::TooFast));
        self.texts[1..].iter().any(figure)
    }
}

/// What stands before a cell's text: `<-2>` or `<|2>` in MoinMoin, `colspan="2" |` in MediaWiki; and the text.
fn attributes(part: &str) -> (usize, &str) {
    let trimmed = part.trim_start();
    let (attributes, text) = match trimmed.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some(split) => split,
        None => part.rsplit_once('|').unwrap_or(("", part)),
    };
    let after = ["colspan=", "-"].iter().find_map(|mark| Some(attributes.split_once(mark)?.1));
    let digits: String = after.unwrap_or_default().chars().filter(char::is_ascii_digit).take(2).collect();
    (digits.parse().unwrap_or(1), text)
}

/// A text without bold, italic and code marks.
fn plain(text: &str) -> String {
    text.replace("'''", "").replace("''", "").replace(['*', '`'], "").trim().to_string()
}
