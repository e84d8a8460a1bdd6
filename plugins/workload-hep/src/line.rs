//! The line of JSON that a job prints as its result, among whatever else is on its output.
//!
//! Owns how it is found and whether it is what was asked for. It must never know what it means.

use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// A number that a job was asked for, as its option and as its line name it.
pub type Asked = (&'static str, u64);

/// Why the output is not a result.
#[derive(Debug, Error)]
pub enum LineError {
    #[error("it printed no line of JSON")]
    NoLine,
    #[error("its line is broken: {0}")]
    Broken(#[from] serde_json::Error),
    #[error("its line says {name} {found}, and {asked} was asked for")]
    Other { name: &'static str, found: Value, asked: u64 },
    #[error("it has {found} results where {expected} are expected")]
    Count { found: usize, expected: u64 },
    #[error("{0}: do not trust the processor or the memory of this machine")]
    Wrong(&'static str),
    #[error("its clocks stood still")]
    NoTime,
}

/// The last line that begins as JSON, if it is the answer to what was asked.
///
/// # Errors
/// [`LineError`] when there is none, or it is another.
pub fn read<T: DeserializeOwned>(stdout: &str, asked: &[Asked]) -> Result<T, LineError> {
    let line = stdout.lines().map(str::trim).rfind(|line| line.starts_with('{'));
    let line: Value = serde_json::from_str(line.ok_or(LineError::NoLine)?)?;
    for &(name, asked) in asked {
        if line[name].as_u64() != Some(asked) {
            return Err(LineError::Other { name, found: line[name].clone(), asked });
        }
    }
    Ok(serde_json::from_value(line)?)
}

/// The same as words of a command line.
pub fn words(asked: &[Asked]) -> impl Iterator<Item = String> {
    asked.iter().flat_map(|(name, number)| [format!("--{name}"), number.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found_and_held_against_what_was_asked() {
        let text = "Last login: Mon\r\n{\"old\":1}\r\n{\"n\":3,\"m\":4}\r\nbye\r\n";
        let read = |asked: &[Asked]| read::<Value>(text, asked);
        assert_eq!(read(&[("n", 3), ("m", 4)]).expect("good")["m"], 4);
        let other = read(&[("n", 5)]).expect_err("another");
        assert_eq!(other.to_string(), "its line says n 3, and 5 was asked for");
        assert!(matches!(read(&[("k", 5)]), Err(LineError::Other { .. })));
        assert!(matches!(super::read::<Value>("", &[]), Err(LineError::NoLine)));
        assert!(matches!(super::read::<Value>("{\"n\":", &[]), Err(LineError::Broken(_))));
    }
}
