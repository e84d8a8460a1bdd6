//! The forms of a single cell: speeds, CPU shares, latencies, sizes, numbers of files, versions.
//!
//! Owns what a cell may look like. It must never guess: what has another form is refused.

/// What a cell says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reading {
    /// Empty: the stage did not run, or the version does not measure it.
    #[default]
    NotRun,
    /// `+++++`: it ran in less time than the tool dares to divide by.
    TooFast,
    Measured(f64),
    /// It was printed, but what is printed there is known to be something else; why.
    Unknown(&'static str),
}

/// The size of the files of the file operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSize {
    Bytes(u64),
    Link,
    Symlink,
}

/// What the file operations work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// In units of 1024 files.
    pub number: u64,
    pub max: Option<FileSize>,
    /// In bytes.
    pub min: Option<u64>,
    pub directories: Option<u64>,
}

/// A speed or a CPU share; `None` when the cell is something else. bonnie++ prints at most one decimal: three are the
/// thousands of another country.
pub fn rate(cell: &str) -> Option<Reading> {
    match cell {
        "" => Some(Reading::NotRun),
        _ if is_too_fast(cell) => Some(Reading::TooFast),
        _ => Some(Reading::Measured(number(cell)?)),
    }
}

/// `+++++` or `+++`.
pub fn is_too_fast(cell: &str) -> bool {
    cell.len() >= 3 && cell.bytes().all(|byte| byte == b'+')
}

/// A number as bonnie++ prints it: digits, and at most one decimal.
pub fn number(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if digits(whole) && digits(decimals) && decimals.len() == 1 { text.parse().ok() } else { None }
}

/// A latency with its unit, in milliseconds.
pub fn latency_ms(cell: &str) -> Option<Reading> {
    if cell.is_empty() {
        return Some(Reading::NotRun);
    }
    let (digits, unit) = cell.split_at(cell.find(|c: char| !c.is_ascii_digit())?);
    let microseconds = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    Some(Reading::Measured(number(digits)? * microseconds / 1e3))
}

/// The size of the data set in MiB: `2G`, `7400M`, and `368` of the oldest versions.
pub fn size_mib(cell: &str) -> Option<u64> {
    match scaled(cell)? {
        (number, 'M' | ' ') => Some(number),
        (number, 'G') => number.checked_mul(1 << 10),
        (number, 'T') => number.checked_mul(1 << 20),
        _ => None,
    }
}

/// The size of a chunk in bytes: `64k`, `1m`, `512`.
pub fn chunk_bytes(cell: &str) -> Option<u64> {
    match scaled(cell)? {
        (number, ' ') => Some(number),
        (number, 'k' | 'K') => number.checked_mul(1 << 10),
        (number, 'm' | 'M') => number.checked_mul(1 << 20),
        _ => None,
    }
}

/// A whole number and its letter, a blank where there is none.
fn scaled(cell: &str) -> Option<(u64, char)> {
    let digits = cell.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let letter = match &cell[digits.len()..] {
        "" => ' ',
        letter if letter.len() == 1 => letter.chars().next()?,
        _ => return None,
    };
    Some((whole(digits)?, letter))
}

/// A whole number without sign.
pub fn whole(cell: &str) -> Option<u64> {
    if cell.starts_with('+') { None } else { cell.parse().ok() }
}

impl FileSize {
    pub fn parse(cell: &str) -> Option<Self> {
        match cell {
            "link" => Some(Self::Link),
            "symlink" => Some(Self::Symlink),
            _ => whole(cell).map(Self::Bytes),
        }
    }
}

impl Files {
    /// `16`, `16:4096:128`, `16:link`, `16:4096:128/10`; `bon_csv2txt` puts `:` before the directories.
    pub fn parse(cell: &str) -> Option<Self> {
        let (sizes, directories) =
            cell.split_once('/').map_or((cell, None), |(sizes, number)| (sizes, Some(number)));
        let mut parts = sizes.split(':');
        let number = whole(parts.next()?)?;
        let max = parts.next().map(|max| FileSize::parse(max).ok_or(())).transpose().ok()?;
        let min = parts.next().map(|min| whole(min).ok_or(())).transpose().ok()?;
        let directories = match directories.or(parts.next()) {
            Some(directories) => Some(whole(directories)?),
            None => None,
        };
        parts.next().is_none().then_some(Self { number, max, min, directories })
    }
}

/// A version as bonnie++ names itself: major, minor, and what follows. `2` alone is the format of 1.90 to 1.92.
pub fn version(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let tail = rest[digits..].bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+~-".contains(&byte));
    let minor = &rest[..digits];
    if minor.len() != 2 || !tail || text.len() > 16 {
        None
    } else {
        Some((major.parse().ok()?, minor.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reading::{Measured, NotRun, TooFast};

    #[test]
    fn speeds_have_one_decimal_at_most() {
        assert_eq!(rate("56.7"), Some(Measured(56.7)));
        assert_eq!(rate("1067"), Some(Measured(1067.0)));
        assert_eq!((rate(""), rate("+++++"), rate("+++")), (Some(NotRun), Some(TooFast), Some(TooFast)));
        for bad in ["31.164", "1.", ".5", "-1", "+1", "1e3", "nan", "inf", "++", "5%", "1 2", "\u{0661}"] {
            assert_eq!(rate(bad), None, "{bad}");
        }
    }

    #[test]
    fn latencies_have_a_unit() {
        assert_eq!(latency_ms("98188us"), Some(Measured(98.188)));
        assert_eq!(latency_ms("454ms"), Some(Measured(454.0)));
        assert_eq!(latency_ms("120s"), Some(Measured(120_000.0)));
        assert_eq!(latency_ms(""), Some(NotRun));
        for bad in ["454", "454m", "us", "1.5ms", "-1us"] {
            assert_eq!(latency_ms(bad), None, "{bad}");
        }
    }

    #[test]
    fn sizes_and_files_have_the_forms_of_the_command_line() {
        assert_eq!([size_mib("2G"), size_mib("7400M"), size_mib("368")], [Some(2048), Some(7400), Some(368)]);
        assert_eq!(
            [chunk_bytes("64k"), chunk_bytes("512"), chunk_bytes("1m")],
            [Some(65536), Some(512), Some(1 << 20)]
        );
        for bad in ["", "G", "2GB", "2g", "-2G", "1.5G", "99999999999999999999"] {
            assert_eq!(size_mib(bad), None, "{bad}");
        }
        let files = |number, max, min, directories| Some(Files { number, max, min, directories });
        assert_eq!(Files::parse("16"), files(16, None, None, None));
        assert_eq!(Files::parse("64:1024:8"), files(64, Some(FileSize::Bytes(1024)), Some(8), None));
        assert_eq!(Files::parse("4:symlink"), files(4, Some(FileSize::Symlink), None, None));
        assert_eq!(Files::parse("4:link/7"), files(4, Some(FileSize::Link), None, Some(7)));
        assert_eq!(Files::parse("1:1024:64:4"), files(1, Some(FileSize::Bytes(1024)), Some(64), Some(4)));
        for bad in ["", "a", "16:", "16:1:2:3:4", "16/", "16:hard"] {
            assert_eq!(Files::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn versions_have_two_decimals() {
        assert_eq!(version("1.03e"), Some((1, 3)));
        assert_eq!(version("1.97.3"), Some((1, 97)));
        assert_eq!(version("2.00a+nmu1"), Some((2, 0)));
        for bad in ["2", "1.3", "1.203", "x1.03", "1.03 e", ""] {
            assert_eq!(version(bad), None, "{bad}");
        }
    }
}
