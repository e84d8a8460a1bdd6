//! Reads nodes of the tree as what their place needs, and collects what is wrong with them.
//!
//! Owns the meaning of scalars (whole numbers, switches, names, sizes, times, shares) and the wording of type errors. It
//! must never stop at the first problem: a value that cannot be read is `None` and the reading goes on.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crossvisor_model::{Bytes, Name, Seconds, Share};

use crate::problem::{MAX_PROBLEMS, Problem};
use crate::source::{Source, Span, Spanned};
use crate::suggest;
use crate::tree::{Node, Value};

/// Items of one list: an axis of more values has more cells than anyone can run.
const MAX_ITEMS: usize = 10_000;

/// The problems found so far in one source.
pub(crate) struct Reader {
    source: Source,
    problems: Vec<Problem>,
}

/// The entries of a mapping whose keys are known.
pub(crate) struct Fields<'n> {
    entries: &'n [(Spanned<String>, Node)],
    span: Span,
}

impl<'n> Fields<'n> {
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(name, _)| name.value == key).map(|(_, node)| node)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.value.as_str())
    }

    pub fn span(&self) -> Span {
        self.span
    }

    /// Where the key stands, or the whole mapping when it does not.
    pub fn key_span(&self, key: &str) -> Span {
        self.entries.iter().find(|(name, _)| name.value == key).map_or(self.span, |(name, _)| name.span)
    }
}

impl Reader {
    pub fn new(source: &Source) -> Self {
        Self { source: source.clone(), problems: Vec::new() }
    }

    /// `value`, or the problems in the order of their places if there are any.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<Problem>> {
        self.problems.sort_by_key(|problem| problem.offset);
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(self.problems),
        }
    }

    pub fn problem(&mut self, span: Span, message: impl AsRef<str>, help: impl Into<String>) {
        if !self.is_full() {
            self.problems.push(self.source.problem(span, message, Some(help.into())));
        }
    }

    /// True when no further problem is taken: whoever needs time to describe one need not.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    fn wrong_type(&mut self, node: &Node, what: &str, wanted: &str, help: impl Into<String>) {
        let message = match node.is_null() {
            true => format!("{what} has no value: it must be {wanted}"),
            false => format!("{what} must be {wanted}, not {}", describe(node)),
        };
        self.problem(node.span, message, help);
    }

    /// The entries of a mapping with any keys; nothing at all counts as an empty mapping.
    pub fn entries<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [(Spanned<String>, Node)]> {
        match &node.value {
            Value::Mapping(entries) => Some(entries),
            _ if node.is_null() => Some(&[]),
            _ => {
                self.wrong_type(node, what, "a mapping", "write it as 'key: value' lines or as {key: value}");
                None
            }
        }
    }

    /// The entries of a mapping that may hold `keys` and must hold `required` of them.
    pub fn fields<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        keys: &[&str],
        required: &[&str],
    ) -> Option<Fields<'n>> {
        let fields = Fields { entries: self.entries(node, what)?, span: node.span };
        let mut slips = Vec::new();
        for (key, _) in fields.entries.iter().filter(|(key, _)| !keys.contains(&key.value.as_str())) {
            if self.is_full() {
                break;
            }
            slips.extend(suggest::nearest(&key.value, keys));
            let help = suggest::among(&key.value, "the keys here are", keys);
            self.problem(key.span, format!("{what} has no key '{}'", key.value), help);
        }
        for key in required.iter().filter(|key| fields.get(key).is_none() && !slips.contains(key)) {
            let help = format!("add '{key}: …' here; see docs/scenarios.md");
            self.problem(node.span, format!("{what} lacks the key '{key}'"), help);
        }
        Some(fields)
    }

    /// The items of a list; one value may stand for a list of one.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.value {
            Value::Sequence(items) if items.len() > MAX_ITEMS => {
                let message = format!("{what} has {} values, more than {MAX_ITEMS}", items.len());
                self.problem(node.span, message, "run it as several scenarios with shorter lists");
                None
            }
            Value::Sequence(items) if !items.is_empty() => Some(items),
            Value::Scalar { .. } if !node.is_null() => Some(std::slice::from_ref(node)),
            Value::Mapping(_) => {
                self.wrong_type(node, what, "a list", "write it as [one, two]");
                None
            }
            _ => {
                self.problem(node.span, format!("{what} is empty"), "name at least one value: [one, two]");
                None
            }
        }
    }

    /// The text of a scalar, however it is quoted.
    pub fn text(&mut self, node: &Node, what: &str, wanted: &str) -> Option<Spanned<String>> {
        match &node.value {
            Value::Scalar { text, .. } if !node.is_null() => {
                Some(Spanned { value: text.clone(), span: node.span })
            }
            _ => {
                self.wrong_type(node, what, wanted, "write one value after the colon");
                None
            }
        }
    }

    fn parsed<T>(&mut self, node: &Node, what: &str, wanted: &str, help: &str) -> Option<Spanned<T>>
    where
        T: FromStr<Err: Display>,
    {
        let text = self.text(node, what, wanted)?;
        match text.value.parse() {
            Ok(value) => Some(Spanned { value, span: node.span }),
            Err(error) => {
                self.problem(node.span, format!("{what}: {error}"), help);
                None
            }
        }
    }

    pub fn name(&mut self, node: &Node, what: &str) -> Option<Spanned<Name>> {
        let like = match &node.value {
            Value::Scalar { text, .. } => suggest::name_like(text),
            _ => None,
        };
        let help = like.map(|name| format!("did you mean '{name}'? ")).unwrap_or_default()
            + "names become file and domain names";
        self.parsed(node, what, "a name", &help)
    }

    /// The name that a key is.
    pub fn key_name(&mut self, key: &Spanned<String>, what: &str) -> Option<Spanned<Name>> {
        let text = Value::Scalar { text: key.value.clone(), plain: false };
        self.name(&Node { span: key.span, value: text }, what)
    }

    pub fn size(&mut self, node: &Node, what: &str) -> Option<Spanned<Bytes>> {
        self.parsed(node, what, "a size", "sizes are written with their unit: 512MiB, 2GiB")
    }

    pub fn share(&mut self, node: &Node, what: &str) -> Option<Spanned<Share>> {
        self.parsed(node, what, "a percentage", "shares are written with their unit: 2%, 0.5%")
    }

    /// A time within `range` seconds.
    pub fn time(&mut self, node: &Node, what: &str, range: RangeInclusive<f64>) -> Option<Spanned<Seconds>> {
        let time: Spanned<Seconds> =
            self.parsed(node, what, "a time", "times are written with their unit: 500ms, 30s, 5m, 2h")?;
        self.in_range(time, what, Seconds(*range.start())..=Seconds(*range.end()))
    }

    /// A whole number within `range`, in plain decimal digits.
    pub fn whole(&mut self, node: &Node, what: &str, range: RangeInclusive<i128>) -> Option<Spanned<i128>> {
        let Value::Scalar { text, plain: true } = &node.value else {
            self.wrong_type(node, what, "a whole number", number_help(node));
            return None;
        };
        let digits = text.strip_prefix('-').unwrap_or(text);
        let leading_zero = digits.len() > 1 && digits.starts_with('0');
        match text.parse().ok().filter(|_| !leading_zero && !text.starts_with('+')) {
            Some(value) => self.in_range(Spanned { value, span: node.span }, what, range),
            None => {
                self.wrong_type(node, what, "a whole number", number_help(node));
                None
            }
        }
    }

    pub fn switch(&mut self, node: &Node, what: &str) -> Option<Spanned<bool>> {
        let value = match &node.value {
            Value::Scalar { text, plain: true } => text.parse().ok(),
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(node, what, "true or false", "write true or false, without quotes");
        }
        value.map(|value| Spanned { value, span: node.span })
    }

    pub fn in_range<T: PartialOrd + Display>(
        &mut self,
        value: Spanned<T>,
        what: &str,
        range: RangeInclusive<T>,
    ) -> Option<Spanned<T>> {
        if range.contains(&value.value) {
            return Some(value);
        }
        let (least, most) = (range.start(), range.end());
        let message = format!("{what} is out of range: {}", value.value);
        self.problem(value.span, message, format!("the least is {least} and the most is {most}"));
        None
    }
}

fn number_help(node: &Node) -> &'static str {
    match &node.value {
        Value::Scalar { plain: false, .. } => "write it without quotes",
        _ => "write decimal digits only: 1000, not 1e3, 1_000, 0x3e8 or 01750",
    }
}

/// What a node is, for people.
fn describe(node: &Node) -> String {
    match &node.value {
        Value::Scalar { text, plain: true } => format!("'{text}'"),
        Value::Scalar { text, plain: false } => format!("the text \"{text}\""),
        Value::Sequence(_) => "a list".into(),
        Value::Mapping(_) => "a mapping".into(),
    }
}
