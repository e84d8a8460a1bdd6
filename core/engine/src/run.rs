//! A whole run: its work folder, its run directory, its course, and the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crossvisor_image::GuestLibrary;
use crossvisor_model::{CellStatus, Event, MetricSpec, Name, Outcome, Plan};
use crossvisor_store::{Journal, RunDirectory};
use crossvisor_target::Cancel;

use crate::context::{Plugins, find, offer};
use crate::course::Course;
use crate::hosts::{Connections, Hosts};
use crate::log::Log;
use crate::work_folder::{WorkFolder, folder_error};
use crate::{EngineError, Observer, Settings};

/// What a run needs.
pub struct RunRequest<'a> {
    pub plan: &'a Plan,
    /// The scenario as it was given, kept with the results.
    pub scenario_text: &'a str,
    pub plugins: &'a Plugins,
    pub guests: &'a GuestLibrary,
    /// The run directory to be made. Its name is the run's name.
    pub directory: &'a Path,
    /// The run's name: it tags every domain.
    pub name: &'a Name,
    pub settings: &'a Settings,
    pub cancel: &'a Cancel,
    pub observer: &'a dyn Observer,
}

/// How many replicates of cells came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub good: usize,
    pub failed: usize,
    /// Not tried, because the run was interrupted.
    pub skipped: usize,
}

/// Carries out a plan. What goes wrong in a cell is that cell's outcome and the run goes on.
///
/// # Errors
/// [`EngineError`] when the run cannot be started, or its results cannot be kept; what it created is removed.
pub fn run(request: &RunRequest<'_>) -> Result<Summary, EngineError> {
    let RunRequest { plan, plugins, settings, name, .. } = *request;
    fs::create_dir_all(&settings.state).map_err(folder_error("make", &settings.state))?;
    let metrics = metrics(plan, plugins)?;
    let work = WorkFolder::create(&settings.work(), name.as_str())?;
    let result = run_in(request, &work, metrics);
    // What could not be undone stays in the journal, for `clean`.
    if crossvisor_store::journal::pending(&work.journal())?.is_empty() {
        work.remove()?;
    }
    result
}

fn run_in(
    request: &RunRequest<'_>,
    work: &WorkFolder,
    metrics: BTreeMap<Name, Vec<MetricSpec>>,
) -> Result<Summary, EngineError> {
    let RunRequest { plan, settings, cancel, name, .. } = *request;
    let journal = Journal::open(&work.journal())?;
    let connections = Connections::new(settings, work.path());
    let mut hosts = Hosts::new(work, &journal, &connections, cancel);
    let mut course = Course { request, work, journal: &journal, reached: BTreeMap::new() };
    let scenario = request.scenario_text;
    let directory = course.reach_found(&mut hosts).and_then(|()| {
        let metrics = metrics.clone();
        Ok(RunDirectory::create(request.directory, name.as_str(), scenario, plan, metrics)?)
    });
    let directory = match directory {
        Ok(directory) => directory,
        Err(error) => {
            // What cannot be removed stays in the journal, for `clean`.
            hosts.clear();
            return Err(error);
        }
    };
    let log = Log::new(&directory, request.observer);
    let visits = plan.order.iter().filter(|visit| visit.replicate <= plan.repeat).count();
    log.tell(Event::RunStarted { run: name.to_string(), visits })?;
    let summary = course.follow(&mut hosts, &log, metrics);
    for reason in hosts.clear() {
        log.tell(Event::Notice {
            text: format!("not removed ({reason}): 'crossvisor clean' tries it again"),
        })?;
    }
    let summary = summary?;
    log.tell(Event::RunEnded { failed: summary.failed + summary.skipped })?;
    Ok(summary)
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
