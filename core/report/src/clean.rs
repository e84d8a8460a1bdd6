//! Makes foreign text safe to show.
//!
//! Owns what is done to text that came from a guest, a tool or a plugin before a person sees it. Escaping for
//! a format (HTML, Markdown) is the part of that format.

/// The text without what could steer a terminal or turn the direction of writing: every such character
/// becomes `�`. Line ends stay, tabs become spaces.
pub fn clean(text: &str) -> String {
    text.trim_end().replace("\r\n", "\n").replace('\t', "    ").chars().map(harmless).collect()
}

/// [`clean`], on one line.
pub fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn harmless(c: char) -> char {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if turns || (c.is_control() && c != '\n') { '\u{fffd}' } else { c }
}

/// The text in at most `max` characters; what is too long loses its middle.
pub fn shorten(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_string();
    }
    let tail = max.saturating_sub(1) / 2;
    let head = max.saturating_sub(1) - tail;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

/// The text in lines of at most `width` characters, each after the first with `indent` spaces before it. Its own
/// line ends stay; words longer than a line are cut.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = start(&lines, indent);
        let mut empty = true;
        for word in paragraph.split_whitespace() {
            let mut word: Vec<char> = word.chars().collect();
            if !empty && line.chars().count() + 1 + word.len() > width {
                lines.push(line);
                (line, empty) = (start(&lines, indent), true);
            }
            if !empty {
                line.push(' ');
            }
            let room = width.saturating_sub(indent).max(1);
            while word.len() > room {
                lines.push(line + &word.drain(..room).collect::<String>());
                line = start(&lines, indent);
            }
            line.extend(word);
            empty = false;
        }
        lines.push(line);
    }
    lines
}

fn start(lines: &[String], indent: usize) -> String {
    " ".repeat(if lines.is_empty() { 0 } else { indent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_steer_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}\r\nc\td\n"), "a\u{fffd}[31mb\u{fffd}\nc    d");
        assert_eq!(clean("user\u{202e}gpj"), "user\u{fffd}gpj");
        assert_eq!(one_line(" two\n lines\t"), "two lines");
    }

    #[test]
    fn long_text_is_cut_and_wrapped() {
        assert_eq!(shorten("kvm-virtio/file/2", 11), "kvm-v…ile/2");
        assert_eq!(shorten("bare", 4), "bare");
        assert_eq!(wrap("one two three", 9, 2), ["one two", "  three"]);
        assert_eq!(wrap("a\nb", 9, 2), ["a", "  b"]);
        assert_eq!(wrap("abcdefghij k", 6, 2), ["abcd", "  efgh", "  ij k"]);
        assert_eq!(wrap("", 9, 2), [""]);
    }
}
