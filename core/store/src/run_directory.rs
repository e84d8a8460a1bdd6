//! A run directory: everything one run was told, did and measured.
//!
//! ```text
//! run.json         format version, name, the metrics' descriptions
//! scenario.yaml    as it was given
//! plan.json        the expanded cells and their order
//! provenance.json  hosts, guest, plugins and their versions
//! events.jsonl     what happened, as it happened
//! setups.jsonl     one line for each replicate of a cell: volumes, skew, clock drift
//! samples.jsonl    one line for each instance and round: the values of its metrics
//! warmup.jsonl     the same of warm-ups, which no comparison counts
//! telemetry.jsonl  one line for each source of each replicate: mean and maximum of its series while it was measured
//! raw/imported/NUMBER-NAME   the files that were imported; such a run has no scenario, setups or other raw files
//! raw/CELL/REPLICATE/INSTANCE/ROUND.{stdout,stderr,json}   what each program printed
//! raw/CELL/REPLICATE/INSTANCE/warmup-N.ROUND.…             the same of the Nth warm-up
//! raw/CELL/REPLICATE/telemetry/PLACE.OFFER.SOURCE.txt      what a source printed
//! raw/CELL/REPLICATE/telemetry/PLACE.OFFER.SOURCE.json     the recording made of it, reading by reading
//! raw/VISIT/guest-N.console                                the guests' consoles
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crossvisor_model::{
    CellId, Event, ExecResult, MetricSpec, Name, Plan, Provenance, RunRecord, Sample, SetupFacts, Stamped,
    Telemetry, TelemetrySummary,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::lines::{Lines, each, read, to_json};
use crate::samples;

/// The format this program writes. Format 1 had a line of `samples.jsonl` for each value; it is still read.
const FORMAT: u32 = 2;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    format: u32,
    name: String,
    metrics: BTreeMap<Name, Vec<MetricSpec>>,
}

impl Header {
    pub fn new(name: &str, metrics: BTreeMap<Name, Vec<MetricSpec>>) -> Self {
        Self { format: FORMAT, name: name.into(), metrics }
    }
}

/// An open run directory that is being written.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    events: Mutex<Lines>,
    setups: Mutex<Lines>,
    samples: Mutex<Lines>,
    warmups: Mutex<Lines>,
    telemetry: Mutex<Lines>,
}

/// What one instance printed in one round.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    pub cell: &'a CellId,
    pub replicate: u32,
    pub instance: u32,
    pub round: &'a str,
    pub result: &'a ExecResult,
}

impl RunDirectory {
    /// Makes a new run directory at `path`, which must not exist.
    ///
    /// # Errors
    /// [`StoreError`] when it exists or cannot be written.
    pub fn create(
        path: &Path,
        name: &str,
        scenario: &str,
        plan: &Plan,
        metrics: BTreeMap<Name, Vec<MetricSpec>>,
    ) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("make", parent))?;
        }
        fs::create_dir(path).map_err(StoreError::io("make", path))?;
        write_whole(&path.join("scenario.yaml"), scenario.as_bytes())?;
        write_json(&path.join("plan.json"), plan)?;
        write_json(&path.join("run.json"), &Header::new(name, metrics))?;
        let lines = |file: &str| Lines::open(&path.join(file)).map(Mutex::new);
        Ok(Self {
            events: lines("events.jsonl")?,
            setups: lines("setups.jsonl")?,
            samples: lines("samples.jsonl")?,
            warmups: lines("warmup.jsonl")?,
            telemetry: lines("telemetry.jsonl")?,
            path: path.to_path_buf(),
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn provenance(&self, provenance: &Provenance) -> Result<(), StoreError> {
        write_json(&self.path.join("provenance.json"), provenance)
    }

    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn event(&self, event: &Stamped) -> Result<(), StoreError> {
        append(&self.events, event)
    }

    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn setup(&self, facts: &SetupFacts) -> Result<(), StoreError> {
        append(&self.setups, facts)
    }

    /// Keeps samples and waits until they are on the disk.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take them.
    pub fn samples(&self, samples: &[Sample]) -> Result<(), StoreError> {
        Self::keep(&self.samples, samples)
    }

    /// Keeps samples of a warm-up, as [`RunDirectory::samples`] does.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take them.
    pub fn warmup_samples(&self, samples: &[Sample]) -> Result<(), StoreError> {
        Self::keep(&self.warmups, samples)
    }

    fn keep(lines: &Mutex<Lines>, samples: &[Sample]) -> Result<(), StoreError> {
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        samples::append(&mut lines, samples)?;
        lines.sync()
    }

    /// Keeps what a program printed, to the byte it was read as.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn raw(&self, raw: Raw<'_>) -> Result<(), StoreError> {
        let Raw { cell, replicate, instance, round, result } = raw;
        let folder = self.path.join("raw").join(&*cell.0).join(format!("{replicate}/{instance}"));
        fs::create_dir_all(&folder).map_err(StoreError::io("make", &folder))?;
        write_whole(&folder.join(format!("{round}.stdout")), result.stdout.as_bytes())?;
        write_whole(&folder.join(format!("{round}.stderr")), result.stderr.as_bytes())?;
        let rest = serde_json::json!({"exit": result.exit, "wall_s": result.wall_s});
        write_json(&folder.join(format!("{round}.json")), &rest)
    }

    /// Keeps what a source of telemetry printed, the recording made of it, and the recording in few numbers.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn telemetry(
        &self,
        text: &str,
        telemetry: &Telemetry,
        summary: &TelemetrySummary,
    ) -> Result<(), StoreError> {
        let Telemetry { cell, replicate, place, offer, source, .. } = telemetry;
        let folder = self.path.join("raw").join(&*cell.0).join(format!("{replicate}/telemetry"));
        fs::create_dir_all(&folder).map_err(StoreError::io("make", &folder))?;
        let place = place.to_string().replace(' ', "-");
        let file = |ending: &str| folder.join(format!("{place}.{offer}.{source}.{ending}"));
        write_whole(&file("txt"), text.as_bytes())?;
        write_json(&file("json"), telemetry)?;
        append(&self.telemetry, summary)
    }

    /// Keeps a guest's console.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn console(&self, visit: usize, guest: u32, text: &[u8]) -> Result<(), StoreError> {
        let folder = self.path.join(format!("raw/visit-{visit}"));
        fs::create_dir_all(&folder).map_err(StoreError::io("make", &folder))?;
        write_whole(&folder.join(format!("guest-{guest}.console")), text)
    }

    /// Reads a run directory back.
    ///
    /// # Errors
    /// [`StoreError`] when it is none, is of another format, or is damaged.
    pub fn read(path: &Path) -> Result<RunRecord, StoreError> {
        let header_path = path.join("run.json");
        if !header_path.is_file() {
            return Err(StoreError::NotARun(path.to_path_buf()));
        }
        let header: Header = read_json(&header_path)?;
        if !(1..=FORMAT).contains(&header.format) {
            return Err(StoreError::Format { path: header_path, found: header.format, known: FORMAT });
        }
        let plan = read_json(&path.join("plan.json"))?;
        let samples = samples::read(&path.join("samples.jsonl"), header.format, &plan, &header.metrics)?;
        let mut record = RunRecord {
            name: header.name,
            plan,
            provenance: read_json(&path.join("provenance.json"))?,
            metrics: header.metrics,
            outcomes: Vec::new(),
            setups: read(&path.join("setups.jsonl"))?,
            samples,
            telemetry: read(&path.join("telemetry.jsonl"))?,
            notices: Vec::new(),
            complete: false,
        };
        each(&path.join("events.jsonl"), |Stamped { event, .. }| match event {
            Event::CellEnded { outcome, .. } => record.outcomes.push(outcome),
            Event::Notice { text } => record.notices.push(text),
            Event::RunEnded { .. } => record.complete = true,
            _ => {}
        })?;
        Ok(record)
    }
}

fn append(lines: &Mutex<Lines>, value: &impl Serialize) -> Result<(), StoreError> {
    lines.lock().unwrap_or_else(PoisonError::into_inner).append(value)
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    write_whole(path, &to_json(value, path)?)
}

/// Writes beside the file and renames, so that a reader never sees half of it.
fn write_whole(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    fs::write(&beside, content).map_err(StoreError::io("write", &beside))?;
    fs::rename(&beside, path).map_err(StoreError::io("rename", &beside))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io("read", path))?;
    serde_json::from_str(&text).map_err(|e| StoreError::Damaged {
        path: path.to_path_buf(),
        line: e.line(),
        reason: e.to_string(),
    })
}
