//! Sizes and times as people write them in YAML, kept in one unit inside.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A size in bytes. Text: a whole number and a unit (`512MiB`, `2GiB`, `4k` is refused: say `4KiB` or `4kB`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub u64);

/// A time in seconds. Text: a number and a unit (`500ms`, `30s`, `5m`, `2h`).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Seconds(pub f64);

/// A share of a whole, 1 being all of it. Text: a number and `%` (`2%`, `0.5 %`).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share(pub f64);

/// Why a text is not a size, a time or a share.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    #[error("'{0}' is not a number with a unit")]
    Number(String),
    #[error("'{text}' has no unit: write one of {allowed}")]
    NoUnit { text: String, allowed: &'static str },
    #[error("'{unit}' is not a unit here: write one of {allowed}")]
    Unit { unit: String, allowed: &'static str },
    #[error("'{0}' is too large")]
    TooLarge(String),
}

const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];
const SIZE_UNITS: &str = "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB";
const TIMES: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
const TIME_UNITS: &str = "ms, s, m, h";
const SHARE_UNITS: &str = "%";
/// With more, not all digits that are printed would be kept.
const LARGEST_SHARE: f64 = 1e7;

/// Splits `12 MiB` into its number and unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn unit_of<T: Copy>(
    text: &str,
    unit: &str,
    table: &[(&str, T)],
    allowed: &'static str,
) -> Result<T, UnitError> {
    if unit.is_empty() {
        return Err(UnitError::NoUnit { text: text.into(), allowed });
    }
    let found = table.iter().find(|(name, _)| *name == unit);
    found.map(|&(_, scale)| scale).ok_or_else(|| UnitError::Unit { unit: unit.into(), allowed })
}

impl Bytes {
    pub const KIB: u64 = 1 << 10;
    pub const MIB: u64 = 1 << 20;

    #[must_use]
    pub fn mib(self) -> u64 {
        self.0 / Self::MIB
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text);
        let count: u64 = number.parse().map_err(|_| UnitError::Number(text.into()))?;
        let scale = unit_of(text, unit, &SIZES, SIZE_UNITS)?;
        count.checked_mul(scale).map(Self).ok_or_else(|| UnitError::TooLarge(text.into()))
    }
}

impl FromStr for Seconds {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text);
        let count: f64 = number.parse().map_err(|_| UnitError::Number(text.into()))?;
        let seconds = count * unit_of(text, unit, &TIMES, TIME_UNITS)?;
        Some(Self(seconds)).filter(|_| seconds.is_finite()).ok_or_else(|| UnitError::TooLarge(text.into()))
    }
}

impl FromStr for Share {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text);
        let percent: f64 = number.parse().map_err(|_| UnitError::Number(text.into()))?;
        let share = percent / unit_of(text, unit, &[("%", 100.0)], SHARE_UNITS)?;
        Some(Self(share)).filter(|_| share <= LARGEST_SHARE).ok_or_else(|| UnitError::TooLarge(text.into()))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, scale): &&(&str, u64)| self.0 >= *scale && self.0 % scale == 0;
        let (unit, scale) = SIZES[..5].iter().rev().find(fits).unwrap_or(&SIZES[0]);
        f.pad(&format!("{}{unit}", self.0 / scale))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}s", self.0))
    }
}

impl fmt::Display for Share {
    /// Without the digits that only binary fractions have: 0.07 is `7%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}%", (self.0 * 1e8).round() / 1e6))
    }
}

macro_rules! text_form {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = UnitError;
            fn try_from(text: String) -> Result<Self, UnitError> {
                text.parse()
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
text_form!(Bytes);
text_form!(Seconds);
text_form!(Share);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_print_back() {
        for (text, bytes) in
            [("0B", 0), ("512MiB", 536_870_912), ("1 GiB", 1_073_741_824), ("1500B", 1500), ("3TiB", 3 << 40)]
        {
            let size: Bytes = text.parse().expect(text);
            assert_eq!(size.0, bytes);
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        assert_eq!("2GB".parse(), Ok(Bytes(2_000_000_000)));
        assert!(matches!("512".parse::<Bytes>(), Err(UnitError::NoUnit { .. })));
        assert!(matches!("4k".parse::<Bytes>(), Err(UnitError::Unit { .. })));
        assert!(matches!("1.5GiB".parse::<Bytes>(), Err(UnitError::Number(_))));
        assert!(matches!("-1GiB".parse::<Bytes>(), Err(UnitError::Number(_))));
        assert!(matches!("99999999TiB".parse::<Bytes>(), Err(UnitError::TooLarge(_))));
    }

    #[test]
    fn shares_read_and_print_back() {
        for (text, share) in [("2%", 0.02), ("0.5 %", 0.005), ("100%", 1.0), ("7%", 0.07), ("0.1%", 0.001)] {
            let read: Share = text.parse().expect(text);
            assert!((read.0 - share).abs() < 1e-12);
            assert_eq!(read.to_string(), text.replace(' ', ""));
        }
        assert!(matches!("0.02".parse::<Share>(), Err(UnitError::NoUnit { .. })));
        assert!(matches!("2 percent".parse::<Share>(), Err(UnitError::Unit { .. })));
        assert!(matches!("-2%".parse::<Share>(), Err(UnitError::Number(_))));
        assert!(matches!("777777777777%".parse::<Share>(), Err(UnitError::TooLarge(_))));
    }

    #[test]
    fn times_read_and_print_back() {
        for (text, seconds) in [("500ms", 0.5), ("30s", 30.0), ("1.5m", 90.0), ("2h", 7200.0)] {
            let time: Seconds = text.parse().expect(text);
            assert!((time.0 - seconds).abs() < 1e-12);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        assert!(matches!("30".parse::<Seconds>(), Err(UnitError::NoUnit { .. })));
        assert!(matches!("5 min".parse::<Seconds>(), Err(UnitError::Unit { .. })));
        let long = "9".repeat(400);
        assert_eq!(format!("{long}s").parse::<Seconds>(), Err(UnitError::TooLarge(format!("{long}s"))));
    }
}
