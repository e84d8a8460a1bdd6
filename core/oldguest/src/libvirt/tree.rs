//! Elements of XML, read as far as the text goes.
//!
//! Owns what becomes of a document that is cut or damaged: what was read of it is kept. It must never resolve an entity
//! that is not XML's own, nor read anything but the text.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::problem::{Place, Problems, quoted};

/// Elements within elements.
const DEEPEST: usize = 64;

/// An element with all that is in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Element {
    /// With its prefix, where it has one.
    pub name: String,
    pub attributes: Vec<(String, String)>,
    /// All text that is directly in it.
    pub text: String,
    /// From 1.
    pub line: usize,
    pub children: Vec<Self>,
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first element at a path of names: `os/type`.
    pub fn find(&self, path: &str) -> Option<&Self> {
        path.split('/')
            .try_fold(self, |element, name| element.children.iter().find(|child| child.name == name))
    }

    /// The text of the element at a path, where there is any.
    pub fn text_of(&self, path: &str) -> Option<&str> {
        Some(self.find(path)?.text.trim()).filter(|text| !text.is_empty())
    }
}

/// The element that `text` begins with; `before` lines stand before it.
pub(super) fn read(text: &str, before: usize, problems: &mut Problems) -> Option<Element> {
    let mut builder = Builder { text, before, counted: (0, 0), open: Vec::new(), root: None, problems };
    builder.run();
    builder.finish()
}

struct Builder<'a> {
    text: &'a str,
    before: usize,
    /// A place, and the line ends before it.
    counted: (usize, usize),
    open: Vec<Element>,
    root: Option<Element>,
    problems: &'a mut Problems,
}

impl Builder<'_> {
    /// The line of a byte; bytes come in ascending order.
    fn line(&mut self, at: u64) -> usize {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.text.len());
        let (from, count) = self.counted;
        if at >= from {
            let more = self.text.as_bytes()[from..at].iter().filter(|&&byte| byte == b'\n').count();
            self.counted = (at, count + more);
        }
        self.before + self.counted.1 + 1
    }

    fn run(&mut self) {
        let mut reader = Reader::from_str(self.text);
        while self.root.is_none() {
            let line = self.line(reader.buffer_position());
            match reader.read_event() {
                Ok(Event::Start(start)) => {
                    if self.open.len() == DEEPEST {
                        return self.error(line, &format!("more than {DEEPEST} elements within each other"));
                    }
                    let element = self.element(&start, line);
                    self.open.push(element);
                }
                Ok(Event::Empty(start)) => {
                    let element = self.element(&start, line);
                    self.close(element);
                }
                Ok(Event::End(_)) => {
                    if let Some(element) = self.open.pop() {
                        self.close(element);
                    }
                }
                Ok(Event::Text(text)) => self.add(text.decode().unwrap_or_default().as_ref()),
                Ok(Event::CData(text)) => self.add(text.decode().unwrap_or_default().as_ref()),
                Ok(Event::GeneralRef(reference)) => {
                    let name = reference.decode().unwrap_or_default().into_owned();
                    match resolve(&name) {
                        Some(c) => self.add(c.encode_utf8(&mut [0; 4])),
                        None => self
                            .error(line, &format!("the entity {} is not resolved: left out", quoted(&name))),
                    }
                }
                Ok(Event::Eof) => return,
                Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
                Err(error) => {
                    let line = self.line(reader.error_position());
                    return self.error(line, &format!("this is no XML ({error})"));
                }
            }
        }
    }

    fn element(&mut self, start: &BytesStart, line: usize) -> Element {
        let name = String::from_utf8_lossy(start.name().as_ref()).into_owned();
        let mut element = Element { name, line, ..Element::default() };
        for attribute in start.attributes() {
            let read = attribute.map_err(|e| e.to_string()).and_then(|attribute| {
                let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
                let value = String::from_utf8_lossy(&attribute.value).into_owned();
                Ok((key, quick_xml::escape::unescape(&value).map_err(|e| e.to_string())?.into_owned()))
            });
            match read {
                Ok(pair) => element.attributes.push(pair),
                Err(error) => self
                    .error(line, &format!("an attribute of <{}> is wrong ({error}): left out", element.name)),
            }
        }
        element
    }

    fn add(&mut self, text: &str) {
        if let Some(element) = self.open.last_mut() {
            element.text.push_str(text);
        }
    }

    fn close(&mut self, element: Element) {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
    }

    fn error(&mut self, line: usize, message: &str) {
        let message: String = message
            .chars()
            .map(|c| if crossvisor_model::text::is_harmful(c) { '\u{fffd}' } else { c })
            .collect();
        self.problems.error(Place { line, column: 0 }, message);
    }

    /// The element, with what was open closed where the text ends.
    fn finish(mut self) -> Option<Element> {
        if let (None, Some(last)) = (&self.root, self.open.last()) {
            let (name, line) = (quoted(&last.name), last.line);
            let end = self.line(u64::MAX);
            self.error(end, &format!("the document is cut off or damaged: the element {name} of line {line} does not end; what was read until here is taken"));
        }
        while let (None, Some(element)) = (&self.root, self.open.pop()) {
            self.close(element);
        }
        self.root
    }
}

/// XML's own entities and characters by their number.
fn resolve(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
