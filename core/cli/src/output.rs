//! The way to standard output and standard error.
//!
//! Owns buffering, closed pipes, and what of a text is safe for a terminal. It must never end the program: a
//! reader that goes away is no reason to stop a run.

use std::io::{self, BufWriter, ErrorKind, Write};

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

/// `text` without what could steer a terminal or turn the direction of writing; line ends and tabs stay.
pub fn printable(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful = |c: char| turns(c) || (c.is_control() && !"\n\t".contains(c));
    text.chars().map(|c| if harmful(c) { '\u{fffd}' } else { c }).collect()
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
    fn sizes_have_one_digit_after_the_point() {
        for (bytes, text) in
            [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB"), (5 << 42, "20.0 TiB")]
        {
            assert_eq!(size(bytes), text);
        }
    }
}
