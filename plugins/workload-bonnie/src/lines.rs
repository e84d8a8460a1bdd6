//! The lines of a text as their author wrote them: without the marks of quotation, with a mail's soft breaks undone.
//!
//! Owns what stands around a line. It must never change what stands in it.

use std::borrow::Cow;

/// A mail breaks its lines before this column, and not long before it.
const MAIL_COLUMNS: std::ops::RangeInclusive<usize> = 60..=80;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// Without the marks around it.
    pub text: Cow<'a, str>,
    /// With them; of a line that was softly broken, its first part.
    pub raw: &'a str,
    /// From 1, in the text.
    pub number: usize,
    /// The byte of the text at which the next line begins.
    pub end: usize,
}

/// All lines of a text.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let encoded = is_quoted_printable(text);
    let mut lines: Vec<Line> = Vec::new();
    let mut end = 0;
    let mut broken = false;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        end += whole.len();
        let raw = whole.trim_end_matches(['\n', '\r']);
        let content = if encoded { decoded(raw.trim_end_matches('=')) } else { Cow::Borrowed(raw) };
        match lines.last_mut().filter(|_| broken) {
            Some(last) => {
                last.text.to_mut().push_str(unquoted(&content));
                last.end = end;
            }
            None => lines.push(Line { text: content, raw, number: index + 1, end }),
        }
        broken = encoded && raw.ends_with('=');
    }
    for line in &mut lines {
        line.text = match std::mem::take(&mut line.text) {
            Cow::Borrowed(text) => Cow::Borrowed(bare(text)),
            Cow::Owned(text) => Cow::Owned(bare(&text).to_string()),
        };
    }
    lines
}

/// A mail says so, or breaks its lines as one.
fn is_quoted_printable(text: &str) -> bool {
    let broken = |line: &str| {
        let line = line.trim_end_matches('\r');
        line.ends_with('=') && MAIL_COLUMNS.contains(&line.len())
    };
    text.contains("=\n") && text.lines().any(broken)
        || text.contains("=\r\n") && text.lines().any(broken)
        || text.contains("quoted-printable")
}

/// `=20` and its like, of characters that can stand in a result.
fn decoded(text: &str) -> Cow<'_, str> {
    const CODES: [(&str, &str); 6] =
        [("=20", " "), ("=09", " "), ("=2B", "+"), ("=2C", ","), ("=C2=A0", " "), ("=3D", "=")];
    let known = CODES.iter().filter(|(code, _)| text.contains(code));
    known.fold(Cow::Borrowed(text), |text, (code, plain)| Cow::Owned(text.replace(code, plain)))
}

/// The second part of a softly broken line, which was quoted again after it was broken.
fn unquoted(text: &str) -> &str {
    if text.starts_with('>') { text.trim_start_matches(['>', ' ']) } else { text }
}

/// A line without the marks of quotation, comment, list or table around it.
fn bare(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || ">#|".contains(c));
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    line.trim_matches(|c: char| c.is_whitespace() || c == '`' || c == '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.text.into_owned()).collect()
    }

    #[test]
    fn marks_are_taken_off() {
        assert_eq!(texts("> > a,b \r\n    # c,d\n```\n| e |\n- f"), ["a,b", "c,d", "", "e", "f"]);
    }

    #[test]
    fn soft_breaks_are_undone_and_the_place_is_kept() {
        let long = "x".repeat(70);
        let text = format!("one\n> {long}=\n> y=3Dz\n{long}=\r\ntwo=20three\nfour\n");
        let lines = lines(&text);
        assert_eq!(lines[1].text, format!("{long}y=z"));
        assert_eq!(lines[2].text, format!("{long}two three"));
        assert_eq!((lines[3].number, lines[3].text.as_ref(), lines[3].end), (6, "four", text.len()));
    }

    #[test]
    fn an_equals_sign_alone_is_no_soft_break() {
        assert_eq!(texts("a=\nb=20"), ["a=", "b=20"]);
    }
}
