//! A name that is safe everywhere a name of ours goes: file names, domain names, volume names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// 1 to 48 characters of `a-z 0-9 . _ -`, starting with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[a-z0-9][a-z0-9._-]{0,47}$")))]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// Why a text is not a [`Name`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    #[error("a name cannot be empty")]
    Empty,
    #[error("'{0}' is longer than {max} characters", max = Name::MAX)]
    TooLong(String),
    #[error(
        "'{name}' has '{bad}': a name is made of a-z, 0-9, '.', '_' and '-', and starts with a letter or digit"
    )]
    Character { name: String, bad: char },
}

impl Name {
    pub const MAX: usize = 48;

    /// # Errors
    /// [`NameError`] when the text is empty, too long, or has a character outside the set.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let Some(first) = text.chars().next() else {
            return Err(NameError::Empty);
        };
        if text.len() > Self::MAX {
            return Err(NameError::TooLong(text));
        }
        let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        let bad =
            text.chars().find(|&c| !inside(c)).or_else(|| (!first.is_ascii_alphanumeric()).then_some(first));
        match bad {
            Some(bad) => Err(NameError::Character { name: text, bad }),
            None => Ok(Self(text)),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Name {
    type Err = NameError;
    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_is_safe_and_refuses_the_rest() {
        for good in ["a", "kvm-virtio", "debian-12", "x.y_z", "9p"] {
            assert_eq!(Name::new(good).map(String::from), Ok(good.to_string()));
        }
        assert_eq!(Name::new(""), Err(NameError::Empty));
        for (text, bad) in [("a b", ' '), ("../x", '/'), ("-rf", '-'), ("A", 'A'), ("x;y", ';'), (".a", '.')]
        {
            let name = text.to_string();
            assert_eq!(Name::new(text), Err(NameError::Character { name, bad }));
        }
        assert!(matches!(Name::new("x".repeat(49)), Err(NameError::TooLong(_))));
    }
}
