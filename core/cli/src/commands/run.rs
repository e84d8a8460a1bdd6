//! `crossvisor run`: a scenario from its file to its comparison.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crossvisor_analysis::compare;
use crossvisor_engine::{run as carry_out, EngineError, RunRequest, Settings, Start, Summary};
use crossvisor_model::{Name, Plan};
use crossvisor_report::{html, text, Metrics};
use crossvisor_store::{recordings, RunDirectory};
use crossvisor_target::Cancel;

use super::plan;
use crate::arguments::Run;
use crate::exit::{Exit, Failure};
use crate::inventory::Inventory;
use crate::planned;
use crate::progress::Progress;
use crate::signals::{self, Words};
use crate::{libvirt_log, output, run_name};

pub(super) const WORDS: Words =
    Words { removing: "what this run created", rest: "'crossvisor clean' removes what is left of this run" };

/// # Errors
/// [`Failure`] when the run could not be started or its results not be kept; a failed cell is none.
pub fn execute(asked: &Run, plugins: Vec<(Name, PathBuf)>) -> Result<Exit, Failure> {
    let settings = Settings::from_environment();
    libvirt_log::to_file(&settings.state);
    let inventory = Inventory::find(plugins)?;
    let planned = planned::read(&asked.scenario, &inventory)?;
    if asked.dry_run {
        plan::show(&planned.plan, &inventory)?;
        return Ok(Exit::Good);
    }
    let cancel = Cancel::default();
    let progress = Arc::new(Progress::new(asked.quiet, asked.no_color));
    let voice = Arc::clone(&progress);
    let watch = signals::watch(&cancel, WORDS, move |text| voice.say(text))?;
    let ended = in_its_place(asked, &planned.plan, &settings.work(), |name, directory| {
        carry_out(&RunRequest {
            plan: &planned.plan,
            start: Start::New { scenario: &planned.text },
            plugins: &inventory.loaded.plugins,
            guests: &inventory.guests,
            directory,
            name,
            settings: &settings,
            cancel: &cancel,
            observer: &*progress,
        })
    });
    drop(watch);
    progress.finish();
    let (directory, summary) = ended?;
    conclude(&directory)?;
    Ok(exit(summary))
}

/// Starts the run under its name; where another run takes a default name meanwhile, under the next.
fn in_its_place(
    asked: &Run,
    plan: &Plan,
    work: &Path,
    start: impl Fn(&Name, &Path) -> Result<Summary, EngineError>,
) -> Result<(PathBuf, Summary), Failure> {
    loop {
        let (name, directory) = place(asked, plan, work)?;
        match start(&name, &directory) {
            Err(EngineError::NameTaken(_)) if asked.name.is_none() => {}
            ended => return Ok((directory, ended?)),
        }
    }
}

/// The run's name and its directory, which does not exist yet. `work` has a folder for each run that is alive or was
/// killed: such a run, wherever its directory is, has its name to itself.
fn place(asked: &Run, plan: &Plan, work: &Path) -> Result<(Name, PathBuf), Failure> {
    let is_in = |name: &Name, folder: &Path| folder.join(name.as_str()).symlink_metadata().is_ok();
    let taken = |name: &Name| is_in(name, &asked.out) || is_in(name, work);
    let name = match &asked.name {
        Some(name) => name.clone(),
        None => run_name::of(&plan.scenario, SystemTime::now(), taken)?,
    };
    let directory = asked.out.join(name.as_str());
    if directory.exists() {
        return Err(Failure::Exists(directory));
    }
    fs::create_dir_all(&asked.out).map_err(Failure::write(&asked.out))?;
    Ok((name, directory))
}

/// Writes the HTML page and shows the table.
pub(super) fn conclude(directory: &Path) -> Result<(), Failure> {
    let record = RunDirectory::read(directory)?;
    let comparison = compare(&record);
    let page = directory.join("report.html");
    fs::write(&page, html(&record, &comparison, &recordings(directory, &record.telemetry))?)
        .map_err(Failure::write(&page))?;
    output::show(|out| {
        out.write_all(text(&record, &comparison, Metrics::Headline, output::width()).as_bytes())?;
        writeln!(out, "\nrun    {}", directory.display())?;
        writeln!(out, "report {}", page.display())
    })
}

pub(super) fn exit(summary: Summary) -> Exit {
    let Summary { good, failed, skipped, interrupted, left } = summary;
    let interrupted = interrupted || skipped > 0;
    if interrupted && left == 0 {
        output::say("interrupted: what the run created is removed, what it measured is kept");
    }
    if left > 0 {
        let left = output::count(left, "thing");
        output::say(&format!("{left} of the run could not be removed: 'crossvisor clean' tries it again"));
    }
    if failed == 0 && !interrupted && left == 0 {
        return Exit::Good;
    }
    output::say(&format!("{good} good, {failed} failed, {skipped} skipped"));
    Exit::Cells
}
