//! A run directory: everything one run was told, did and measured.
//!
//! ```text
//! run.json         format version, name, the metrics' descriptions
//! scenario.yaml    as it was given
//! plan.json        the expanded cells and their order
//! provenance.json  hosts, guest, plugins and their versions; provenance-N.json when the run was resumed the Nth time
//! events.jsonl     what happened, as it happened
//! setups.jsonl     one line for each replicate of a cell: volumes, skew, clock drift
//! samples.jsonl    one line for each instance and round: the values of its metrics
//! warmup.jsonl     the same of warm-ups, which no comparison counts
//! undone.jsonl     lines of cells that were not finished when the run died, and were done again
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
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crossvisor_model::{
    CellId, Event, ExecResult, MetricSpec, Name, Plan, Provenance, RunRecord, Sample, SetupFacts, Stamped,
    Telemetry, TelemetrySummary,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::lines::{Lines, each, to_json};
use crate::{History, StoreError, samples, seal, writing};

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
        Self::open(path, writing::begin(path)?)
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the provenance of the run, or of its part after it stopped for the `resumed`th time.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn provenance(&self, provenance: &Provenance, resumed: u32) -> Result<(), StoreError> {
        write_json(&self.path.join(provenance_file(resumed)), provenance)
    }

    /// Keeps an event; when it says what came of a cell, it and all before it is on the disk when this returns.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn event(&self, event: &Stamped) -> Result<(), StoreError> {
        let mut lines = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        lines.append(event)?;
        match event.event {
            Event::CellEnded { .. } | Event::RunEnded { .. } => lines.sync(),
            _ => Ok(()),
        }
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
        let [stdout, stderr] = [&result.stdout, &result.stderr].map(|text| seal::sum(text.as_bytes()));
        let rest = serde_json::json!({
            "exit": result.exit, "wall_s": result.wall_s, "stdout_crc": stdout, "stderr_crc": stderr
        });
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

    /// Reads a run directory back. Lines that are damaged are left out and told of in the notices.
    ///
    /// # Errors
    /// [`StoreError`] when it is none, is of another format, or what all else depends on is damaged.
    pub fn read(path: &Path) -> Result<RunRecord, StoreError> {
        let Header { format, name, metrics } = header(path)?;
        let mut damages = Vec::new();
        let plan: Plan = read_json(&path.join("plan.json"))?;
        let samples = samples::read(&path.join("samples.jsonl"), format, &plan, &metrics, &mut damages)?;
        let History { outcomes, mut notices, complete, resumed, .. } = History::read(path, &mut damages)?;
        let mut provenances = Vec::new();
        for part in (0..=resumed).map(|part| path.join(provenance_file(part))).filter(|part| part.exists()) {
            provenances.push(read_json::<Provenance>(&part)?);
        }
        let mut provenances = provenances.into_iter();
        let provenance = provenances.next().unwrap_or_else(|| {
            notices.push("the run ended before its hosts were ready: nothing is known of them".into());
            Provenance::default()
        });
        let differences = provenances.flat_map(|later| provenance.differences(&later));
        notices.extend(differences.map(|what| format!("the run went on under other circumstances: {what}")));
        let (mut setups, mut telemetry) = (Vec::new(), Vec::new());
        each(&path.join("setups.jsonl"), &mut damages, |facts| setups.push(facts))?;
        each(&path.join("telemetry.jsonl"), &mut damages, |summary| telemetry.push(summary))?;
        notices.extend(damages.iter().map(|damage| format!("left out as damaged: {damage}")));
        Ok(RunRecord {
            name,
            plan,
            provenance,
            metrics,
            outcomes,
            setups,
            samples,
            telemetry,
            notices,
            complete,
        })
    }

    /// Opens the directory of a run that goes on. What its unfinished cells have left in the files of samples, setups and
    /// telemetry is taken out, and kept in `undone.jsonl`.
    ///
    /// # Errors
    /// [`StoreError`] when it is none, is of another format, or cannot be written.
    pub fn reopen(path: &Path) -> Result<(Self, History), StoreError> {
        let header = header(path)?;
        if header.format != FORMAT {
            return Err(StoreError::Old { path: path.to_path_buf(), found: header.format });
        }
        let events = writing::begin(path)?;
        let history = History::read(path, &mut Vec::new())?;
        for file in OF_CELLS {
            history.take_out(path, file)?;
        }
        Ok((Self::open(path, events)?, history))
    }

    fn open(path: &Path, events: Lines) -> Result<Self, StoreError> {
        let lines = |file: &str| Lines::open(&path.join(file)).map(Mutex::new);
        let directory = Self {
            events: Mutex::new(events),
            setups: lines("setups.jsonl")?,
            samples: lines("samples.jsonl")?,
            warmups: lines("warmup.jsonl")?,
            telemetry: lines("telemetry.jsonl")?,
            path: path.to_path_buf(),
        };
        sync_folder(path)?;
        Ok(directory)
    }
}

/// The files with lines that belong to one replicate of a cell.
pub(crate) const OF_CELLS: [&str; 4] = ["samples.jsonl", "warmup.jsonl", "setups.jsonl", "telemetry.jsonl"];

fn provenance_file(resumed: u32) -> String {
    if resumed == 0 { "provenance.json".into() } else { format!("provenance-{resumed}.json") }
}

fn header(path: &Path) -> Result<Header, StoreError> {
    let file = path.join("run.json");
    if !file.is_file() {
        return Err(StoreError::NotARun(path.to_path_buf()));
    }
    let header: Header = read_json(&file)?;
    match (1..=FORMAT).contains(&header.format) {
        true => Ok(header),
        false => Err(StoreError::Format { path: file, found: header.format, known: FORMAT }),
    }
}

fn append(lines: &Mutex<Lines>, value: &impl Serialize) -> Result<(), StoreError> {
    lines.lock().unwrap_or_else(PoisonError::into_inner).append(value)
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    write_whole(path, &to_json(value, path)?)
}

/// Writes beside the file, waits for the disk and renames: a reader sees all of it or nothing, also after a power cut.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = fs::File::create(&beside).map_err(StoreError::io("write", &beside))?;
    file.write_all(content).and_then(|()| file.sync_data()).map_err(StoreError::io("write", &beside))?;
    fs::rename(&beside, path).map_err(StoreError::io("rename", &beside))
}

/// Waits until the names of a folder's files are on the disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    fs::File::open(path).and_then(|folder| folder.sync_all()).map_err(StoreError::io("sync", path))
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io("read", path))?;
    serde_json::from_str(&text).map_err(|e| StoreError::Damaged {
        path: path.to_path_buf(),
        line: e.line(),
        reason: e.to_string(),
    })
}
