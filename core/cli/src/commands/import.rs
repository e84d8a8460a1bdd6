//! `crossvisor import`: results that were measured elsewhere, as a run or as lines of JSON.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crossvisor_import::{Found, ImportError, ImportRun, Labels, Reader};
use crossvisor_loader::Loaded;
use crossvisor_model::{Axes, Name};
use crossvisor_plugin::{Imported, Refused};
use serde::Serialize;

use super::import_guest;
use crate::arguments::Import;
use crate::exit::{Exit, Failure};
use crate::output::{self, count, long_line};
use crate::{inventory, run_name};

/// The folder of runs, where no other is named.
const RUNS: &str = "runs";

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    part: Part<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Result(&'a Imported),
    Refused { line: usize, refused: &'a str },
}

/// # Errors
/// [`Failure`] when a file cannot be read or the run not be made; a refused part is none.
pub fn execute(asked: &Import, plugins: Vec<(Name, PathBuf)>) -> Result<Exit, Failure> {
    let loaded = inventory::plugins(plugins)?;
    let reader = Reader::of(&asked.kind, loaded.plugins.values()).ok_or_else(|| no_kind(asked, &loaded))?;
    let (results, refused) = if asked.json { print(asked, &reader)? } else { make(asked, &reader)? };
    if results == 0 {
        output::say(&format!("nothing in these files is a result of {}", reader.offer.name));
        return Ok(Exit::Usage);
    }
    Ok(if refused == 0 { Exit::Good } else { Exit::Cells })
}

fn no_kind(asked: &Import, loaded: &Loaded) -> Failure {
    let offers = loaded.plugins.values().flat_map(|plugin| &plugin.manifest.offers);
    let known: Vec<_> = offers.filter(|offer| offer.imports).map(|offer| offer.name.as_str()).collect();
    let known: Vec<_> = known.into_iter().chain(import_guest::KINDS).collect();
    Failure::NoKind { kind: asked.kind.clone(), known: format!("the kinds are {}", known.join(", ")) }
}

/// Makes the run; how many results and how many refused parts there are.
fn make(asked: &Import, reader: &Reader<'_>) -> Result<(usize, usize), Failure> {
    if asked.storage.is_some() && asked.hypervisor.as_str() == Axes::BARE {
        return Err(Failure::BareStorage);
    }
    let out = asked.out.as_deref().unwrap_or(Path::new(RUNS));
    let now = SystemTime::now();
    let name = match &asked.name {
        Some(name) => name.clone(),
        None => {
            run_name::of(&reader.offer.name, now, |name| out.join(name.as_str()).symlink_metadata().is_ok())?
        }
    };
    let directory = out.join(name.as_str());
    if directory.symlink_metadata().is_ok() {
        return Err(Failure::Exists(directory));
    }
    let labels = Labels {
        host: asked.host.clone(),
        hypervisor: asked.hypervisor.clone(),
        storage: asked.storage.clone(),
        guests: asked.guests,
    };
    let mut run = ImportRun::create(reader, labels, &directory)?;
    for path in &asked.files {
        let file = path.to_string_lossy();
        let added = run.add(&file, open(path)?, |refused| tell(&file, refused));
        added.map_err(|error| of_file(path, error))?;
    }
    let summary = run.finish(&name, humantime::format_rfc3339_seconds(now).to_string())?;
    if summary.results > 0 {
        output::show(|out| {
            let (results, cells) = (count(summary.results, "result"), count(summary.cells, "cell"));
            writeln!(out, "{results} in {cells}, {} refused", count(summary.refused, "part"))?;
            writeln!(out, "run    {0}\nreport crossvisor report {0}", directory.display())
        })?;
    }
    Ok((summary.results, summary.refused))
}

/// Prints the results; how many there are, and how many refused parts.
fn print(asked: &Import, reader: &Reader<'_>) -> Result<(usize, usize), Failure> {
    let (mut results, mut refused) = (0, 0);
    for path in &asked.files {
        let file = path.to_string_lossy();
        let read = reader.read::<Ended>(&file, open(path)?, |found: Found| {
            results += found.results.len();
            refused += found.refused.len();
            found.refused.iter().for_each(|part| tell(&file, part));
            lines(&file, &found).map_err(Ended::Shown)
        });
        match read {
            Ok(()) => {}
            Err(Ended::Read(error)) => return Err(of_file(path, error.into())),
            Err(Ended::Shown(failure)) => return Err(failure),
        }
    }
    Ok((results, refused))
}

/// Why the lines ended before their end.
enum Ended {
    Read(io::Error),
    Shown(Failure),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn lines(file: &str, found: &Found) -> Result<(), Failure> {
    let results = found.results.iter().map(Part::Result);
    let refused = found.refused.iter().map(|part| Part::Refused { line: part.line, refused: &part.reason });
    output::show(|out| {
        results.chain(refused).try_for_each(|part| {
            serde_json::to_writer(&mut *out, &Line { file, part })?;
            writeln!(out)
        })
    })
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|source| Failure::Unreadable { path: path.into(), source })?;
    Ok(Box::new(file))
}

/// Names the file of a reading error.
fn of_file(path: &Path, error: ImportError) -> Failure {
    match error {
        ImportError::Read(source) => Failure::Unreadable { path: path.into(), source },
        other => other.into(),
    }
}

fn tell(file: &str, refused: &Refused) {
    output::say(&long_line(&format!("{file}:{}: refused: {}", refused.line, refused.reason)));
}
