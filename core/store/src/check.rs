//! Looks a run directory over: what in it is not as it was written, and what of that can be mended.
//!
//! Owns the look and the mending of files of lines. It must never throw away what it cannot read: that is kept.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::lines::{Line, Lines, scan};
use crate::run_directory::{OF_CELLS, read_json, write_whole};
use crate::{RunDirectory, StoreError, seal};

/// Where lines go that are no longer what was written.
const DAMAGED: &str = "damaged.jsonl";

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, relative to the run directory.
    pub file: PathBuf,
    /// From 1; `None` for a file as a whole.
    pub line: Option<usize>,
    pub reason: String,
    /// What repairing does about it; `None` where nothing can be done.
    pub mended: Option<&'static str>,
}

/// What a look over a run directory found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Lines whose checksum is right.
    pub sealed: usize,
    /// Lines without a checksum: of a run of format 1.
    pub unsealed: usize,
    /// Raw outputs whose checksums are right.
    pub raw: usize,
    pub findings: Vec<Finding>,
}

/// Looks over every file of a run directory; with `repair`, takes damaged lines out of their files and into
/// `damaged.jsonl`, and the ends of lines that were cut short away.
///
/// # Errors
/// [`StoreError`] when it is no run directory, or the disk does not give or take something.
pub fn check(path: &Path, repair: bool) -> Result<Checked, StoreError> {
    let mut checked = Checked::default();
    for file in OF_CELLS.iter().chain(&["events.jsonl", "undone.jsonl"]) {
        checked.lines(path, file, repair)?;
    }
    for file in ["run.json", "plan.json", "provenance.json"] {
        let whole = path.join(file);
        if whole.exists() {
            let damage = read_json::<Value>(&whole).err();
            checked.findings.extend(damage.map(|damage| finding(file, None, &damage, None)));
        } else if file == "run.json" {
            return Err(StoreError::NotARun(path.to_path_buf()));
        }
    }
    checked.raw(path, &path.join("raw"))?;
    if checked.findings.is_empty() {
        RunDirectory::read(path)?;
    }
    Ok(checked)
}

fn finding(
    file: impl Into<PathBuf>,
    line: Option<usize>,
    reason: &dyn std::fmt::Display,
    mended: Option<&'static str>,
) -> Finding {
    Finding { file: file.into(), line, reason: reason.to_string(), mended }
}

impl Checked {
    fn lines(&mut self, directory: &Path, file: &str, repair: bool) -> Result<(), StoreError> {
        let path = directory.join(file);
        let (mut stay, mut go) = (Vec::new(), Vec::new());
        let before = self.findings.len();
        scan(&path, |number, line| {
            let (text, reason) = match line {
                Line::Whole { text, sealed } => {
                    *if sealed { &mut self.sealed } else { &mut self.unsealed } += 1;
                    match serde_json::from_slice::<serde::de::IgnoredAny>(text) {
                        Ok(_) => {
                            let start = stay.len();
                            stay.extend_from_slice(text);
                            if sealed {
                                seal::close(&mut stay, start);
                            }
                            return stay.push(b'\n');
                        }
                        Err(e) => (text, e.to_string()),
                    }
                }
                Line::Damaged { text, reason } => (text, reason),
                Line::Cut => {
                    let mended = Some("the piece is removed: it was never promised");
                    return self.findings.push(finding(file, Some(number), &"it was cut short", mended));
                }
            };
            go.push(json!({"file": file, "line": number, "text": String::from_utf8_lossy(text)}));
            let mended = Some("the line is moved to damaged.jsonl");
            self.findings.push(finding(file, Some(number), &reason, mended));
        })?;
        if repair && self.findings.len() > before {
            let mut damaged = Lines::open(&directory.join(DAMAGED))?;
            damaged.append_all(&go)?;
            damaged.sync()?;
            write_whole(&path, &stay)?;
        }
        Ok(())
    }

    /// Holds raw outputs against the checksums beside them.
    fn raw(&mut self, directory: &Path, folder: &Path) -> Result<(), StoreError> {
        if !folder.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(StoreError::io("read", folder))? {
            let path = entry.map_err(StoreError::io("read", folder))?.path();
            if path.is_dir() && !path.is_symlink() {
                self.raw(directory, &path)?;
            } else if path.extension().is_some_and(|ending| ending == "json") {
                self.output(directory, &path)?;
            }
        }
        Ok(())
    }

    fn output(&mut self, directory: &Path, about: &Path) -> Result<(), StoreError> {
        let name = |path: &Path| path.strip_prefix(directory).unwrap_or(path).to_path_buf();
        let told = match read_json::<Value>(about) {
            Ok(told) => told,
            Err(damage) => {
                self.findings.push(finding(name(about), None, &damage, None));
                return Ok(());
            }
        };
        for stream in ["stdout", "stderr"] {
            let Some(sum) = told[format!("{stream}_crc")].as_str() else { continue };
            let path = about.with_extension(stream);
            match fs::read(&path) {
                Ok(text) if seal::sum(&text) == sum => self.raw += 1,
                Ok(_) => self.findings.push(finding(name(&path), None, &"it is not what was written", None)),
                Err(e) => self.findings.push(finding(name(&path), None, &e, None)),
            }
        }
        Ok(())
    }
}
