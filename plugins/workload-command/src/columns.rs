//! A column of a table that a program prints, with or without text around it.
//!
//! Owns what a row is. It must never guess a column: a heading is the whole text of a cell.

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::Deserialize;

/// What stands between the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Separator {
    #[default]
    Comma,
    Semicolon,
    Tab,
    /// One space or several.
    Space,
}

/// A column, by heading or by number.
#[derive(Debug)]
pub struct Column {
    place: Place,
    separator: Separator,
}

#[derive(Debug)]
enum Place {
    /// From 0.
    Number(usize),
    Heading(String),
}

impl Column {
    /// A column by its number, from 1, or by its heading.
    ///
    /// # Errors
    /// Why there is no such column.
    pub fn new(text: &str, separator: Separator) -> Result<Self, String> {
        let place = match text.trim().parse::<usize>() {
            Ok(0) => return Err("csv: 0 is no column; 1 is the first".into()),
            Ok(number) => Place::Number(number - 1),
            Err(_) if text.trim().is_empty() => {
                return Err("csv: '' is no column; name it, or give its number".into());
            }
            Err(_) => Place::Heading(text.trim().into()),
        };
        Ok(Self { place, separator })
    }

    pub fn describe(&self) -> String {
        match &self.place {
            Place::Number(number) => format!("a cell of column {}", number + 1),
            Place::Heading(heading) => format!("a cell of column '{heading}'"),
        }
    }

    /// The column's cells in order. By number: of every line that has so many columns and more than one. By heading: of
    /// the lines below the one with the heading, as long as they have this column; another line with the heading, as
    /// programs repeat it, is passed over.
    pub fn cells(&self, text: &str) -> Vec<String> {
        let mut rows = text.lines().map(|line| self.split(line));
        match &self.place {
            Place::Number(number) => {
                rows.filter(|row| row.len() > 1).filter_map(|row| row.get(*number).cloned()).collect()
            }
            Place::Heading(heading) => {
                let Some(at) = rows.find_map(|row| row.iter().position(|cell| cell == heading)) else {
                    return Vec::new();
                };
                let cells = rows.map_while(|row| row.get(at).cloned());
                cells.filter(|cell| cell != heading).collect()
            }
        }
    }

    fn split(&self, line: &str) -> Vec<String> {
        let delimiter = match self.separator {
            Separator::Space => return line.split_whitespace().map(String::from).collect(),
            Separator::Comma => b',',
            Separator::Semicolon => b';',
            Separator::Tab => b'\t',
        };
        let mut reader = ReaderBuilder::new();
        let reader = reader.has_headers(false).delimiter(delimiter).trim(Trim::All).flexible(true);
        let mut record = StringRecord::new();
        match reader.from_reader(line.as_bytes()).read_record(&mut record) {
            Ok(true) => record.iter().map(String::from).collect(),
            Ok(false) | Err(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(column: &str, separator: Separator, text: &str) -> Vec<String> {
        Column::new(column, separator).expect(column).cells(text)
    }

    #[test]
    fn a_column_is_found_by_number_or_heading() {
        let text = "banner\nname,\"rate, MB/s\",cpu\na,12.5,3\nb , 13.5 , 4\n\nend, of it\n";
        assert_eq!(cells("rate, MB/s", Separator::Comma, text), ["12.5", "13.5"]);
        assert_eq!(cells("3", Separator::Comma, text), ["cpu", "3", "4"]);
        assert_eq!(cells("rate", Separator::Comma, text), Vec::<String>::new());
        assert_eq!(cells("4", Separator::Comma, text), Vec::<String>::new());
    }

    #[test]
    fn separators_are_what_they_are_called() {
        assert_eq!(cells("2", Separator::Semicolon, "a;1,5\nb;2"), ["1,5", "2"]);
        assert_eq!(cells("2", Separator::Tab, "a\t1 000\n"), ["1 000"]);
        let table = "Device   r/s     w/s\nvda      1.50   20.00\nDevice   r/s     w/s\nvda  2.50 30.00\n";
        assert_eq!(cells("w/s", Separator::Space, table), ["20.00", "30.00"]);
    }
}
