//! The values of a configuration by their keys, as numbers, texts and lists.
//!
//! Owns what a key's value may be and what is said of one that is not. It must never know what a key means.

use std::collections::BTreeMap;

use super::keys::{self, Effect};
use super::statements::{Assignments, Entry};
use super::value::{Item, Value, is_password};
use crate::lost::Lost;
use crate::problem::{Place, Problems, quoted};

/// The longest list of disks, cards or the like.
const LONGEST: usize = 1000;

/// The assignments of one file.
pub(super) struct Settings<'a> {
    entries: BTreeMap<String, Entry>,
    pub problems: &'a mut Problems,
}

impl<'a> Settings<'a> {
    /// Takes keys that differ from a known one in their case for that; tells of all that are not known.
    pub fn new(assignments: Assignments, problems: &'a mut Problems) -> Self {
        let Assignments { mut entries, helpers } = assignments;
        let unknown: Vec<String> =
            entries.keys().filter(|key| keys::effect(key).is_none()).cloned().collect();
        for key in unknown {
            let lower = key.to_lowercase();
            let (at, shown) = (entries.get(&key).map(|entry| entry.at).unwrap_or_default(), quoted(&key));
            if keys::effect(&lower).is_some() && !entries.contains_key(&lower) {
                problems.error(at, format!("xm and xl know {shown} in lower case only: taken as '{lower}'"));
                let entry = entries.remove(&key);
                entries.extend(entry.map(|entry| (lower, entry)));
            } else if !helpers.contains(&key) {
                let meant =
                    keys::nearest(&key).map(|meant| format!(": is '{meant}' meant?")).unwrap_or_default();
                problems
                    .warning(at, format!("neither xm nor xl knows {shown}, and both pass over it{meant}"));
            }
        }
        Self { entries, problems }
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key).filter(|entry| entry.value != Value::Nothing)
    }

    pub fn at(&self, key: &str) -> Place {
        self.entry(key).map(|entry| entry.at).unwrap_or_default()
    }

    pub fn warn(&mut self, key: &str, message: &str) {
        let at = self.at(key);
        self.problems.warning(at, message);
    }

    /// Whether any key is set that xm or xl reads.
    pub fn has_known(&self) -> bool {
        self.entries.keys().any(|key| keys::effect(key).is_some())
    }

    /// A text that is not empty; a number is one too.
    pub fn text(&mut self, key: &str) -> Option<String> {
        let Entry { value, at } = self.entry(key)?.clone();
        match value {
            Value::Text(text) => Some(text.trim().to_string()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            other => self.wrong(key, &other, at, "a text"),
        }
    }

    /// A whole number from 0, in quotes or not.
    pub fn number(&mut self, key: &str) -> Option<u64> {
        let Entry { value, at } = self.entry(key)?.clone();
        let number = match &value {
            Value::Number(number) => u64::try_from(*number).ok(),
            Value::Text(text) => text.trim().parse().ok(),
            _ => return self.wrong(key, &value, at, "a number"),
        };
        if number.is_none() {
            let shown = match &value {
                Value::Text(text) => quoted(text),
                other => other.json().to_string(),
            };
            self.problems.error(at, format!("'{key}' is a whole number from 0, not {shown}: left out"));
        }
        number
    }

    /// The items of a list; one text is a list of one.
    pub fn list(&mut self, key: &str) -> Vec<Item> {
        let Some(Entry { value, at }) = self.entry(key).cloned() else { return Vec::new() };
        let mut items = match value {
            Value::List(items) => items,
            Value::Text(text) if text.trim().is_empty() => Vec::new(),
            Value::Text(_) => {
                self.problems.error(at, format!("'{key}' is a list: write [ '…' ]; taken as a list of one"));
                vec![Item { value, at }]
            }
            other => self.wrong(key, &other, at, "a list").unwrap_or_default(),
        };
        if items.len() > LONGEST {
            let count = items.len();
            self.problems.error(at, format!("'{key}' has {count} items: only the first {LONGEST} are read"));
            items.truncate(LONGEST);
        }
        items
    }

    /// The texts of a list with their places.
    pub fn texts(&mut self, key: &str) -> Vec<(String, Place)> {
        let mut texts = Vec::new();
        for Item { value, at } in self.list(key) {
            match value {
                Value::Text(text) => texts.push((text, at)),
                Value::Number(number) => texts.push((number.to_string(), at)),
                other => _ = self.wrong::<()>(key, &other, at, "a list of texts"),
            }
        }
        texts
    }

    /// Tells of a value that is none of the wanted kind.
    fn wrong<T>(&mut self, key: &str, value: &Value, at: Place, wanted: &str) -> Option<T> {
        let message = match value {
            // What made it unknown has been told.
            Value::Unknown if self.problems.has_error(at.line) => return None,
            Value::Unknown => format!("the value of '{key}' is not known: write {wanted} here"),
            Value::Choice(_) => {
                let choices = value.json()["one of"].to_string();
                let shown = quoted(choices.trim_matches(['[', ']']));
                format!("'{key}' is one of {shown}, as code decides that is not run: write {wanted} here")
            }
            _ => format!("'{key}' is {wanted}: this is left out"),
        };
        self.problems.error(at, message);
        None
    }

    /// All values that are not read into a field of the guest.
    pub fn others(&self) -> BTreeMap<String, serde_json::Value> {
        let kept = self
            .entries
            .iter()
            .filter(|(key, _)| keys::effect(key) != Some(Effect::Read) && !is_password(key));
        kept.map(|(key, entry)| (key.clone(), entry.value.json())).collect()
    }

    pub fn lines(&self) -> BTreeMap<String, usize> {
        self.entries.iter().map(|(key, entry)| (key.clone(), entry.at.line)).collect()
    }

    /// What is lost with keys that are on.
    pub fn lost(&self) -> Vec<Lost> {
        let lost = |(key, entry): (&String, &Entry)| match keys::effect(key)? {
            Effect::Lost(on, why) if !entry.value.is_off() => {
                Some(Lost::new(on, format!("'{key}'"), why, Some(entry.at.line)))
            }
            _ => None,
        };
        self.entries.iter().filter_map(lost).collect()
    }
}
