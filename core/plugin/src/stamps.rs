//! Lines of times in what a telemetry source prints, as `crossvisor-probe sample` and `follow` print them.
//!
//! Owns the form `@crossvisor at mono=<ns> real=<ns>`. It must never know what stands between these lines.

/// What begins a line of times.
pub const MARK: &str = "@crossvisor at ";

/// A line of times and what follows it until the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped<'t> {
    /// Seconds since the source started, by its machine's monotonic clock.
    pub at_s: f64,
    /// The lines, with their ends.
    pub text: &'t str,
}

/// The pieces of a text. What stands before the first line of times is left out, and so is a last line that was cut
/// short; a line of times that does not read belongs to the text it stands in.
#[must_use]
pub fn read(text: &str) -> Vec<Stamped<'_>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut pieces: Vec<Stamped<'_>> = Vec::new();
    let (mut at, mut start) = (0, 0);
    for line in whole.split_inclusive('\n') {
        let next = at + line.len();
        if let Some(at_s) = time_s(line) {
            close(&mut pieces, &whole[start..at]);
            pieces.push(Stamped { at_s, text: "" });
            start = next;
        }
        at = next;
    }
    close(&mut pieces, &whole[start..]);
    pieces
}

/// Gives the last piece its text.
fn close<'t>(pieces: &mut [Stamped<'t>], text: &'t str) {
    if let Some(last) = pieces.last_mut() {
        last.text = text;
    }
}

/// The monotonic time of a line of times, in seconds.
#[must_use]
pub fn time_s(line: &str) -> Option<f64> {
    let words = line.strip_prefix(MARK)?;
    let ns: u64 = words.split_whitespace().find_map(|word| word.strip_prefix("mono="))?.parse().ok()?;
    Some(std::time::Duration::from_nanos(ns).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_falls_into_pieces_by_its_lines_of_times() {
        let text = "before\n@crossvisor at mono=0 real=1\na\nb\n@crossvisor at mono=1500000000 real=2\n\
                    @crossvisor at mono=x\n@crossvisor at mono=2000000000 real=3\nc\ncut";
        let pieces: Vec<_> = read(text).into_iter().map(|piece| (piece.at_s, piece.text)).collect();
        assert_eq!(pieces, [(0.0, "a\nb\n"), (1.5, "@crossvisor at mono=x\n"), (2.0, "c\n")]);
        assert_eq!(read("no times\n"), []);
        assert_eq!(read("@crossvisor at mono=1 real=1"), []);
    }
}
