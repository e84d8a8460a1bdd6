//! A job: what fio says of one process, or of a group of processes that it reports as one.
//!
//! Owns the units that every form of output is brought to. It must never know a form.

use std::collections::BTreeMap;

/// What a job did, by what it asked of the disk; `mixed` stands for all of them where fio was told to report them as one.
pub const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// One entry of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Where it begins in the text, from 1.
    pub line: usize,
    pub name: String,
    /// The machine, where fio drove several.
    pub machine: Option<String>,
    /// Jobs of one run and group ran at the same time.
    pub group: Option<u64>,
    /// Tells the runs of a text apart; only jobs of the same run have the same.
    pub run: usize,
    /// An error number of the system; 0 for none.
    pub error: i64,
    /// `3.33`.
    pub version: Option<String>,
    /// As far as the output tells, by fio's names: `rw`, `bs`, `iodepth` …
    pub options: BTreeMap<String, String>,
    /// In the order of [`DIRECTIONS`]; `None`: nothing was done.
    pub directions: [Option<Direction>; 4],
    /// Of one processor, in per cent.
    pub cpu_user: Option<f64>,
    pub cpu_system: Option<f64>,
    /// Busy time of the busiest disk, in per cent; only where the job was alone in its run.
    pub disk_busy: Option<f64>,
    /// The signal that ended the run early.
    pub interrupted: Option<String>,
}

/// What was done one way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Direction {
    pub io_kib: Option<f64>,
    pub runtime_ms: Option<f64>,
    pub iops: Option<f64>,
    pub bandwidth_kib_s: Option<f64>,
    /// Mean of the samples that fio took while it ran.
    pub bandwidth_mean_kib_s: Option<f64>,
    /// How many requests.
    pub requests: Option<f64>,
    /// From the request to its submission.
    pub submission: Option<Latency>,
    /// From the submission to the end.
    pub completion: Option<Latency>,
    /// Both together.
    pub total: Option<Latency>,
    /// Of the completion latency: per cent and microseconds.
    pub percentiles: Vec<(f64, f64)>,
}

/// In microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    pub max: f64,
    pub mean: f64,
}

impl Latency {
    /// `None` where all is 0: fio prints that for what it did not measure.
    #[must_use]
    pub fn new(max: f64, mean: f64) -> Option<Self> {
        (max > 0.0 || mean > 0.0).then_some(Self { max, mean })
    }
}

impl Direction {
    /// Whether anything was done. fio prints a section of zeros for what was not asked for.
    #[must_use]
    pub fn is_used(&self) -> bool {
        let positive = |value: Option<f64>| value.is_some_and(|value| value > 0.0);
        positive(self.io_kib) || positive(self.requests) || positive(self.bandwidth_kib_s)
    }

    /// The completion latency that `percent` of the requests did not exceed, in microseconds.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let found = self.percentiles.iter().find(|(p, _)| (p - percent).abs() < 1e-6);
        found.map(|&(_, value)| value)
    }
}

impl Job {
    /// The job if it is a result.
    ///
    /// # Errors
    /// Why it is none; `said` is what fio complained of.
    pub fn checked(self, said: Option<&str>) -> Result<Self, (usize, String)> {
        let said = said.map(|said| format!("; fio said: {said}")).unwrap_or_default();
        if self.error != 0 {
            let reason = format!("job '{}' ended with error {}{said}", self.name, self.error);
            return Err((self.line, reason));
        }
        if self.directions.iter().all(Option::is_none) {
            let reason = format!("expected what job '{}' read or wrote, found nothing{said}", self.name);
            return Err((self.line, reason));
        }
        Ok(self)
    }
}
