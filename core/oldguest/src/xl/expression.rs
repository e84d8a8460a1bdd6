//! The right side of an assignment.
//!
//! Owns what is evaluated: constants, lists, dictionaries, names, and `+`, `*` and `%` between them. It must never call
//! anything: what a call or an attribute would give is not known.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::{Kind, Token};
use super::value::{Item, Value};
use crate::problem::{Place, Problems, quoted};

/// Brackets within brackets.
const DEEPEST: usize = 32;
/// Bytes of values that are copied by their names in one file.
const MOST_COPIED: usize = 8 << 20;

/// Names that have a value, and which of them were asked for.
#[derive(Debug, Default)]
pub(super) struct Scope {
    values: BTreeMap<String, Value>,
    pub used: BTreeSet<String>,
    copied: usize,
}

impl Scope {
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.into(), value);
    }

    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// A copy of the value; unknown where there were too many copies.
    pub fn get(&mut self, name: &str) -> Option<Value> {
        let value = self.values.get(name)?;
        self.copied = self.copied.saturating_add(value.weight());
        self.used.insert(name.into());
        Some(if self.copied > MOST_COPIED { Value::Unknown } else { value.clone() })
    }
}

/// The value of an expression behind the sign at `sign`; what follows it is an error.
pub(super) fn evaluate(
    text: &str,
    sign: Place,
    tokens: &[Token],
    scope: &mut Scope,
    problems: &mut Problems,
) -> Value {
    if let Some(word) = bare_word(text, tokens, scope) {
        let at = tokens.first().map(|token| token.at).unwrap_or_default();
        let shown = quoted(word);
        problems.error(at, format!("{shown} is not in quotes and no variable has that name: taken as text"));
        return Value::Text(word.into());
    }
    let mut parser = Parser { sign, tokens, next: 0, depth: 0, scope, problems };
    let value = parser.sum();
    match parser.peek() {
        None => value,
        Some(token) => {
            let at = token.at;
            let shown = quoted(text.get(token.start..token.end).unwrap_or_default());
            let message = format!(
                "{shown} is not understood here: this is evaluated nowhere but in xm, so its value is not known"
            );
            parser.problems.error(at, message);
            Value::Unknown
        }
    }
}

/// A name or path that lacks its quotes: one word by its characters, which no variable begins.
fn bare_word<'a>(text: &'a str, tokens: &[Token], scope: &Scope) -> Option<&'a str> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let word = text.get(first.start..last.end)?;
    let plain = |c: char| c.is_alphanumeric() || "._-/:+@".contains(c);
    let known = match &first.kind {
        Kind::Word(name) => scope.has(name) || matches!(name.as_str(), "True" | "False" | "None"),
        Kind::Number(_) => {
            !word.contains(char::is_alphabetic) || number(word).is_some() || word.contains('+')
        }
        Kind::Mark('/') => false,
        _ => true,
    };
    (!known && word.chars().all(plain)).then_some(word)
}

/// Decimal, hexadecimal, or octal in either of Python's forms.
fn number(text: &str) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches('l');
    if let Some(digits) = digits.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).ok();
    }
    match digits.strip_prefix("0o").or_else(|| digits.strip_prefix('0')) {
        Some("") | None => digits.parse().ok(),
        Some(octal) => i64::from_str_radix(octal, 8).ok(),
    }
}

struct Parser<'a> {
    sign: Place,
    tokens: &'a [Token],
    next: usize,
    depth: usize,
    scope: &'a mut Scope,
    problems: &'a mut Problems,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    fn takes(&mut self, mark: char) -> bool {
        let takes = self.peek().is_some_and(|token| token.is(mark));
        self.next += usize::from(takes);
        takes
    }

    fn place(&self) -> Place {
        self.peek().or(self.tokens.last()).map_or(self.sign, |token| token.at)
    }

    fn sum(&mut self) -> Value {
        let mut left = self.product();
        loop {
            let at = self.place();
            if !self.takes('+') {
                return left;
            }
            let right = self.product();
            left = self.made(Value::add(left, right), at, '+');
        }
    }

    fn product(&mut self) -> Value {
        let mut left = self.atom();
        loop {
            let at = self.place();
            let (of, mark): (fn(Value, Value) -> Option<Value>, _) = if self.takes('%') {
                (Value::substitute, '%')
            } else if self.takes('*') {
                (Value::multiply, '*')
            } else {
                return left;
            };
            let right = self.atom();
            left = self.made(of(left, right), at, mark);
        }
    }

    fn made(&mut self, value: Option<Value>, at: Place, mark: char) -> Value {
        value.unwrap_or_else(|| {
            self.problems
                .error(at, format!("these two do not go together by '{mark}': the value is not known"));
            Value::Unknown
        })
    }

    /// One value with what is called, looked up or indexed behind it.
    fn atom(&mut self) -> Value {
        let Some(token) = self.peek() else {
            self.problems.error(self.place(), "a value is missing here");
            return Value::Unknown;
        };
        self.next += 1;
        let value = match &token.kind {
            Kind::Text(text) => return self.texts(text.clone()),
            Kind::Number(text) => number(text).map_or_else(|| self.no_number(token, text), Value::Number),
            Kind::Word(word) => self.named(token, word),
            Kind::Broken => Value::Unknown,
            Kind::Mark('-') => return self.negative(),
            Kind::Mark(open @ ('[' | '(' | '{')) => self.bracket(*open, token.at),
            Kind::Mark(mark) => {
                self.problems.error(token.at, format!("a value is missing before this '{mark}'"));
                Value::Unknown
            }
        };
        if self.behind() { Value::Unknown } else { value }
    }

    /// A number behind one minus.
    fn negative(&mut self) -> Value {
        let number = match self.peek().map(|token| &token.kind) {
            Some(Kind::Number(text)) => number(text),
            _ => None,
        };
        self.next += usize::from(number.is_some());
        number.map_or(Value::Unknown, |number| Value::Number(number.saturating_neg()))
    }

    /// Strings beside each other are one, as in Python.
    fn texts(&mut self, mut text: String) -> Value {
        while let Some(Kind::Text(more)) = self.peek().map(|token| &token.kind) {
            text.push_str(more);
            self.next += 1;
        }
        if self.behind() { Value::Unknown } else { Value::Text(text) }
    }

    fn named(&mut self, token: &Token, word: &str) -> Value {
        match word {
            "True" => Value::Number(1),
            "False" => Value::Number(0),
            "None" => Value::Nothing,
            _ => self.scope.get(word).unwrap_or_else(|| {
                let is_call = self.peek().is_some_and(|token| token.is('('));
                if !is_call {
                    let word = quoted(word);
                    self.problems
                        .error(token.at, format!("no variable has the name {word}: are its quotes missing?"));
                }
                Value::Unknown
            }),
        }
    }

    fn no_number(&mut self, token: &Token, text: &str) -> Value {
        let text = quoted(text);
        self.problems.error(token.at, format!("{text} is no whole number: write 1024, or put it in quotes"));
        Value::Unknown
    }

    /// Passes over `.name`, `(…)` and `[…]`.
    fn behind(&mut self) -> bool {
        let start = self.next;
        loop {
            if self.takes('.') {
                self.next += usize::from(self.peek().is_some_and(|token| token.word().is_some()));
            } else if self.peek().is_some_and(|token| token.is('(') || token.is('[')) {
                self.pass_bracket();
            } else {
                return self.next > start;
            }
        }
    }

    fn pass_bracket(&mut self) {
        let mut open = 0usize;
        while let Some(token) = self.peek() {
            self.next += 1;
            match token.kind {
                Kind::Mark('(' | '[' | '{') => open += 1,
                Kind::Mark(')' | ']' | '}') => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    fn bracket(&mut self, open: char, at: Place) -> Value {
        if self.depth == DEEPEST {
            self.problems.error(at, format!("more than {DEEPEST} brackets within each other: not read"));
            self.next -= 1;
            self.pass_bracket();
            return Value::Unknown;
        }
        self.depth += 1;
        let value = match open {
            '{' => self.dict(),
            _ => self.list(open),
        };
        self.depth -= 1;
        value
    }

    /// `[…]`, a tuple, or one value in round brackets.
    fn list(&mut self, open: char) -> Value {
        let close = if open == '[' { ']' } else { ')' };
        let mut items: Vec<Item> = Vec::new();
        let mut comma = false;
        while self.peek().is_some() && !self.takes(close) {
            let at = self.place();
            // Beside each other without a comma they would be one string.
            let value = if open == '[' { self.item() } else { self.sum() };
            items.push(Item { value, at });
            let ends = self.peek().is_none_or(|token| token.is(close));
            comma = self.takes(',');
            if !comma && !ends {
                self.comma_missing(close);
            }
        }
        match items.as_mut_slice() {
            [one] if open == '(' && !comma => std::mem::replace(&mut one.value, Value::Nothing),
            _ => Value::List(items),
        }
    }

    fn item(&mut self) -> Value {
        match (self.peek().map(|token| &token.kind), self.tokens.get(self.next + 1).map(|token| &token.kind))
        {
            (Some(Kind::Text(text)), Some(Kind::Text(_))) => {
                self.next += 1;
                Value::Text(text.clone())
            }
            _ => self.sum(),
        }
    }

    /// Goes on with the next item, where one can begin here.
    fn comma_missing(&mut self, close: char) {
        let at = self.place();
        match self.peek().map(|token| &token.kind) {
            Some(Kind::Text(_)) => {
                self.problems.error(at, "a comma is missing before this string: taken as one more item")
            }
            _ => {
                self.problems.error(at, format!("',' or '{close}' is missing here: this item is left out"));
                while self.peek().is_some_and(|token| !token.is(',') && !token.is(close)) {
                    match self.peek() {
                        Some(token) if matches!(token.kind, Kind::Mark('(' | '[' | '{')) => {
                            self.pass_bracket()
                        }
                        _ => self.next += 1,
                    }
                }
                self.takes(',');
            }
        }
    }

    fn dict(&mut self) -> Value {
        let mut pairs = Vec::new();
        while self.peek().is_some() && !self.takes('}') {
            let at = self.place();
            let key = self.sum();
            let value = if self.takes(':') { self.sum() } else { Value::Unknown };
            match key {
                Value::Text(key) => pairs.push((key, Item { value, at })),
                Value::Number(key) => pairs.push((key.to_string(), Item { value, at })),
                _ => self.problems.error(at, "a key of a dictionary is a string or a number: left out"),
            }
            if !self.takes(',') && self.peek().is_some_and(|token| !token.is('}')) {
                self.comma_missing('}');
            }
        }
        Value::Dict(pairs)
    }
}
