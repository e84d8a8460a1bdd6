//! YAML text as a tree that remembers where everything was written.
//!
//! Owns the subset of YAML that a scenario may use: one document of mappings, sequences and scalars. Anchors,
//! aliases, tags, merge keys and keys that are not words are refused by name. Scalars stay text here: what they
//! mean is decided by the place that reads them, so that `no`, `on` and `1e3` hold no surprise.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};

use crate::problem::{MAX_PROBLEMS, Problem};
use crate::source::{Source, Span, Spanned};

/// A part of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub span: Span,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, plain: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// True for a value that was left out, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }
}

/// Deeper than any scenario, and shallow enough for every stack.
const MAX_DEPTH: usize = 24;

/// Reads the one document of `source`.
pub(crate) fn read(source: &Source) -> Result<Node, Vec<Problem>> {
    let text = source.text();
    let parser = Parser::new_from_str(text);
    let offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
    let mut builder = Builder { text, source, parser, offsets, problems: Vec::new() };
    match builder.document() {
        Ok(node) if builder.problems.is_empty() => Ok(node),
        Ok(_) => Err(builder.problems),
        Err(Stop(problem)) => {
            builder.problems.push(*problem);
            Err(builder.problems)
        }
    }
}

/// A problem after which the rest of the text has no meaning.
struct Stop(Box<Problem>);

struct Builder<'a> {
    text: &'a str,
    source: &'a Source,
    parser: Parser<'a, StrInput<'a>>,
    /// The byte offset of each character: the parser counts characters.
    offsets: Vec<usize>,
    problems: Vec<Problem>,
}

impl<'a> Builder<'a> {
    fn document(&mut self) -> Result<Node, Stop> {
        let root = loop {
            match self.next()? {
                (Event::StreamEnd, span) => return Err(self.empty(span)),
                (Event::StreamStart | Event::DocumentStart(_), _) => {}
                (event, span) => break self.node(event, span, 0)?,
            }
        };
        if root.is_null() {
            return Err(self.empty(root.span));
        }
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(root),
                (Event::DocumentStart(_), span) => {
                    let help = "put each scenario in a file of its own";
                    return Err(self.stop(span, "a second document starts here", Some(help)));
                }
                _ => {}
            }
        }
    }

    fn empty(&self, span: Span) -> Stop {
        let help = "a scenario has at least the keys name, guest and matrix";
        self.stop(span, "the scenario is empty", Some(help))
    }

    fn stop(&self, span: Span, message: &str, help: Option<&str>) -> Stop {
        Stop(Box::new(self.source.problem(span, message, help.map(Into::into))))
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Stop> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                let (start, end) = (self.offset(span.start.index()), self.offset(span.end.index()));
                Ok((event, Span { offset: start, length: end.saturating_sub(start) }))
            }
            Some(Err(error)) => Err(self.syntax(&error)),
            None => Ok((Event::StreamEnd, Span { offset: self.text.len(), length: 0 })),
        }
    }

    fn offset(&self, characters: usize) -> usize {
        self.offsets.get(characters).copied().unwrap_or(self.text.len())
    }

    fn syntax(&self, error: &ScanError) -> Stop {
        let offset = self.offset(error.marker().index());
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().unwrap_or("");
        let indent = &line[..line.len() - line.trim_start().len()];
        if let Some(at) = indent.find('\t') {
            let span = Span { offset: start + at, length: 1 };
            return self.stop(span, "a tab indents this line", Some("YAML is indented with spaces only"));
        }
        let help = "check the indentation, the brackets and the quotes before this place";
        let message = format!("this is not YAML: {}", error.info());
        self.stop(Span { offset, length: 0 }, &message, Some(help))
    }

    /// Flow collections span their brackets; block collections have an empty span where they begin.
    fn node(&mut self, event: Event<'a>, mut span: Span, depth: usize) -> Result<Node, Stop> {
        if depth > MAX_DEPTH {
            return Err(self.stop(span, "this is nested too deeply", None));
        }
        let (value, anchor, tag) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                (Value::Scalar { text: text.into_owned(), plain }, anchor, tag)
            }
            Event::SequenceStart(anchor, tag) => (self.sequence(&mut span, depth)?, anchor, tag),
            Event::MappingStart(anchor, tag) => (self.mapping(&mut span, depth)?, anchor, tag),
            Event::Alias(_) => {
                self.refuse(span, "aliases ('*name') are not part of a scenario", "write the value again");
                return Ok(Node { span, value: Value::Scalar { text: String::new(), plain: false } });
            }
            _ => return Err(self.stop(span, "this is not YAML: a value was expected", None)),
        };
        if anchor != 0 {
            self.refuse(span, "anchors ('&name') are not part of a scenario", "leave the anchor out");
        }
        if tag.is_some() {
            let message = "tags ('!name') are not part of a scenario";
            self.refuse(span, message, "leave the tag out: each place knows what it takes");
        }
        Ok(Node { span, value })
    }

    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(self.source.problem(span, message, Some(help.into())));
        }
    }

    fn sequence(&mut self, span: &mut Span, depth: usize) -> Result<Value, Stop> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, end) => {
                    span.close(end);
                    return Ok(Value::Sequence(items));
                }
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, span: &mut Span, depth: usize) -> Result<Value, Stop> {
        let mut entries = Vec::new();
        let mut first: HashMap<String, usize> = HashMap::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, end) => {
                    span.close(end);
                    return Ok(Value::Mapping(entries));
                }
                (event, span) => self.node(event, span, depth + 1)?,
            };
            let (event, span) = self.next()?;
            let mut value = self.node(event, span, depth + 1)?;
            if value.span.length == 0 {
                value.span = key.span; // what has no brackets, or was left out, has no place of its own
            }
            let Some(key) = self.key(key) else { continue };
            match first.get(&key.value) {
                None => {
                    first.insert(key.value.clone(), key.span.offset);
                    entries.push((key, value));
                }
                Some(&offset) => {
                    let help =
                        format!("it is set on line {} already: keep one of them", self.source.line(offset));
                    self.refuse(key.span, &format!("'{}' is set twice", key.value), &help);
                }
            }
        }
    }

    /// The word that a key is; anything else is refused.
    fn key(&mut self, key: Node) -> Option<Spanned<String>> {
        match key.value {
            Value::Scalar { text, plain: true } if text == "<<" => {
                let message = "merge keys ('<<') are not part of a scenario";
                self.refuse(key.span, message, "write the keys out");
                None
            }
            Value::Scalar { text, .. } => Some(Spanned { value: text, span: key.span }),
            _ => {
                self.refuse(key.span, "a key must be a word", "write 'key: value'");
                None
            }
        }
    }
}
