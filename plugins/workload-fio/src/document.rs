//! Finds the JSON documents of fio in whatever surrounds them: notes, errors, a report for people.
//!
//! Owns the search. It must never mend a document, but for the words that C prints for numbers that are none.

use serde_json::{Deserializer, Value};

/// A document and the line on which it begins, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub line: usize,
    pub value: Value,
}

/// All documents in order, and the lines of those that break off or are broken, with the reason.
#[must_use]
pub fn documents(text: &str) -> (Vec<Document>, Vec<(usize, String)>) {
    let text = &without_nan(text);
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    let (mut at, mut line) = (0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let mut used = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if rest[..used].trim_start().starts_with('{') {
            let mut values = Deserializer::from_str(rest).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) => {
                    used = values.byte_offset();
                    if is_fios(&value) {
                        found.push(Document { line, value });
                    }
                }
                Some(Err(error)) if begins_like_fios(rest) => broken.push((line, reason(line, &error))),
                Some(Err(_)) | None => {}
            }
        }
        line += rest[..used].matches('\n').count();
        at += used;
    }
    (found, broken)
}

fn is_fios(value: &Value) -> bool {
    value.get("fio version").is_some() && (value.get("jobs").is_some() || value.get("client_stats").is_some())
        || value.get("jobs").is_some_and(|jobs| jobs.pointer("/0/jobname").is_some())
}

/// The first key is fio's own.
fn begins_like_fios(rest: &str) -> bool {
    let inside = rest.trim_start().trim_start_matches('{').trim_start();
    inside.starts_with("\"fio version\"")
}

fn reason(first: usize, error: &serde_json::Error) -> String {
    let line = first + error.line() - error.line().min(1);
    match error.is_eof() {
        true => {
            format!(
                "the JSON document of fio that begins here is cut off at line {line}: get the whole of it"
            )
        }
        false => format!("the JSON document of fio that begins here is broken at line {line}: {error}"),
    }
}

/// Bare words that C prints for numbers that are none become null.
fn without_nan(text: &str) -> String {
    if !text.contains("nan") && !text.contains("inf") {
        return text.to_string();
    }
    let mut text = text.to_string();
    for word in ["-nan", "nan", "-inf", "inf"] {
        for end in [",", "\n", "\r", "}", " "] {
            for gap in ["\" : ", "\": ", "\":"] {
                let bare = format!("{gap}{word}{end}");
                if text.contains(&bare) {
                    text = text.replace(&bare, &format!("{gap}null{end}"));
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GOOD: &str = "{\n  \"fio version\" : \"fio-3.36\",\n  \"jobs\" : []\n}\n";

    #[test]
    fn documents_are_cut_out_of_their_surroundings() {
        let text = format!("note: {{odd}}\n{{ broken\n{GOOD}run: io=1\n{GOOD}{{\"other\": 1}}\n");
        let (found, broken) = documents(&text);
        assert_eq!(found.iter().map(|d| d.line).collect::<Vec<_>>(), [3, 8]);
        assert!(broken.is_empty());
    }

    #[test]
    fn a_document_that_breaks_off_is_told_of() {
        let cut = &GOOD[..GOOD.len() - 4];
        let (found, broken) = documents(cut);
        assert!(found.is_empty());
        assert_eq!(broken.len(), 1);
        assert!(broken[0].1.contains("cut off at line 3"), "{broken:?}");
        let (found, broken) = documents(&format!("{cut}\n{GOOD}"));
        assert_eq!((found.len(), broken.len()), (1, 1), "{broken:?}");
    }

    #[test]
    fn numbers_that_are_none_become_null() {
        let text = GOOD.replace("[]", "[{\"jobname\": \"nan\", \"a\" : -nan, \"b\":inf}]");
        let (found, _) = documents(&text);
        assert_eq!(found[0].value["jobs"][0], json!({"jobname": "nan", "a": null, "b": null}));
    }
}
