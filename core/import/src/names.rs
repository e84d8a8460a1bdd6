//! Names for what files call otherwise.
//!
//! Owns that two machines never get one name. It must never let a character through that a [`Name`] has not.

use std::collections::BTreeMap;

use crossvisor_model::{Name, NameError};

/// The names of a run, by what they stand for.
#[derive(Debug, Default)]
pub struct Names {
    given: BTreeMap<Name, String>,
}

impl Names {
    /// The name of `text`: the same each time, and of nothing else.
    ///
    /// # Errors
    /// [`NameError`], which no text leads to.
    pub fn of(&mut self, text: &str) -> Result<Name, NameError> {
        let plain = plain(text);
        let mut end = String::new();
        for number in 2.. {
            let start: String = plain.chars().take(Name::MAX - end.len()).collect();
            let name = Name::new(start + &end)?;
            match self.given.get(&name) {
                Some(other) if other != text => end = format!("-{number}"),
                Some(_) => return Ok(name),
                None => {
                    self.given.insert(name.clone(), text.into());
                    return Ok(name);
                }
            }
        }
        Err(NameError::TooLong(plain))
    }

    /// What every name stands for.
    #[must_use]
    pub fn given(self) -> BTreeMap<Name, String> {
        self.given
    }
}

/// The nearest name: small letters, `-` for what a name cannot have, `unknown` where nothing is left.
fn plain(text: &str) -> String {
    let fits =
        |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c.to_ascii_lowercase() } else { '-' };
    let fitted: String = text.chars().take(Name::MAX).map(fits).collect();
    let plain = fitted.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if plain.is_empty() { "unknown".into() } else { plain.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_has_a_name_of_its_own() {
        let mut names = Names::default();
        let texts = [
            "Node 1",
            "node-1",
            "../../etc/passwd",
            "-rf",
            "\u{202e}\0\n",
            "",
            "ü",
            &"x".repeat(90),
            &"x".repeat(91),
        ];
        let all: Vec<String> = texts.iter().map(|text| names.of(text).expect("name").to_string()).collect();
        let long = ["x".repeat(48), "x".repeat(46) + "-2"];
        let expected = [
            "node-1",
            "node-1-2",
            "etc-passwd",
            "rf",
            "unknown",
            "unknown-2",
            "unknown-3",
            &long[0],
            &long[1],
        ];
        assert_eq!(all, expected);
        assert_eq!(names.of("node-1").map(String::from).as_deref(), Ok("node-1-2"));
    }
}
