//! What the targets have in common: the offers of plugins, and what must hold for whatever they read.
//!
//! Owns the properties. It must never know what a target's input means.

mod folder;
mod guests;
mod offered;
mod plugins;

use std::borrow::Cow;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use folder::{Folder, run};
pub use guests::holds_for_guests;
pub use offered::Offered;
pub use plugins::{LINKED, Responder, catalog, responders};

/// Any bytes as the text that a reader gets: what is not UTF-8 is U+FFFD.
#[must_use]
pub fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// What is written as JSON is read back as it was. A number that is none is not: JSON has no form for it.
///
/// # Panics
/// Where it is not.
pub fn read_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = serde_json::to_string(value).unwrap_or_else(|e| panic!("{value:?} has no JSON form: {e}"));
    let back: T = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{json} is not read back: {e}"));
    assert_eq!(back, *value, "{json}");
}
