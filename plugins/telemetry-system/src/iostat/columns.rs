//! The columns of iostat and sar, under all the names that they have had.
//!
//! Owns which metric a column is, and its unit. It must never know where the column stands.

use crossvisor_plugin::model::Values;

/// KiB of a MiB, and of a sector or block of 512 bytes.
const MIB: f64 = 1024.0;
const SECTOR: f64 = 0.5;

/// Names that are not the metric's own, the metric, and what the value is multiplied by.
const OTHER_NAMES: [(&str, &str, f64); 37] = [
    ("kB_read/s", "rkB/s", 1.0),
    ("kB_wrtn/s", "wkB/s", 1.0),
    ("kB_dscd/s", "dkB/s", 1.0),
    ("rMB/s", "rkB/s", MIB),
    ("wMB/s", "wkB/s", MIB),
    ("dMB/s", "dkB/s", MIB),
    ("MB/s", "kB/s", MIB),
    ("MB_read/s", "rkB/s", MIB),
    ("MB_wrtn/s", "wkB/s", MIB),
    ("MB_dscd/s", "dkB/s", MIB),
    ("MB_read", "kB_read", MIB),
    ("MB_wrtn", "kB_wrtn", MIB),
    ("MB_dscd", "kB_dscd", MIB),
    ("rsec/s", "rkB/s", SECTOR),
    ("wsec/s", "wkB/s", SECTOR),
    ("dsec/s", "dkB/s", SECTOR),
    ("sec/s", "kB/s", SECTOR),
    ("rd_sec/s", "rkB/s", SECTOR),
    ("wr_sec/s", "wkB/s", SECTOR),
    ("dc_sec/s", "dkB/s", SECTOR),
    ("Blk_read/s", "rkB/s", SECTOR),
    ("Blk_wrtn/s", "wkB/s", SECTOR),
    ("Blk_dscd/s", "dkB/s", SECTOR),
    ("Blk_read", "kB_read", SECTOR),
    ("Blk_wrtn", "kB_wrtn", SECTOR),
    ("Blk_dscd", "kB_dscd", SECTOR),
    ("avgrq-sz", "areq-sz", SECTOR),
    ("avgqu-sz", "aqu-sz", 1.0),
    ("util", "%util", 1.0),
    ("rrqm", "%rrqm", 1.0),
    ("wrqm", "%wrqm", 1.0),
    ("drqm", "%drqm", 1.0),
    ("user", "%user", 1.0),
    ("nice", "%nice", 1.0),
    ("system", "%system", 1.0),
    ("iowait", "%iowait", 1.0),
    ("steal", "%steal", 1.0),
];

/// A column, as its heading names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// `None`: not known.
    metric: Option<&'static str>,
    factor: f64,
    heading: String,
}

impl Column {
    pub fn new(heading: &str) -> Self {
        let other = OTHER_NAMES.iter().find(|(name, ..)| *name == heading);
        let own = || crate::manifest::COLUMNS.iter().find(|(name, ..)| *name == heading);
        let idle = || (heading == "idle").then_some(("%idle", 1.0));
        let found = other.map(|(_, metric, factor)| (*metric, *factor));
        let found = found.or_else(|| own().map(|(name, ..)| (*name, 1.0))).or_else(idle);
        let (metric, factor) = found.map_or((None, 1.0), |(metric, factor)| (Some(metric), factor));
        Self { metric, factor, heading: heading.into() }
    }

    pub fn is_known(&self) -> bool {
        self.metric.is_some()
    }

    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// Adds what stands in the column; a word that is no number is a value that is missing, unless another column
    /// has it (`rsec/s` beside `rkB/s`).
    pub fn put(&self, word: &str, values: &mut Values) {
        let Some(metric) = self.metric else { return };
        let number = number(word).map(|number| number * self.factor);
        values.put(metric, number.ok_or_else(|| format!("'{word}' stands in the column {}", self.heading)));
    }
}

/// A number as sysstat prints it in any locale: `12.30`, `12,30`; of `iostat -h`: `1.5k`, `3.1M`, `0.2%`.
pub fn number(word: &str) -> Option<f64> {
    let word = word.strip_suffix('%').unwrap_or(word);
    let (digits, factor) = match word.char_indices().last()? {
        (at, 'k') => (&word[..at], 1.0),
        (at, 'M') => (&word[..at], MIB),
        (at, 'G') => (&word[..at], MIB * MIB),
        (at, 'T') => (&word[..at], MIB * MIB * MIB),
        _ => (word, 1.0),
    };
    let plain = digits.strip_prefix('-').unwrap_or(digits);
    if !plain.starts_with(|c: char| c.is_ascii_digit())
        || !plain.chars().all(|c| c.is_ascii_digit() || ".,".contains(c))
    {
        return None;
    }
    let number: f64 = digits.replacen(',', ".", 1).parse().ok()?;
    Some(number * factor).filter(|number| number.is_finite())
}
