//! Files of results, made into a run directory.
//!
//! Owns what is kept of the files and of what was refused in them. It must never print.

use std::io::{self, Read, Write};
use std::path::Path;

use crossvisor_model::provenance::{GuestFacts, PluginFacts};
use crossvisor_model::{CellStatus, Event, ImportFacts, ImportedFile, Name, Outcome, Provenance, Stamped};
use crossvisor_plugin::Refused;
use crossvisor_store::ImportDirectory;
use sha2::{Digest, Sha256};

use crate::cells::{Cells, Ended, Labels};
use crate::names::Names;
use crate::{Found, ImportError, Reader};

/// Refusals that are kept of a file; the rest is counted.
const KEPT_REFUSALS: usize = 100;

/// A run directory that is being made. Dropped before its end it leaves nothing.
pub struct ImportRun<'a> {
    reader: &'a Reader<'a>,
    directory: ImportDirectory,
    cells: Cells,
    names: Names,
    files: Vec<ImportedFile>,
    notices: Vec<String>,
}

/// What came of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub cells: usize,
    pub results: usize,
    /// Parts of the files that looked like results and were none.
    pub refused: usize,
}

impl<'a> ImportRun<'a> {
    /// Starts a run directory at `path`, which must not exist.
    ///
    /// # Errors
    /// [`ImportError`] when it exists or cannot be written.
    pub fn create(reader: &'a Reader<'a>, labels: Labels, path: &Path) -> Result<Self, ImportError> {
        Ok(Self {
            reader,
            directory: ImportDirectory::create(path)?,
            cells: Cells::new(labels, &reader.plugin.manifest.name, reader.offer),
            names: Names::default(),
            files: Vec::new(),
            notices: Vec::new(),
        })
    }

    /// Reads one file and keeps a copy of it. `file` is how the person named it; `tell` hears of every refusal.
    ///
    /// # Errors
    /// [`ImportError`] when the file cannot be read or the run directory not be written.
    pub fn add(
        &mut self,
        file: &str,
        from: impl Read,
        mut tell: impl FnMut(&Refused),
    ) -> Result<(), ImportError> {
        let base = file.rsplit('/').next().unwrap_or(file);
        let number = self.files.len() + 1;
        let (copy, kept) = self.directory.keep(&self.names.of(&format!("{number}-{base}"))?)?;
        let mut from = Kept { from, copy, sha256: Sha256::new(), bytes: 0 };
        let (mut results, mut refused) = (0, 0);
        let read = self.reader.read(base, &mut from, |found: Found| -> Result<(), ImportError> {
            results += found.results.len();
            for part in &found.refused {
                tell(part);
                refused += 1;
                if refused <= KEPT_REFUSALS {
                    self.notices.push(format!("{file}:{}: refused: {}", part.line, part.reason));
                }
            }
            keep(&mut self.directory, &mut self.cells, &mut self.notices, found)
        });
        read?;
        // What follows a part that ended the reading is kept too.
        io::copy(&mut from, &mut io::sink())?;
        if refused > KEPT_REFUSALS {
            self.notices.push(format!("{file}: {} more refused parts", refused - KEPT_REFUSALS));
        }
        let (sha256, bytes) = (hex(&from.sha256.finalize()), from.bytes);
        self.files.push(ImportedFile { name: file.into(), kept, bytes, sha256, results, refused });
        Ok(())
    }

    /// Makes it a run directory called `name`; without any result nothing is left of it. `now` is RFC 3339.
    ///
    /// # Errors
    /// [`ImportError`] when the directory cannot be written, or there are more machines than guests.
    pub fn finish(mut self, name: &Name, now: String) -> Result<Summary, ImportError> {
        if let Some(found) = self.cells.too_many_guests() {
            return Err(ImportError::Guests { found });
        }
        let kind = self.reader.offer.name.clone();
        let Ended { plan, metrics, machines, tools } = self.cells.end(&kind, &self.reader.offer.metrics);
        let count = |of: fn(&ImportedFile) -> usize| self.files.iter().map(of).sum();
        let (results, refused) = (count(|file| file.results), count(|file| file.refused));
        let summary = Summary { cells: plan.cells.len(), results, refused };
        if results == 0 {
            return Ok(summary);
        }
        let notices = self.notices.into_iter().map(|text| Event::Notice { text });
        let events: Vec<Stamped> = notices.chain([Event::RunEnded { failed: 0 }]).map(stamped).collect();
        self.directory.events(&events)?;
        let manifest = &self.reader.plugin.manifest;
        let plugin =
            PluginFacts { version: manifest.version.clone(), origin: self.reader.plugin.origin.to_string() };
        let provenance = Provenance {
            crossvisor: env!("CARGO_PKG_VERSION").into(),
            started: now,
            hosts: [].into(),
            guest: GuestFacts::default(),
            plugins: [(manifest.name.clone(), plugin)].into(),
            imported: Some(ImportFacts { kind, files: self.files, machines, tools }),
        };
        self.directory.finish(name.as_str(), &plan, metrics, &provenance)?;
        Ok(summary)
    }
}

/// Keeps what was found in one piece. What becomes of a replicate is told once, by its first instance.
fn keep(
    directory: &mut ImportDirectory,
    cells: &mut Cells,
    notices: &mut Vec<String>,
    found: Found,
) -> Result<(), ImportError> {
    let mut rounds = Vec::with_capacity(found.results.len());
    let mut events = Vec::with_capacity(found.results.len());
    for result in found.results {
        let (round, warnings) = cells.take(result)?;
        let (cell, replicate) = (round.cell.clone(), round.replicate);
        if round.instance == 1 {
            let outcome = Outcome { cell, replicate, status: CellStatus::Good, warnings };
            events.push(stamped(Event::CellEnded { visit: 0, outcome }));
        } else {
            notices.extend(
                warnings.iter().map(|warning| format!("{cell}, guest {}: {warning}", round.instance)),
            );
        }
        rounds.push(round);
    }
    directory.rounds(&rounds)?;
    Ok(directory.events(&events)?)
}

/// When an event of an import happened says nothing of the results.
fn stamped(event: Event) -> Stamped {
    Stamped { at_s: 0.0, event }
}

/// A file of which all that is read is copied.
struct Kept<R> {
    from: R,
    copy: std::fs::File,
    sha256: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        let uncopied = |e| io::Error::other(format!("its copy in the run directory cannot be written: {e}"));
        self.copy.write_all(&buffer[..read]).map_err(uncopied)?;
        self.sha256.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
