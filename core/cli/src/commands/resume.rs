//! `crossvisor resume`: a run that stopped, from where it stopped to its comparison.

use std::path::PathBuf;
use std::sync::Arc;

use crossvisor_engine::{remove_rest, run as carry_out, RunRequest, Settings, Start};
use crossvisor_model::{CellStatus, Name, RunRecord};
use crossvisor_store::RunDirectory;
use crossvisor_target::Cancel;

use super::run::{conclude, exit, WORDS};
use crate::arguments::Resume;
use crate::exit::{Exit, Failure};
use crate::inventory::Inventory;
use crate::progress::Progress;
use crate::{libvirt_log, output, signals};

/// # Errors
/// [`Failure`] when the run cannot go on or its results not be kept; a failed cell is none.
pub fn execute(asked: &Resume, plugins: Vec<(Name, PathBuf)>) -> Result<Exit, Failure> {
    let record = RunDirectory::read(&asked.run)?;
    if record.provenance.imported.is_some() {
        return Err(Failure::NoResume { run: asked.run.clone(), reason: "it was imported" });
    }
    let settings = Settings::from_environment();
    libvirt_log::to_file(&settings.state);
    let name = Name::new(record.name.clone())?;
    if is_done(&record) {
        // It may have been killed after its last word.
        remove_rest(&settings, &name)?;
        output::say("every cell of this run is good: there is nothing left to do");
        return Ok(Exit::Good);
    }
    let inventory = Inventory::find(plugins)?;
    let cancel = Cancel::default();
    let progress = Arc::new(Progress::new(asked.quiet, asked.no_color));
    let voice = Arc::clone(&progress);
    let watch = signals::watch(&cancel, WORDS, move |text| voice.say(text))?;
    let ended = carry_out(&RunRequest {
        plan: &record.plan,
        start: Start::Again,
        plugins: &inventory.loaded.plugins,
        guests: &inventory.guests,
        directory: &asked.run,
        name: &name,
        settings: &settings,
        cancel: &cancel,
        observer: &*progress,
    });
    drop(watch);
    progress.finish();
    let summary = ended?;
    conclude(&asked.run)?;
    Ok(exit(summary))
}

/// It came to its end, and every replicate that was tried is good.
fn is_done(record: &RunRecord) -> bool {
    record.complete && record.outcomes.iter().all(|outcome| outcome.status == CellStatus::Good)
}
