//! Values of a configuration.
//!
//! Owns what they can be and how they are put together. It must never know which key they belong to.

use serde_json::{Value as Json, json};

use crate::problem::Place;

/// The most values that one can be, where that depends on code.
const MOST_CHOICES: usize = 16;
/// The most characters of a text that was put together.
const MOST_TEXT: usize = 1 << 16;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Text(String),
    List(Vec<Item>),
    /// Pairs in their order.
    Dict(Vec<(String, Item)>),
    /// One of these, as code decides that is not run.
    Choice(Vec<Value>),
    /// Python's `None`.
    Nothing,
    /// Made by code that is not run, or not readable.
    Unknown,
}

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub value: Value,
    pub at: Place,
}

impl Value {
    /// One of several, each once.
    pub fn choice(values: impl IntoIterator<Item = Self>) -> Self {
        let mut choices = Vec::new();
        for value in values {
            let values = if let Self::Choice(values) = value { values } else { vec![value] };
            for value in values {
                if !choices.contains(&value) {
                    choices.push(value);
                }
            }
        }
        let known = choices.len() <= MOST_CHOICES && !choices.contains(&Self::Unknown);
        if known { Self::Choice(choices) } else { Self::Unknown }
    }

    /// `left + right`; `None` for what cannot be added.
    pub fn add(left: Self, right: Self) -> Option<Self> {
        Self::each(left, right, &|left, right| match (left, right) {
            (Self::Number(left), Self::Number(right)) => left.checked_add(right).map(Self::Number),
            (Self::Text(left), Self::Text(right)) => short(left + &right),
            (Self::List(mut left), Self::List(right)) => {
                left.extend(right);
                Some(Self::List(left))
            }
            _ => None,
        })
    }

    /// `left * right` of numbers.
    pub fn multiply(left: Self, right: Self) -> Option<Self> {
        Self::each(left, right, &|left, right| match (left, right) {
            (Self::Number(left), Self::Number(right)) => left.checked_mul(right).map(Self::Number),
            _ => None,
        })
    }

    /// `left % right`: `%s` and `%d` of a text replaced, or the remainder of numbers.
    pub fn substitute(left: Self, right: Self) -> Option<Self> {
        Self::each(left, right, &|left, right| match (left, right) {
            (Self::Number(left), Self::Number(right)) => left.checked_rem_euclid(right).map(Self::Number),
            (Self::Text(text), Self::List(items)) => {
                fill(&text, items.into_iter().map(|item| item.value).collect()).and_then(short)
            }
            (Self::Text(text), value) => fill(&text, vec![value]).and_then(short),
            _ => None,
        })
    }

    /// Does it with each of the values that either side can have.
    fn each(left: Self, right: Self, of: &dyn Fn(Self, Self) -> Option<Self>) -> Option<Self> {
        if left == Self::Unknown || right == Self::Unknown {
            return Some(Self::Unknown);
        }
        if !matches!((&left, &right), (Self::Choice(_), _) | (_, Self::Choice(_))) {
            return of(left, right);
        }
        let all = |value| if let Self::Choice(values) = value { values } else { vec![value] };
        let (left, right) = (all(left), all(right));
        let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left.clone(), right.clone())));
        let made: Option<Vec<_>> = pairs.map(|(left, right)| of(left, right)).collect();
        made.map(Self::choice)
    }

    /// Bytes that it takes, about.
    pub fn weight(&self) -> usize {
        const EACH: usize = 64;
        let own = match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(|item| item.value.weight()).sum(),
            Self::Dict(pairs) => pairs.iter().map(|(key, item)| key.len() + item.value.weight()).sum(),
            Self::Choice(values) => values.iter().map(Self::weight).sum(),
            Self::Number(_) | Self::Nothing | Self::Unknown => 0,
        };
        own + EACH
    }

    /// `False`, `0`, `''`, `[]`, `None`, `'0'` or `'none'`: what turns a key off.
    pub fn is_off(&self) -> bool {
        match self {
            Self::Number(number) => *number == 0,
            Self::Text(text) => matches!(text.trim(), "" | "0" | "none"),
            Self::List(items) => items.is_empty(),
            Self::Dict(pairs) => pairs.is_empty(),
            Self::Nothing => true,
            Self::Choice(_) | Self::Unknown => false,
        }
    }

    /// For people and programs; what is not known is `null`, and what is one of several `{"one of": […]}`.
    pub fn json(&self) -> Json {
        match self {
            Self::Number(number) => json!(number),
            Self::Text(text) => json!(without_passwords(text)),
            Self::List(items) => items.iter().map(|item| item.value.json()).collect(),
            Self::Dict(pairs) => pairs
                .iter()
                .map(|(key, item)| (key.clone(), item.value.json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Self::Choice(values) => json!({"one of": values.iter().map(Self::json).collect::<Vec<_>>()}),
            Self::Nothing | Self::Unknown => Json::Null,
        }
    }
}

fn short(text: String) -> Option<Value> {
    (text.len() <= MOST_TEXT).then_some(Value::Text(text))
}

/// Python's `%` with `%s`, `%d`, `%i` and `%%`; `None` where the values do not fit.
fn fill(text: &str, values: Vec<Value>) -> Option<String> {
    let mut values = values.into_iter();
    let mut filled = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            filled.push(c);
            continue;
        }
        match (chars.next()?, &mut values) {
            ('%', _) => filled.push('%'),
            ('s' | 'd' | 'i', values) => match values.next()? {
                Value::Number(number) => filled.push_str(&number.to_string()),
                Value::Text(text) => filled.push_str(&text),
                _ => return None,
            },
            _ => return None,
        }
    }
    values.next().is_none().then_some(filled)
}

/// `a=b,vncpasswd=…` without the password.
pub(super) fn without_passwords(text: &str) -> String {
    if !text.contains("passw") {
        return text.into();
    }
    let part = |part: &str| match part.split_once('=') {
        Some((key, _)) if is_password(key) => format!("{key}=…"),
        _ => part.to_string(),
    };
    text.split(',').map(part).collect::<Vec<_>>().join(",")
}

/// Whether the value of a key is nobody's business.
pub(super) fn is_password(key: &str) -> bool {
    key.to_ascii_lowercase().contains("passw")
}
