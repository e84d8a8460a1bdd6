//! A transcript: one operation as requests and the replies they must get, turn by turn, as a file holds it.
//!
//! Owns the form of the file and the comparison. It must never read or write a file, and never know a plugin.
//!
//! A transcript of one turn is `{"request": …, "reply": …}`. Further turns follow in `then`, each
//! `{"results": […], "reply": …}`: the first request again, with these results and with the state that the plugin
//! gave before. A `stdout` or `stderr` of the form `@NAME` stands for a recorded output of that name.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::envelope::{Answer, Reply, Request, Turn};

/// One operation of a plugin, request by request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    pub request: Value,
    pub reply: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Later>,
}

/// A turn after the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Later {
    /// What came of the steps of the turn before.
    pub results: Value,
    pub reply: Value,
}

/// Why a transcript cannot be replayed.
#[derive(Debug, Error)]
pub enum TranscriptError {
    #[error("turn {turn}: the recorded output '{name}' is not there: record it, or correct its name")]
    Recorded { turn: usize, name: String },
    #[error(
        "turn {turn}: the reply before it ended the operation or refused it: drop this turn, or mend the plugin"
    )]
    Over { turn: usize },
}

/// One request as the plugin gets it, what it must answer and what it answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// With recorded outputs and state filled in.
    pub request: Value,
    pub expected: Value,
    pub got: Value,
}

impl Transcript {
    /// Asks `plugin` turn by turn. `recorded` gives the text of a recorded output by its name.
    ///
    /// # Errors
    /// [`TranscriptError`] when there is no request to be made.
    pub fn replay(
        &self,
        recorded: impl Fn(&str) -> Option<String>,
        mut plugin: impl FnMut(&Value) -> Value,
    ) -> Result<Vec<Exchange>, TranscriptError> {
        let mut request = self.request.clone();
        let mut exchanges: Vec<Exchange> = Vec::new();
        let later = self.then.iter().map(|turn| (Some(&turn.results), &turn.reply));
        for (index, (results, expected)) in std::iter::once((None, &self.reply)).chain(later).enumerate() {
            let turn = index + 1;
            if let (Some(results), Some(last)) = (results, exchanges.last()) {
                let open = last.got.get("ok").filter(|ok| ok["done"] != true);
                request["state"] = open.ok_or(TranscriptError::Over { turn })?["state"].clone();
                request["results"] = results.clone();
            }
            fill(&mut request, &recorded).map_err(|name| TranscriptError::Recorded { turn, name })?;
            let got = plugin(&request);
            exchanges.push(Exchange { request: request.clone(), expected: expected.clone(), got });
        }
        Ok(exchanges)
    }

    /// Takes the replies of a replay for the right ones, here and in the exchanges.
    pub fn bless(&mut self, exchanges: &mut [Exchange]) {
        let later = self.then.iter_mut().map(|turn| &mut turn.reply);
        for (reply, exchange) in std::iter::once(&mut self.reply).chain(later).zip(exchanges) {
            exchange.expected.clone_from(&exchange.got);
            reply.clone_from(&exchange.got);
        }
    }
}

impl Exchange {
    /// What is wrong with this exchange, if anything: request or reply outside the contract, or another reply.
    ///
    /// # Errors
    /// The fault in words.
    pub fn check(&self) -> Result<(), String> {
        let request = Request::deserialize(&self.request).map_err(|e| format!("not a request: {e}"))?;
        let reply: Reply = Reply::deserialize(&self.got).map_err(|e| format!("the reply is not one: {e}"))?;
        if let Answer::Ok(Turn { done: true, output, .. }) = &reply.answer {
            let output = request.call.check_output(output);
            output.map_err(|e| format!("the output is not the operation's: {e}"))?;
        }
        if self.got == self.expected {
            return Ok(());
        }
        Err(format!("the reply is\n{:#}\ninstead of\n{:#}", self.got, self.expected))
    }
}

/// Puts recorded outputs in their places; the error is the name of one that is not there.
fn fill(value: &mut Value, recorded: &impl Fn(&str) -> Option<String>) -> Result<(), String> {
    match value {
        Value::Object(fields) => fields.iter_mut().try_for_each(|(key, value)| {
            let name = value.as_str().and_then(|text| text.strip_prefix('@'));
            match name.filter(|_| key == "stdout" || key == "stderr") {
                Some(name) => {
                    let name = name.to_string();
                    *value = recorded(&name).ok_or(name)?.into();
                    Ok(())
                }
                None => fill(value, recorded),
            }
        }),
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, recorded)),
        _ => Ok(()),
    }
}
