//! What iperf3 prints with `-J`.
//!
//! Owns the search for the document and the decision whether it is a result: the exit code of iperf3 is 0 even where
//! it failed. It must never believe a document that does not hold all that was asked for.

use serde_json::Value;
use thiserror::Error;

/// Relative to the asked time.
const TOO_SHORT: f64 = 0.9;

/// What one finished test says.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub version: Option<String>,
    /// Of the receiver.
    pub bits_per_second: f64,
    /// Of the receiver, in seconds.
    pub seconds: f64,
    /// `None` where the system of the sender does not count them.
    pub retransmits: Option<f64>,
    /// Of the client and of the server, in per cent of one processor.
    pub cpu: [Option<f64>; 2],
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub seconds: f64,
    pub streams: usize,
    pub reverse: bool,
}

/// Why the output is not a result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ReportError {
    #[error("it printed no JSON document; it said: {0}")]
    NoDocument(String),
    #[error("{0}")]
    Said(String),
    #[error("its document has no {0}")]
    Lacks(&'static str),
    #[error("nothing arrived")]
    NoBytes,
    #[error("it measured {found} s instead of {asked} s")]
    Short { found: f64, asked: f64 },
    #[error("it used {found} streams instead of {asked}")]
    Streams { found: usize, asked: usize },
    #[error("it measured the other direction")]
    Direction,
}

impl Report {
    /// Reads the output of one client.
    ///
    /// # Errors
    /// [`ReportError`] when it is not the result that was asked for.
    pub fn read(stdout: &str, stderr: &str, asked: Asked) -> Result<Self, ReportError> {
        let said = complaint(stdout).or_else(|| complaint(stderr));
        let Some(document) = document(stdout) else {
            let words = said.or_else(|| last_line(stderr)).or_else(|| last_line(stdout));
            return Err(ReportError::NoDocument(words.unwrap_or("nothing").into()));
        };
        if let Some(error) = document.get("error").and_then(Value::as_str).or(said) {
            return Err(ReportError::Said(plain(error).into()));
        }
        let report = Self::of(&document)?;
        report.check(&document, asked)?;
        Ok(report)
    }

    fn of(document: &Value) -> Result<Self, ReportError> {
        let number = |path: &str| document.pointer(path).and_then(Value::as_f64);
        let version = document.pointer("/start/version").and_then(Value::as_str);
        if number("/end/sum_received/bytes").ok_or(ReportError::Lacks("bytes received"))? <= 0.0 {
            return Err(ReportError::NoBytes);
        }
        Ok(Self {
            version: version.map(|text| text.trim_start_matches("iperf ").to_string()),
            bits_per_second: number("/end/sum_received/bits_per_second")
                .ok_or(ReportError::Lacks("rate of the receiver"))?,
            seconds: number("/end/sum_received/seconds").ok_or(ReportError::Lacks("duration"))?,
            retransmits: number("/end/sum_sent/retransmits"),
            cpu: ["host", "remote"].map(|end| number(&format!("/end/cpu_utilization_percent/{end}_total"))),
        })
    }

    fn check(&self, document: &Value, asked: Asked) -> Result<(), ReportError> {
        if self.seconds < TOO_SHORT * asked.seconds {
            return Err(ReportError::Short { found: self.seconds, asked: asked.seconds });
        }
        let streams = document.pointer("/end/streams").and_then(Value::as_array).map_or(0, Vec::len);
        if streams != asked.streams {
            return Err(ReportError::Streams { found: streams, asked: asked.streams });
        }
        let reverse = document.pointer("/start/test_start/reverse").and_then(Value::as_u64);
        if reverse.is_some_and(|reverse| (reverse == 1) != asked.reverse) {
            return Err(ReportError::Direction);
        }
        Ok(())
    }
}

/// The first JSON object that begins a line, whatever is around it.
#[must_use]
pub fn document(text: &str) -> Option<Value> {
    first_object(text).or_else(|| first_object(&without_nan(text)))
}

fn first_object(text: &str) -> Option<Value> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('{') {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            if let Some(Ok(object)) = values.next() {
                return Some(object);
            }
        }
        at += line.len();
    }
    None
}

/// Bare words that C prints for numbers that are none become null.
fn without_nan(text: &str) -> String {
    let mut text = text.to_string();
    for word in ["-nan", "nan", "-inf", "inf"] {
        for gap in ["", " ", "\t"] {
            text = text.replace(&format!("\":{gap}{word}"), &format!("\":{gap}null"));
        }
    }
    text
}

/// iperf3's own error line.
fn complaint(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.trim().strip_prefix("iperf3: ")).map(plain)
}

/// Without the marks that come and go between versions.
fn plain(error: &str) -> &str {
    error.trim_start_matches("error - ").trim_end_matches([':', ' '])
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked = Asked { seconds: 2.0, streams: 2, reverse: false };

    fn good() -> Value {
        serde_json::json!({
            "start": {"version": "iperf 3.12", "test_start": {"reverse": 0}},
            "end": {
                "streams": [{}, {}],
                "sum_sent": {"bits_per_second": 9e8, "retransmits": 7},
                "sum_received": {"bytes": 212_500_000, "bits_per_second": 8.5e8, "seconds": 2.0},
                "cpu_utilization_percent": {"host_total": 75.5, "remote_total": 19.5}
            }
        })
    }

    fn read(document: &Value) -> Result<Report, ReportError> {
        Report::read(&document.to_string(), "", ASKED)
    }

    #[test]
    fn a_whole_result_is_read() {
        let report = Report {
            version: Some("3.12".into()),
            bits_per_second: 8.5e8,
            seconds: 2.0,
            retransmits: Some(7.0),
            cpu: [Some(75.5), Some(19.5)],
        };
        assert_eq!(read(&good()), Ok(report));
    }

    #[test]
    fn a_document_that_lacks_something_is_refused() {
        let edit = |path: &str, value: Value| {
            let mut document = good();
            *document.pointer_mut(path).expect(path) = value;
            read(&document)
        };
        assert_eq!(edit("/end/sum_received/bytes", 0.into()), Err(ReportError::NoBytes));
        assert_eq!(edit("/end/sum_received", Value::Null), Err(ReportError::Lacks("bytes received")));
        assert_eq!(edit("/end/streams", Value::Null), Err(ReportError::Streams { found: 0, asked: 2 }));
        assert_eq!(edit("/start/test_start/reverse", 1.into()), Err(ReportError::Direction));
        let short = edit("/end/sum_received/seconds", 1.7.into());
        assert_eq!(short, Err(ReportError::Short { found: 1.7, asked: 2.0 }));
    }

    #[test]
    fn errors_come_in_the_tools_words() {
        let refused = r#"{"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}"#;
        assert_eq!(Report::read(refused, "", ASKED), Err(ReportError::Said("unable to connect".into())));
        let old = refused.replace("unable to connect", "error - unable to connect: ");
        assert_eq!(Report::read(&old, "", ASKED), Err(ReportError::Said("unable to connect".into())));
        let after = format!("{}\niperf3: error - broken pipe\n", good());
        assert_eq!(Report::read(&after, "", ASKED), Err(ReportError::Said("broken pipe".into())));
        let missing = Report::read("", "iperf3: error - no such option\n", ASKED);
        assert_eq!(missing, Err(ReportError::NoDocument("no such option".into())));
        assert_eq!(Report::read("{\"end\"", "", ASKED), Err(ReportError::NoDocument("{\"end\"".into())));
    }

    #[test]
    fn the_document_is_cut_out_and_mended() {
        let noisy = format!("warning: {{odd}}\n{:#}\nConnection closed.\n", good());
        assert_eq!(document(&noisy), Some(good()));
        let mended = document("{\"a\": -nan, \"b\":\tinf, \"c\":nan, \"d\": \"nan\"}");
        assert_eq!(mended, Some(serde_json::json!({"a": null, "b": null, "c": null, "d": "nan"})));
    }
}
