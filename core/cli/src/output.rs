//! The way to standard output and standard error.
//!
//! Owns buffering, closed pipes, and what of a text is safe for a terminal. It must never end the program: a
//! reader that goes away is no reason to stop a run.

use std::io::{self, BufWriter, ErrorKind, Write};

use crossvisor_model::text::is_harmful;

use crate::exit::Failure;

/// Writes results to standard output; a reader that has seen enough is no failure.
///
/// # Errors
/// [`Failure::Output`] for everything else that keeps them from being written.
pub fn show(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes a line for the person who watches, to standard error; where nobody listens nothing happens.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Characters that are shown of a plugin's word for something.
const LINE: usize = 400;
/// Characters that are shown of a reason or a path.
const LONG_LINE: usize = 2000;

/// `text` without what could steer a terminal or turn the direction of writing; plain line ends and tabs stay.
pub fn printable(text: &str) -> String {
    let harmful = |c: char| !"\n\t".contains(c) && is_harmful(c);
    text.chars().map(|c| if harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// `text` as a part of one line, so that a plugin cannot forge lines of the program; cut where it is long.
pub fn line(text: &str) -> String {
    cut(text, LINE)
}

/// As [`line`], for a reason or a path.
pub fn long_line(text: &str) -> String {
    cut(text, LONG_LINE)
}

fn cut(text: &str, most: usize) -> String {
    let start = text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at]);
    let more = if start.len() < text.len() { "…" } else { "" };
    printable(start).replace(['\n', '\t'], " ") + more
}

/// The columns of standard output; 100 where it is not a terminal.
pub fn width() -> usize {
    console::Term::stdout().size_checked().map_or(100, |(_, columns)| usize::from(columns))
}

/// A number and what is counted: `1 visit`, `2 visits`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A size for people: `1.4 GiB`.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" {
        format!("{bytes} B")
    } else {
        format!("{value:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(printable("user\u{202e}gpj\u{2069}ü"), "user\u{fffd}gpj\u{fffd}ü");
        assert_eq!(printable("a\x1b[2J\tb\r\nc\u{9b}"), "a\u{fffd}[2J\tb\u{fffd}\nc\u{fffd}");
    }

    #[test]
    fn a_line_stays_one_line_and_ends() {
        assert_eq!(line("good\nerror: none\t\u{2028}\u{202e}x"), "good error: none \u{fffd}\u{fffd}x");
        assert_eq!(line(&"ü".repeat(400)), "ü".repeat(400));
        assert_eq!(line(&"ü".repeat(401)), "ü".repeat(400) + "…");
        assert_eq!(long_line(&"a\n".repeat(1001)), "a ".repeat(1000) + "…");
    }

    #[test]
    fn sizes_have_one_digit_after_the_point() {
        for (bytes, text) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB"), (5 << 42, "20.0 TiB")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
