//! A file as the text a plugin gets: whole lines, as much as is asked for.
//!
//! Owns the decoding and the lines' numbers. It must never hold more of the file than was asked for and one line.

use std::io::{self, Read};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 18;
const REPLACEMENT: usize = '\u{fffd}'.len_utf8();

/// An open file.
pub struct Source<R> {
    from: R,
    /// Decoded and not used up: whole lines, but for the end of the file.
    text: String,
    /// The begin of a line whose end was not read yet.
    tail: Vec<u8>,
    ended: bool,
    /// Lines that are used up.
    lines: usize,
}

impl<R: Read> Source<R> {
    pub fn new(from: R) -> Self {
        Self { from, text: String::new(), tail: Vec::new(), ended: false, lines: 0 }
    }

    /// Whole lines at the head of what is left, about `wanted` bytes of them and at least one, and whether the file
    /// ends with them. Bytes that are not UTF-8 are U+FFFD. `None`: the first line alone is longer than `most`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn head(&mut self, wanted: usize, most: usize) -> io::Result<Option<(&str, bool)>> {
        while !self.ended && (self.text.len() < wanted || self.text.is_empty()) {
            if self.tail.len() > most {
                return Ok(None);
            }
            self.fill()?;
        }
        let end = match self.text.as_bytes() {
            all if all.len() <= wanted => all.len(),
            all => {
                let before = all[..wanted].iter().rposition(|&byte| byte == b'\n');
                let after = || all[wanted..].iter().position(|&byte| byte == b'\n').map(|at| wanted + at);
                before.or_else(after).map_or(all.len(), |at| at + 1)
            }
        };
        if end > most {
            return Ok(None);
        }
        Ok(Some((&self.text[..end], self.ended && end == self.text.len())))
    }

    /// The next `bytes` are done with. They must end where a character does.
    pub fn used(&mut self, bytes: usize) {
        self.lines += self.text.as_bytes()[..bytes].iter().filter(|&&byte| byte == b'\n').count();
        self.text.drain(..bytes);
    }

    /// Lines that are done with.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines
    }

    fn fill(&mut self) -> io::Result<()> {
        let start = self.tail.len();
        let mut block = (&mut self.from).take(BLOCK as u64);
        let read = block.read_to_end(&mut self.tail)?;
        self.ended = read == 0;
        let whole = match self.tail[start..].iter().rposition(|&byte| byte == b'\n') {
            _ if self.ended => self.tail.len(),
            Some(at) => start + at + 1,
            None => return Ok(()),
        };
        self.text.reserve(whole + REPLACEMENT);
        self.text.push_str(&String::from_utf8_lossy(&self.tail[..whole]));
        self.tail.drain(..whole);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(bytes: &[u8], wanted: usize) -> Vec<(String, bool)> {
        let mut source = Source::new(bytes);
        let mut all = Vec::new();
        loop {
            let (text, last) = source.head(wanted, 1000).expect("read").expect("short");
            let (text, length) = (text.to_string(), text.len());
            all.push((text, last));
            if last {
                return all;
            }
            source.used(length);
        }
    }

    #[test]
    fn a_file_comes_in_whole_lines_and_says_its_end() {
        let piece = |text: &str, last| (text.to_string(), last);
        assert_eq!(heads(b"", 4), [piece("", true)]);
        assert_eq!(heads(b"a\nb\nc", 4), [piece("a\nb\n", false), piece("c", true)]);
        assert_eq!(heads(b"a\nb\n", 100), [piece("a\nb\n", true)]);
        assert_eq!(
            heads(b"longer than that\nb\n", 4),
            [piece("longer than that\n", false), piece("b\n", true)]
        );
        assert_eq!(heads(b"\xff\xe2\x82\nx", 100), [piece("\u{fffd}\u{fffd}\nx", true)]);
    }

    #[test]
    fn what_is_not_used_comes_again_and_lines_are_counted() {
        let mut source = Source::new(&b"a\nb\nc\n"[..]);
        assert_eq!(source.head(4, 100).expect("read"), Some(("a\nb\n", false)));
        source.used(2);
        assert_eq!((source.lines(), source.head(100, 100).expect("read")), (1, Some(("b\nc\n", true))));
    }

    #[test]
    fn characters_of_several_bytes_survive_the_blocks() {
        let text = "ü".repeat(BLOCK) + "\n";
        assert_eq!(heads_of_length(&text), text);
    }

    fn heads_of_length(text: &str) -> String {
        let mut source = Source::new(text.as_bytes());
        let head = source.head(usize::MAX, usize::MAX).expect("read").expect("short");
        head.0.to_string()
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut source = Source::new(io::repeat(b'x'));
        assert_eq!(source.head(10, 1 << 20).expect("read"), None);
    }
}
