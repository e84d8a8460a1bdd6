//! A result of bonnie++, whatever form it was printed in.
//!
//! Owns the result and which of its figures may be compared between versions. It must never read a text.

use crate::cell::{Files, Reading, version};
use crate::stage::ALL;

/// One run of bonnie++ on one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub machine: Option<String>,
    /// As bonnie++ names itself; CSV lines before 1.9 do not say.
    pub version: Option<String>,
    /// The version of the CSV format, `1` before 1.90.
    pub format: Option<String>,
    pub setup: Setup,
    /// In the order of [`crate::stage::STAGES`].
    pub stages: [Readings; ALL],
}

/// What was asked for, as far as the output tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    pub size_mib: Option<u64>,
    /// Of the data stages.
    pub chunk_bytes: Option<u64>,
    pub concurrency: Option<u64>,
    /// The number of seeks.
    pub seeks: Option<u64>,
    /// The processes that share them.
    pub seekers: Option<u64>,
    pub files: Option<Files>,
}

/// What one stage printed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// KiB, seeks or files per second.
    pub speed: Reading,
    /// Per cent.
    pub cpu: Reading,
    /// Milliseconds.
    pub latency: Reading,
}

pub const PUTC: usize = 0;
pub const GETC: usize = 3;
pub const SEEKS: usize = 5;

impl Record {
    /// Whether any stage ran.
    pub fn ran(&self) -> bool {
        self.stages.iter().any(|stage| stage.speed != Reading::NotRun)
    }

    fn has(&self, stage: usize) -> bool {
        self.stages[stage].speed != Reading::NotRun
    }

    /// The version, or the oldest that prints this format.
    fn era(&self) -> Option<(u32, u32)> {
        let said = self.version.as_deref().and_then(version);
        said.or_else(|| match self.format.as_deref()? {
            "1" => Some((1, 0)),
            format => version(format),
        })
    }

    /// How single characters are moved: by the C library's buffered streams, from 1.92 on by a system call each.
    pub fn characters(&self) -> Option<&'static str> {
        let era = self.era().filter(|_| self.has(PUTC) || self.has(GETC))?;
        Some(if era < (1, 92) { "buffered by the C library" } else { "one system call each" })
    }

    /// The processes that seek: as printed, else those of the version.
    pub fn seekers(&self) -> Option<u64> {
        let of_version = || match self.era()? {
            era if era < (1, 90) => Some(3),
            era if era < (1, 98) => Some(5),
            _ => None,
        };
        self.setup.seekers.or_else(|| of_version().filter(|_| self.has(SEEKS)))
    }
}
