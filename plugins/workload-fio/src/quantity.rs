//! Numbers with units as fio prints them for people: `7753.7KB/s`, `21.3k`, `10002msec`.
//!
//! Owns what the units mean. It must never guess: a decimal comma is no number.

/// A number and what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity<'a> {
    number: f64,
    unit: &'a str,
}

/// What follows `key`, up to the next space, parenthesis, or comma that does not separate thousands.
#[must_use]
pub fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let begins = |at: &usize| *at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
    let at = text.match_indices(key).map(|(at, _)| at).find(begins)?;
    let rest = text[at + key.len()..].trim_start();
    let comma_ends = |at: usize| !rest[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let is_end = |(at, c): &(usize, char)| match c {
        ',' => comma_ends(*at),
        c => c.is_whitespace() || matches!(c, '(' | ')' | ';'),
    };
    let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at);
    Some(&rest[..end])
}

impl<'a> Quantity<'a> {
    pub fn new(number: f64, unit: &'a str) -> Self {
        Self { number, unit }
    }

    /// Splits `7753.7KB/s`; commas may separate thousands.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let mut groups = digits.split('.').next()?.split(',').skip(1);
        let in_thousands = groups.all(|group| group.len() == 3)
            && digits.rfind(',').is_none_or(|comma| digits.find('.').is_none_or(|point| comma < point));
        let number = in_thousands.then(|| digits.replace(',', "").parse().ok()).flatten()?;
        Some(Self { number, unit: unit.trim() })
    }

    /// A number, with `k`, `M` or `G` for thousands, millions and thousands of millions.
    #[must_use]
    pub fn plain(text: &str) -> Option<f64> {
        let Quantity { number, unit } = Quantity::read(text)?;
        let scale = match unit {
            "" => 1.0,
            "k" | "K" => 1e3,
            "m" | "M" => 1e6,
            "g" | "G" => 1e9,
            _ => return None,
        };
        Some(number * scale)
    }

    /// KiB, or KiB per second. `decimal`: `kB` and `MB` are powers of 1000, as fio 3 has them.
    #[must_use]
    pub fn kib(self, decimal: bool) -> Option<f64> {
        let unit =
            self.unit.strip_suffix("/s").or_else(|| self.unit.strip_suffix("/sec")).unwrap_or(self.unit);
        let unit = unit.strip_suffix(['B', 'b']).unwrap_or(unit);
        let base: f64 = if decimal && !unit.ends_with('i') { 1000.0 } else { 1024.0 };
        let power = match unit.trim_end_matches('i') {
            "" => 0,
            "k" | "K" => 1,
            "m" | "M" => 2,
            "g" | "G" => 3,
            "t" | "T" => 4,
            "p" | "P" => 5,
            _ => return None,
        };
        Some(self.number * base.powi(power) / 1024.0)
    }

    #[must_use]
    pub fn milliseconds(self) -> Option<f64> {
        let scale = match self.unit {
            "nsec" => 1e-6,
            "usec" => 1e-3,
            "msec" | "ms" => 1.0,
            "sec" | "s" => 1e3,
            _ => return None,
        };
        Some(self.number * scale)
    }
}

/// A size in one spelling: `4k` (1024 to fio), `4096` and `4.00KiB` are `4 KiB`. A range of one size is that size; what is
/// not a size stays as it is.
#[must_use]
pub fn size_words(text: &str) -> String {
    let parts: Vec<&str> = text.split('-').collect();
    let same = parts.iter().all(|part| part == &parts[0]);
    let kib = || Quantity::read(parts[0])?.kib(false);
    let bytes = if same { kib().map(|kib| kib * 1024.0) } else { None };
    let Some(bytes) = bytes.filter(|bytes| *bytes >= 1.0 && bytes.fract() == 0.0) else { return text.into() };
    let fits = |(_, unit): &(&str, f64)| bytes % unit == 0.0;
    let units =
        [("TiB", f64::powi(1024.0, 4)), ("GiB", f64::powi(1024.0, 3)), ("MiB", 1_048_576.0), ("KiB", 1024.0)];
    let (unit, scale) = units.into_iter().find(fits).unwrap_or(("B", 1.0));
    format!("{} {unit}", bytes / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_times_and_counts_are_read() {
        let kib = |text, decimal| Quantity::read(text).and_then(|q| q.kib(decimal));
        assert_eq!(kib("7753.7KB/s", false), Some(7753.7));
        assert_eq!(kib("1333MiB/s", true), Some(1_364_992.0));
        assert_eq!(kib("1000kB/s", true), Some(976.5625));
        assert_eq!(kib("1,024MB", false), Some(1_048_576.0));
        assert_eq!(kib("512B/s", false), Some(0.5));
        assert_eq!([kib("7753,7KB/s", false), kib("5 parsecs", false), kib("KB/s", false)], [None; 3]);
        assert_eq!(Quantity::read("10002msec").and_then(Quantity::milliseconds), Some(10002.0));
        assert_eq!(Quantity::plain("21.5k"), Some(21_500.0));
        assert_eq!(Quantity::plain("1,234,567"), Some(1_234_567.0));
        assert_eq!([Quantity::plain("1,23"), Quantity::plain("nan"), Quantity::plain("1.5.5")], [None; 3]);
    }

    #[test]
    fn values_end_where_the_next_begins() {
        let line = " io=1,024MB, bw=7753.7KB/s, iops=484 , runt= 10002msec";
        assert_eq!(after(line, "io="), Some("1,024MB"));
        assert_eq!(after(line, "bw="), Some("7753.7KB/s"));
        assert_eq!(after(line, "iops="), Some("484"));
        assert_eq!(after(line, "runt="), Some("10002msec"));
        assert_eq!(after("aggrb=1, b=2", "b="), Some("2"));
        assert_eq!(after(line, "x="), None);
    }

    #[test]
    fn sizes_have_one_spelling() {
        for text in ["4k", "4K", "4096", "4096B", "4KiB", "4.0KiB", "4K-4K", "4kb"] {
            assert_eq!(size_words(text), "4 KiB", "{text}");
        }
        assert_eq!(size_words("16m"), "16 MiB");
        assert_eq!(size_words("512"), "512 B");
        assert_eq!(size_words("4k-64k"), "4k-64k");
        assert_eq!(size_words("50%"), "50%");
    }
}
