//! Finds JSON documents in whatever surrounds them.
//!
//! Owns the search and where a broken one is told to break. It must never know what a document says.

use std::borrow::Cow;

use crossvisor_plugin::Refused;
use serde_json::Value;

/// A JSON object and the line on which it begins, from 1.
pub struct Document {
    pub value: Value,
    pub line: usize,
}

/// All objects of the text in order; one that is broken is told of where it breaks.
pub fn all(text: &str) -> Vec<Result<Document, Refused>> {
    let text = &*without_special_numbers(text);
    let mut found = Vec::new();
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut from = 0;
    while let Some(start) = beginning(text, from) {
        let line = lines.of(start);
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                from = start + stream.byte_offset();
                found.push(Ok(Document { value, line }));
            }
            Some(Err(error)) => {
                let (words, row) = (error.to_string(), line + error.line() - 1);
                let words = words.split(" at line ").next().unwrap_or_default();
                let reason = format!(
                    "a JSON document begins here and breaks in line {row}, column {}: {words}",
                    error.column()
                );
                found.push(Err(Refused { line, reason }));
                // What follows in a broken document of many lines looks like documents of its own.
                match text[start..].find('\n') {
                    Some(end) if error.is_syntax() && error.line() == 1 => from = start + end,
                    _ => return found,
                }
            }
            None => return found,
        }
    }
    found
}

/// Where an object begins that has a member or none: `{"` or `{}`, with white space between.
fn beginning(text: &str, from: usize) -> Option<usize> {
    let opens = text[from..].match_indices('{').map(|(at, _)| from + at);
    opens.into_iter().find(|at| text[at + 1..].trim_start().starts_with(['"', '}']))
}

/// Counts lines, each byte once.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line of a place that is not before the last one asked for.
    fn of(&mut self, place: usize) -> usize {
        self.line += self.text[self.at..place].matches('\n').count();
        self.at = place;
        self.line
    }
}

/// Python writes `NaN` and `Infinity`, which are not JSON: they become `null`, of the same length but for its line.
fn without_special_numbers(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(first) = rest.chars().next() {
        let special = WORDS.iter().find(|word| !quoted && rest.starts_with(**word));
        let length = match special {
            Some(word) => {
                plain.push_str("null");
                word.len()
            }
            None => {
                let length = if quoted && first == '\\' {
                    1 + rest[1..].chars().next().map_or(0, char::len_utf8)
                } else {
                    first.len_utf8()
                };
                plain.push_str(&rest[..length]);
                length
            }
        };
        quoted ^= first == '"';
        // A string of JSON has no line end: a mark of quotation in a banner goes no further than its line.
        quoted &= first != '\n';
        rest = &rest[length..];
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<Result<(Value, usize), (usize, String)>> {
        let told = |refused: Refused| (refused.line, refused.reason);
        all(text).into_iter().map(|d| d.map(|d| (d.value, d.line)).map_err(told)).collect()
    }

    #[test]
    fn documents_are_found_among_other_text() {
        let text = "motd {not json}\nresult: {\"a\": 1} bye\n[\n{\n \"b\": {\"c\": 2}},\n{}]\n";
        let found: Vec<_> = values(text).into_iter().map(|d| d.expect("good")).collect();
        let lines: Vec<usize> = found.iter().map(|(_, line)| *line).collect();
        assert_eq!(lines, [2, 4, 6]);
        assert_eq!(found[1].0["b"]["c"], 2);
        assert!(values("no document {here} at all").is_empty());
    }

    #[test]
    fn a_broken_document_is_told_of_where_it_breaks() {
        let found = values("\n{\"a\": {\n\"b\": 1},\n\"c\": {\"d\"");
        let [Err((line, reason))] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(*line, 2);
        assert!(values("motd {\"half\": one}\n{\"a\": 1}")[1].is_ok(), "the next line is looked at");
        assert!(reason.contains("breaks in line 4, column 9: EOF while parsing"), "{reason}");
    }

    #[test]
    fn special_numbers_of_python_are_no_numbers() {
        let text = r#"{"a": NaN, "b": [-Infinity, Infinity], "NaN": "Na\"N NaN", "c": 1}"#;
        let found = values(text);
        let [Ok((value, 1))] = found.as_slice() else { panic!("{found:?}") };
        assert!(value["a"].is_null() && value["b"][1].is_null());
        assert_eq!(value["NaN"], "Na\"N NaN");
    }

    proptest! {
        #[test]
        fn any_text_is_searched(text in "[{}\\[\\]\":,\\\\ntfNaIinity0-9.e\n é-]{0,200}") {
            all(&text);
        }

        #[test]
        fn a_document_cut_anywhere_is_none(cut in 1_usize..28) {
            let whole = r#"{"profiles":{"DB12":{"v":1}}}"#;
            let found = all(&whole[..cut]);
            prop_assert!(found.iter().all(Result::is_err));
        }
    }
}
