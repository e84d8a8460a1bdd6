//! A configuration as assignments.
//!
//! Owns which statements count: plain assignments do, and what stands in blocks of code is one of several. It must
//! never run code.

use std::collections::BTreeMap;

use super::expression::{Scope, evaluate};
use super::lexer::{self, Kind, Line, Token};
use super::value::Value;
use crate::problem::{Place, Problems, quoted};

/// Statements that begin a block, and those that go on with one.
const BLOCKS: [&str; 11] =
    ["if", "for", "while", "try", "with", "elif", "else", "except", "finally", "def", "class"];
const GO_ON: [&str; 4] = ["elif", "else", "except", "finally"];
/// Statements of one line that set nothing that could be known.
const CODE: [&str; 9] = ["import", "from", "print", "exec", "assert", "return", "pass", "del", "raise"];

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub value: Value,
    pub at: Place,
}

/// All assignments, by key; the last of each counts.
#[derive(Debug, Default)]
pub(super) struct Assignments {
    pub entries: BTreeMap<String, Entry>,
    /// Names that only help to make other values.
    pub helpers: std::collections::BTreeSet<String>,
}

/// Reads the assignments of a text.
pub(super) fn assignments(text: &str, problems: &mut Problems) -> Assignments {
    let lines = lexer::lines(text, problems);
    let mut reader =
        Reader { text, scope: Scope::default(), entries: BTreeMap::new(), chain: BTreeMap::new(), problems };
    let mut next = 0;
    while let Some(line) = lines.get(next) {
        next = reader.line(&lines, next, line);
    }
    Assignments { entries: reader.entries, helpers: reader.scope.used }
}

struct Reader<'a> {
    text: &'a str,
    scope: Scope,
    entries: BTreeMap<String, Entry>,
    /// What the blocks of one `if` … `else` give to names.
    chain: BTreeMap<String, Vec<Value>>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    /// Reads a line with its block; the number of the line after that.
    fn line(&mut self, lines: &[Line], number: usize, line: &Line) -> usize {
        let first = line.tokens.first().and_then(Token::word).unwrap_or_default();
        if BLOCKS.contains(&first) && !is_assignment(&line.tokens) {
            return self.block(lines, number, line, first);
        }
        self.chain.clear();
        if CODE.contains(&first) && !is_assignment(&line.tokens) {
            self.code(&line.tokens);
            return number + 1;
        }
        let statements = self.statements(&line.tokens);
        if let [statement] = statements.as_slice() {
            if let Some(value) = self.value_below(lines.get(number + 1), statement) {
                self.assign(statement, value);
                return number + 2;
            }
        }
        for statement in statements {
            self.statement(statement);
        }
        number + 1
    }

    /// The value of `key =` that stands alone in the next line.
    fn value_below<'b>(&mut self, below: Option<&'b Line>, statement: &[Token]) -> Option<&'b [Token]> {
        let [key, equals] = statement else { return None };
        let value = &below?.tokens;
        let stands_alone = matches!(value.first()?.kind, Kind::Mark('[') | Kind::Text(_));
        if key.word().is_none() || !equals.is('=') || !stands_alone {
            return None;
        }
        let message = "the value is not in the line of its '=': taken from the next line";
        self.problems.error(equals.at, message);
        Some(value)
    }

    /// Tokens between `;`, and between two assignments that stand in one line.
    fn statements<'b>(&mut self, tokens: &'b [Token]) -> Vec<&'b [Token]> {
        let (mut statements, mut start, mut depth) = (Vec::new(), 0, 0usize);
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Mark('[' | '(' | '{') => depth += 1,
                Kind::Mark(']' | ')' | '}') => depth = depth.saturating_sub(1),
                Kind::Mark(';') if depth == 0 => {
                    statements.push(&tokens[start..at]);
                    start = at + 1;
                }
                _ if depth == 0 && at > start && self.begins_second(&tokens[start..], at - start) => {
                    let word = quoted(token.word().unwrap_or_default());
                    let message =
                        format!("a second assignment begins in this line: put {word} on a line of its own");
                    self.problems.error(token.at, message);
                    statements.push(&tokens[start..at]);
                    start = at;
                }
                _ => {}
            }
        }
        statements.push(&tokens[start..]);
        statements.retain(|statement| !statement.is_empty());
        statements
    }

    /// Whether `name =` begins at this token of an assignment that has its value before it.
    fn begins_second(&self, statement: &[Token], at: usize) -> bool {
        let ends_value = |token: &Token| match token.kind {
            Kind::Mark(mark) => matches!(mark, ']' | ')' | '}'),
            _ => true,
        };
        at >= 3
            && is_assignment(statement)
            && is_assignment(&statement[at..])
            && ends_value(&statement[at - 1])
    }

    fn statement(&mut self, tokens: &[Token]) {
        let Some(first) = tokens.first() else { return };
        match tokens {
            [key, equals, value @ ..] if key.word().is_some() && equals.is('=') => {
                if value.is_empty() {
                    return self.problems.error(equals.at, "there is no value after this '='");
                }
                self.assign(tokens, value);
            }
            [key, plus, equals, value @ ..] if key.word().is_some() && plus.is('+') && equals.is('=') => {
                self.add(key, value);
            }
            [text] if matches!(text.kind, Kind::Text(_)) => {}
            [name, ..] if name.word().is_some_and(|name| self.scope.has(name)) => self.code(tokens),
            _ => {
                let shown = quoted(self.text.get(first.start..first.end).unwrap_or_default());
                self.problems
                    .error(first.at, format!("no assignment begins with {shown}: this line is left out"));
            }
        }
    }

    /// `key = value`, or `key = other = value`.
    fn assign<'b>(&mut self, mut statement: &'b [Token], mut value: &'b [Token]) {
        let mut keys = Vec::from_iter(statement.first());
        while is_assignment(value) && value.len() > 2 {
            (statement, value) = (value, &value[2..]);
            keys.extend(statement.first());
        }
        let sign = statement.get(1).map(|token| token.at).unwrap_or_default();
        let value = evaluate(self.text, sign, value, &mut self.scope, self.problems);
        for key in keys {
            self.set(key, value.clone());
        }
    }

    /// `key += value`.
    fn add(&mut self, key: &Token, value: &[Token]) {
        let added = evaluate(self.text, key.at, value, &mut self.scope, self.problems);
        let before = self.entries.get(key.word().unwrap_or_default()).map(|entry| entry.value.clone());
        let sum = match before {
            Some(before) => Value::add(before, added),
            None => Some(added),
        };
        if sum.is_none() {
            self.problems.error(key.at, "the two sides of '+=' do not go together: the value is not known");
        }
        if let Some(name) = key.word() {
            let (name, value) = (name.to_string(), sum.unwrap_or(Value::Unknown));
            self.scope.set(&name, value.clone());
            self.entries.insert(name, Entry { value, at: key.at });
        }
    }

    fn set(&mut self, key: &Token, value: Value) {
        let Some(name) = key.word() else { return };
        let reads_itself = self.scope.used.contains(name);
        self.scope.set(name, value.clone());
        if let Some(before) = self.entries.insert(name.into(), Entry { value, at: key.at }) {
            if !reads_itself && before.at != key.at {
                let (name, line) = (quoted(name), before.at.line);
                self.problems.warning(key.at, format!("{name} is set in line {line} too: this line counts"));
            }
        }
    }

    /// Code of one line: what it names is not known any more.
    fn code(&mut self, tokens: &[Token]) {
        let Some(first) = tokens.first() else { return };
        let shown = quoted(first.word().unwrap_or_default());
        let message = format!("Python code, which xm runs and xl refuses: {shown} is not run here");
        self.problems.warning(first.at, message);
        if first.word().is_some_and(|word| matches!(word, "import" | "from")) {
            for name in
                tokens.iter().filter_map(Token::word).filter(|word| *word != "import" && *word != "from")
            {
                self.scope.set(name, Value::Unknown);
            }
        } else if let Some(entry) = first.word().and_then(|name| self.entries.get_mut(name)) {
            let line = first.at.line;
            self.problems.error(
                first.at,
                format!("{shown} is changed by the code of line {line}: its value is not known"),
            );
            entry.value = Value::Unknown;
            self.scope.set(first.word().unwrap_or_default(), Value::Unknown);
        }
    }

    /// A block of code, or one more of the same `if`; the number of the line after it.
    fn block(&mut self, lines: &[Line], number: usize, header: &Line, word: &str) -> usize {
        if !GO_ON.contains(&word) {
            self.chain.clear();
        }
        let Some(at) = header.tokens.first().map(|token| token.at) else { return number + 1 };
        let shown = quoted(word);
        self.problems.warning(
            at,
            format!("Python code, which xm runs and xl refuses: the block of {shown} is not run here"),
        );
        let (body, next) = self.body(lines, number, header, word);
        let is_scope = matches!(word, "def" | "class");
        if is_scope {
            if let Some(name) = header.tokens.get(1).and_then(Token::word) {
                self.scope.set(name, Value::Unknown);
            }
            return next;
        }
        for statement in body.into_iter().filter(|statement| is_assignment(statement)) {
            let Some(name) = statement.first().and_then(Token::word) else { continue };
            let sign = statement[1].at;
            let value = evaluate(self.text, sign, &statement[2..], &mut self.scope, self.problems);
            if word != "else" && !self.chain.contains_key(name) {
                self.chain.insert(name.into(), self.scope.get(name).into_iter().collect());
            }
            let values = self.chain.entry(name.into()).or_default();
            values.push(value);
            let value = Value::choice(values.iter().cloned());
            self.scope.set(name, value.clone());
            self.entries.insert(name.into(), Entry { value, at: statement[0].at });
        }
        next
    }

    /// The statements of a block, and the number of the line after it.
    fn body<'b>(
        &mut self,
        lines: &'b [Line],
        number: usize,
        header: &'b Line,
        word: &str,
    ) -> (Vec<&'b [Token]>, usize) {
        let inline = after_colon(&header.tokens);
        if !inline.is_empty() {
            return (self.statements(inline), number + 1);
        }
        let below = &lines[number + 1..];
        let mut count = below.iter().take_while(|line| line.indent > header.indent).count();
        if count == 0 {
            // The indentation was lost; the next line was the block.
            if let Some(at) = below.first().and_then(|line| line.tokens.first()).map(|token| token.at) {
                let line = header.tokens.first().map_or(0, |token| token.at.line);
                let word = quoted(word);
                let message = format!(
                    "expected an indented block after {word} in line {line}: this line is taken for it"
                );
                self.problems.error(at, message);
                count = 1;
            }
        }
        let body = below[..count].iter().flat_map(|line| self.statements(&line.tokens)).collect();
        (body, number + 1 + count)
    }
}

/// `name = …`, and not `name == …`.
fn is_assignment(tokens: &[Token]) -> bool {
    match tokens {
        [key, equals, rest @ ..] => {
            key.word().is_some()
                && equals.is('=')
                && !rest.first().is_some_and(|token| token.is('=') && token.start == equals.end)
        }
        _ => false,
    }
}

/// What stands behind the colon of a header.
fn after_colon(tokens: &[Token]) -> &[Token] {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Mark('[' | '(' | '{') => depth += 1,
            Kind::Mark(']' | ')' | '}') => depth = depth.saturating_sub(1),
            Kind::Mark(':') if depth == 0 => return &tokens[at + 1..],
            _ => {}
        }
    }
    &[]
}
