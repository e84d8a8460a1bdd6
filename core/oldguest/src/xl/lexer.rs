//! The text of a configuration as logical lines of tokens, as Python forms them.
//!
//! Owns quotes, comments, brackets over several lines, and damage of pasting: typographic quotes, odd spaces, strings
//! and brackets that are not closed. It must never know what a line means.

use std::iter::Peekable;
use std::str::CharIndices;

use crate::problem::{Place, Problems, code_point};

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub at: Place,
    /// Bytes of the text.
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Word(String),
    /// What begins with a digit, as it was written.
    Number(String),
    Text(String),
    Mark(char),
    /// A string that is not closed.
    Broken,
}

impl Token {
    pub fn is(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    pub fn word(&self) -> Option<&str> {
        if let Kind::Word(word) = &self.kind { Some(word) } else { None }
    }
}

/// What Python takes for one line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Columns before its first token.
    pub indent: usize,
    /// Never empty.
    pub tokens: Vec<Token>,
}

/// The logical lines of a text.
pub(super) fn lines(text: &str, problems: &mut Problems) -> Vec<Line> {
    let mut lexer = Lexer {
        text,
        chars: text.char_indices().peekable(),
        at: Place { line: 1, column: 1 },
        open: Vec::new(),
        line: Vec::new(),
        lines: Vec::new(),
        odd_space: 0,
        odd_quote: 0,
        problems,
    };
    lexer.run();
    lexer.lines
}

struct Lexer<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    at: Place,
    /// Brackets that are open, and where.
    open: Vec<(char, Place)>,
    line: Vec<Token>,
    lines: Vec<Line>,
    /// The last line in which such a thing was told of: once a line is enough.
    odd_space: usize,
    odd_quote: usize,
    problems: &'a mut Problems,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(&(start, c)) = self.chars.peek() {
            let at = self.at;
            match c {
                '\n' => self.newline(),
                ' ' | '\t' | '\r' | '\x0c' => _ = self.next(),
                '#' => self.comment(),
                '\\' if self.text[start..].trim_start_matches(['\\', '\r']).starts_with('\n') => {
                    while self.next() != Some('\n') {}
                }
                c if is_odd_space(c) => self.odd_space(c),
                '\'' | '"' => self.string(start, at, false),
                c if ascii_quote(c).is_some() => {
                    self.odd_quote(c);
                    self.string(start, at, false);
                }
                c if c.is_alphanumeric() || c == '_' => self.word(start, at),
                c if c.is_ascii_punctuation() => self.mark(c, start, at),
                c => {
                    self.next();
                    let code = code_point(c);
                    self.problems.error(at, format!("the character {code} has no meaning here: remove it"));
                }
            }
        }
        self.close_brackets("before the file ends");
        self.end_line();
    }

    fn next(&mut self) -> Option<char> {
        let (_, c) = self.chars.next()?;
        if c == '\n' {
            self.at = Place { line: self.at.line + 1, column: 1 };
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    /// Where the next character begins.
    fn offset(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(offset, _)| *offset)
    }

    fn push(&mut self, kind: Kind, at: Place, start: usize) {
        let end = self.offset();
        self.line.push(Token { kind, at, start, end });
    }

    fn newline(&mut self) {
        self.next();
        if self.open.is_empty() {
            return self.end_line();
        }
        let offset = self.offset();
        let in_call = self.open.last().is_some_and(|(bracket, _)| *bracket == '(');
        if !in_call && begins_assignment(&self.text[offset..]) {
            self.close_brackets("before the next assignment");
            self.end_line();
        }
    }

    /// Brackets that the text leaves open end here.
    fn close_brackets(&mut self, when: &str) {
        let (at, start) = (self.at, self.offset());
        for (bracket, opened) in std::mem::take(&mut self.open).into_iter().rev() {
            self.problems
                .error(opened, format!("this '{bracket}' is not closed {when}: taken as closed there"));
            self.push(Kind::Mark(closing(bracket)), at, start);
        }
    }

    fn end_line(&mut self) {
        let tokens = std::mem::take(&mut self.line);
        if let Some(first) = tokens.first() {
            self.lines.push(Line { indent: first.at.column - 1, tokens });
        }
    }

    fn comment(&mut self) {
        while self.chars.peek().is_some_and(|(_, c)| *c != '\n') {
            self.next();
        }
    }

    fn odd_space(&mut self, c: char) {
        if self.odd_space != self.at.line {
            self.odd_space = self.at.line;
            let code = code_point(c);
            self.problems
                .error(self.at, format!("the space {code} is none for xm and xl: taken as a plain one"));
        }
        self.next();
    }

    fn odd_quote(&mut self, c: char) {
        if self.odd_quote != self.at.line {
            self.odd_quote = self.at.line;
            let (code, plain) = (code_point(c), ascii_quote(c).unwrap_or(c));
            self.problems.error(self.at, format!("typographic quote {code}: taken as a plain {plain}"));
        }
    }

    fn word(&mut self, start: usize, at: Place) {
        while self.chars.peek().is_some_and(|(_, c)| c.is_alphanumeric() || *c == '_') {
            self.next();
        }
        let end = self.offset();
        let word = &self.text[start..end];
        let quoted = matches!(self.chars.peek(), Some((_, '\'' | '"')));
        let prefix = word.to_ascii_lowercase();
        if quoted && matches!(prefix.as_str(), "r" | "u" | "b" | "ur" | "br" | "rb") {
            return self.string(start, at, prefix.contains('r'));
        }
        let kind = if word.starts_with(|c: char| c.is_ascii_digit()) { Kind::Number } else { Kind::Word };
        self.push(kind(word.into()), at, start);
    }

    fn mark(&mut self, c: char, start: usize, at: Place) {
        self.next();
        match c {
            '(' | '[' | '{' => self.open.push((c, at)),
            ')' | ']' | '}' => match self.open.last() {
                Some((bracket, _)) if closing(*bracket) == c => _ = self.open.pop(),
                _ => return self.problems.error(at, format!("this '{c}' closes nothing: left out")),
            },
            _ => {}
        }
        self.push(Kind::Mark(c), at, start);
    }

    fn string(&mut self, start: usize, at: Place, raw: bool) {
        let quote = self.next().unwrap_or('"');
        let plain = ascii_quote(quote).unwrap_or(quote);
        let offset = self.offset();
        if quote == plain && self.text[offset..].starts_with(&[quote; 2].iter().collect::<String>()) {
            self.next();
            self.next();
            return self.long_string(quote, start, at);
        }
        let rest = &self.text[offset..];
        let closes = |c: char| c == plain || (quote != plain && ascii_quote(c) == Some(plain));
        let ends_odd = quote == plain && !has_end(rest, closes);
        let closes = |c: char| if ends_odd { ascii_quote(c) == Some(plain) } else { closes(c) };
        let mut text = String::new();
        loop {
            match self.chars.peek().map(|(_, c)| *c) {
                None | Some('\n') => {
                    self.problems.error(
                        at,
                        format!("the string that begins here with {quote} is not closed in its line"),
                    );
                    return self.push(Kind::Broken, at, start);
                }
                Some(c) if closes(c) => {
                    if c != plain {
                        self.odd_quote(c);
                    }
                    self.next();
                    return self.push(Kind::Text(text), at, start);
                }
                Some('\\') if !raw => self.escape(&mut text),
                Some(c) => {
                    self.next();
                    text.push(c);
                }
            }
        }
    }

    /// Three quotes to three quotes.
    fn long_string(&mut self, quote: char, start: usize, at: Place) {
        let end = [quote; 3].iter().collect::<String>();
        let mut text = String::new();
        loop {
            let offset = self.offset();
            if self.text[offset..].starts_with(&end) {
                (0..3).for_each(|_| _ = self.next());
                return self.push(Kind::Text(text), at, start);
            }
            match self.next() {
                Some(c) => text.push(c),
                None => {
                    self.problems.error(at, format!("the string that begins here with {end} is not closed"));
                    return self.push(Kind::Broken, at, start);
                }
            }
        }
    }

    fn escape(&mut self, text: &mut String) {
        self.next();
        match self.chars.peek().map(|(_, c)| *c) {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(c @ ('\\' | '\'' | '"')) => text.push(c),
            Some('\n') | None => return,
            Some(c) => text.extend(['\\', c]),
        }
        self.next();
    }
}

/// Whether a string that begins like this ends in its line.
fn has_end(rest: &str, closes: impl Fn(char) -> bool) -> bool {
    let mut escaped = false;
    rest.chars().take_while(|c| *c != '\n').any(|c| {
        let ends = closes(c) && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
}

/// `name = …`, which stands in no list.
fn begins_assignment(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t']);
    let word = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let is_word = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let value = word.trim_start_matches([' ', '\t']).strip_prefix('=');
    is_word && value.is_some_and(|value| !value.starts_with('='))
}

fn closing(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// The plain quote that a typographic one stands for.
fn ascii_quote(c: char) -> Option<char> {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{b4}' | '`' => Some('\''),
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => Some('"'),
        _ => None,
    }
}

/// Spaces that are none for xm and xl, and characters without width.
fn is_odd_space(c: char) -> bool {
    (c.is_whitespace() && !c.is_ascii()) || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}
