//! Recordings that people kept: what iostat and sar -d printed, as text or JSON, and snapshots of /proc/diskstats.
//!
//! Owns what tells them apart. It must never make a number of a word that is none.

mod banner;
mod columns;
mod json;
mod text;

#[cfg(test)]
mod tests;

use crossvisor_plugin::ImportOutput;

/// All results of a file.
pub fn import(text: &str) -> ImportOutput {
    let is_json = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{');
    let mut output = if is_json { json::import(text) } else { text::import(text) };
    output.used = text.len();
    output
}

/// The span that a report is of. The first report after a banner is the mean since the machine was started, unless
/// iostat was told `-y`, which its output does not show.
fn span(report: usize) -> &'static str {
    if report == 1 { "first report: since boot, but with -y an interval" } else { "interval" }
}
