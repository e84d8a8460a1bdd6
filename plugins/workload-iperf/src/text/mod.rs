//! The tables that both tools print for people: consoles, logs, mail.
//!
//! Owns the way from text to reports. It must never take an interval for a total, nor a sum that leaves out a stream.

mod gather;
mod line;
mod row;
mod settle;
pub mod streams;

use crate::report::Found;

pub use line::plain;

/// All tests of a text, of which the first line has this number.
#[must_use]
pub fn read<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Found {
    let mut found = Found::default();
    for test in gather::gather(lines) {
        match settle::settle(&test) {
            Some(Ok(report)) => found.reports.push(report),
            Some(Err(refused)) => found.refused.push(refused),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
