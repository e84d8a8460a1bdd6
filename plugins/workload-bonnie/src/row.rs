//! One row of a table, which a mail may have broken into several lines, and the values in it.
//!
//! Owns the joining of lines and the units of a table's values. It must never know a column.

use crate::cell::{Reading, is_too_fast, latency_ms, number};
use crate::lines::Line;

/// The words of a row.
#[derive(Debug, PartialEq)]
pub struct Row<'a> {
    pub words: Vec<&'a str>,
    /// How many lines it takes.
    pub lines: usize,
}

/// The most lines of a row.
const PIECES: usize = 3;
/// The values of a whole row, and the number of files or a size without unit before them.
const VALUES: usize = 13;
const LATENCIES: usize = 6;

impl<'a> Row<'a> {
    /// The row that begins on the first line, with the lines of nothing but values below it that complete it.
    pub fn at(lines: &'a [Line]) -> Self {
        Self::collect(lines, VALUES, |word| speed(word).is_some())
    }

    fn collect(lines: &'a [Line], most: usize, fits: fn(&str) -> bool) -> Self {
        let mut words: Vec<&str> = lines[0].text.split_whitespace().collect();
        let mut taken = 1;
        let mut values = words.iter().rev().take_while(|word| fits(word)).count();
        for line in lines.iter().take(PIECES).skip(1) {
            let more: Vec<&str> = line.text.split_whitespace().collect();
            if more.is_empty()
                || values == 0
                || values + more.len() > most
                || !more.iter().all(|word| fits(word))
            {
                break;
            }
            values += more.len();
            words.extend(more);
            taken += 1;
        }
        Self { words, lines: taken }
    }
}

/// The latencies on a line that begins with their title, and on the next if it was broken.
pub fn values_after<'a>(lines: &'a [Line]) -> Row<'a> {
    let mut row = Row::collect(lines, LATENCIES, |word| latency_ms(word).is_some());
    row.words.remove(0);
    row
}

/// A speed in KiB per second: without unit or with `k`, or with `m` or `g` for larger ones; or seeks per second.
pub fn speed(word: &str) -> Option<Reading> {
    if is_too_fast(word) {
        return Some(Reading::TooFast);
    }
    let scale = match word.as_bytes().last()? {
        b'k' | b'0'..=b'9' => 1.0,
        b'm' => 1024.0,
        b'g' => 1024.0 * 1024.0,
        _ => return None,
    };
    Some(Reading::Measured(number(word.strip_suffix(['k', 'm', 'g']).unwrap_or(word))? * scale))
}
