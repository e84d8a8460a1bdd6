//! A whole run: its work folder, its run directory, its course, and the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crossvisor_image::GuestLibrary;
use crossvisor_model::{CellStatus, Event, MetricSpec, Name, Outcome, Plan};
use crossvisor_store::{History, Journal, RunDirectory};
use crossvisor_target::Cancel;

use crate::clean::clean;
use crate::context::{Plugins, find, offer};
use crate::course::Course;
use crate::hosts::{Connections, Hosts};
use crate::log::Log;
use crate::work_folder::{WorkFolder, folder_error};
use crate::{EngineError, Observer, Settings};

/// What a run needs.
pub struct RunRequest<'a> {
    pub plan: &'a Plan,
    pub plugins: &'a Plugins,
    pub guests: &'a GuestLibrary,
    /// The run directory. Its name is the run's name.
    pub directory: &'a Path,
    /// The run's name: it tags every domain.
    pub name: &'a Name,
    pub start: Start<'a>,
    pub settings: &'a Settings,
    pub cancel: &'a Cancel,
    pub observer: &'a dyn Observer,
}

/// How a run begins.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// The run directory is made.
    New {
        /// The scenario as it was given, kept with the results.
        scenario: &'a str,
    },
    /// The run directory is there, of a run that stopped: what is good in it stays, all else is done.
    Again,
}

/// How many replicates of cells came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub good: usize,
    pub failed: usize,
    /// Not tried, because the run was interrupted.
    pub skipped: usize,
    /// There was more to do when the run was told to stop.
    pub interrupted: bool,
    /// Things that were made and could not be removed: they are for [`clean`].
    pub left: usize,
}

/// Carries out a plan. What goes wrong in a cell is that cell's outcome and the run goes on.
///
/// # Errors
/// [`EngineError`] when the run cannot be started, or its results cannot be kept; what it created is removed.
pub fn run(request: &RunRequest<'_>) -> Result<Summary, EngineError> {
    let RunRequest { plan, plugins, settings, name, start, .. } = *request;
    fs::create_dir_all(&settings.state).map_err(folder_error("make", &settings.state))?;
    let metrics = metrics(plan, plugins)?;
    if matches!(start, Start::Again) {
        remove_rest(settings, name)?;
    }
    let work = WorkFolder::create(&settings.work(), name.as_str())?;
    let result = run_in(request, &work, metrics);
    // What could not be undone stays in the journal, for `clean`.
    let left = crossvisor_store::journal::pending(&work.journal())?.len();
    if left == 0 {
        work.remove()?;
    }
    Ok(Summary { left, ..result? })
}

/// Removes what a run left when it stopped.
///
/// # Errors
/// [`EngineError::NameTaken`] when it is alive, [`EngineError::Rest`] with what cannot be removed.
pub fn remove_rest(settings: &Settings, name: &Name) -> Result<(), EngineError> {
    if !settings.work().join(name.as_str()).exists() {
        return Ok(());
    }
    let cleaned = clean(settings, false, Some(name.as_str()))?;
    if cleaned.alive.iter().any(|run| run == name.as_str()) {
        return Err(EngineError::NameTaken(name.to_string()));
    }
    let failed = cleaned.actions.into_iter().find_map(|action| Some((action.what, action.failure?)));
    match failed {
        Some((what, reason)) => Err(EngineError::Rest { what, reason }),
        None => Ok(()),
    }
}

fn run_in(
    request: &RunRequest<'_>,
    work: &WorkFolder,
    metrics: BTreeMap<Name, Vec<MetricSpec>>,
) -> Result<Summary, EngineError> {
    let RunRequest { settings, cancel, .. } = *request;
    let journal = Journal::open(&work.journal())?;
    let connections = Connections::new(settings, work.path());
    let mut hosts = Hosts::new(work, &journal, &connections, cancel);
    let mut course = Course { request, work, journal: &journal, reached: BTreeMap::new() };
    let directory = course.reach_found(&mut hosts).and_then(|()| open(request, &metrics));
    let (directory, history) = match directory {
        Ok(opened) => opened,
        Err(error) => {
            // What cannot be removed stays in the journal, for `clean`.
            hosts.clear();
            return Err(error);
        }
    };
    let log = Log::new(&directory, request.observer, history.at_s);
    log.tell(first_event(request, &history))?;
    let summary = course.follow(&mut hosts, &log, metrics, &history);
    for reason in hosts.clear() {
        log.tell(Event::Notice {
            text: format!("not removed ({reason}): 'crossvisor clean' tries it again"),
        })?;
    }
    let summary = summary?;
    log.tell(Event::RunEnded { failed: summary.failed + summary.skipped })?;
    Ok(summary)
}

/// The run directory, and what the run has come to in it.
fn open(
    request: &RunRequest<'_>,
    metrics: &BTreeMap<Name, Vec<MetricSpec>>,
) -> Result<(RunDirectory, History), EngineError> {
    let RunRequest { plan, name, directory, start, .. } = *request;
    Ok(match start {
        Start::New { scenario } => {
            let new = RunDirectory::create(directory, name.as_str(), scenario, plan, metrics.clone())?;
            (new, History::default())
        }
        Start::Again => RunDirectory::reopen(directory)?,
    })
}

fn first_event(request: &RunRequest<'_>, history: &History) -> Event {
    let RunRequest { plan, name, start, .. } = *request;
    let finished = history.finished();
    let planned = plan.order.iter().filter(|visit| visit.replicate <= plan.repeat);
    let left = planned.filter(|visit| !visit.is_done(plan, &finished)).count();
    match start {
        Start::New { .. } => Event::RunStarted { run: name.to_string(), visits: left },
        Start::Again => Event::RunResumed { run: name.to_string(), visits: left },
    }
}

fn metrics(plan: &Plan, plugins: &Plugins) -> Result<BTreeMap<Name, Vec<MetricSpec>>, EngineError> {
    let of = |name: &Name| {
        let (plugin, using) = find(&plan.workloads, plugins, name)?;
        let metrics = offer((plugin, using)).map(|offer| offer.metrics_with(&using.options));
        Ok((name.clone(), metrics.unwrap_or_default()))
    };
    plan.workloads.keys().map(of).collect()
}

impl Summary {
    /// Notes, and tells once, that the visits from this one on are not tried.
    ///
    /// # Errors
    /// [`EngineError::Store`].
    pub fn interrupt(&mut self, log: &Log<'_>, visit: usize) -> Result<(), EngineError> {
        match std::mem::replace(&mut self.interrupted, true) {
            true => Ok(()),
            false => log.tell(Event::Interrupted { visit }),
        }
    }

    /// Counts what came of a visit's cells.
    pub fn add(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            match outcome.status {
                CellStatus::Good => self.good += 1,
                CellStatus::Failed { .. } => self.failed += 1,
                CellStatus::Skipped { .. } => self.skipped += 1,
            }
        }
    }
}
