//! A whole run: hosts, image, every visit in the plan's order, and the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crossvisor_image::{GuestLibrary, Image};
use crossvisor_loader::Plugin;
use crossvisor_model::{CellStatus, Event, HostAddress, HostSpec, MetricSpec, Name, Outcome, Plan};
use crossvisor_store::{Journal, RunDirectory};
use crossvisor_target::Cancel;

use crate::context::{Run, find, offer};
use crate::host::Host;
use crate::identity::RunKey;
use crate::log::Log;
use crate::visit::visit;
use crate::work_folder::{WorkFolder, folder_error};
use crate::{EngineError, Observer, Settings, programs, provenance};

/// What a run needs.
pub struct RunRequest<'a> {
    pub plan: &'a Plan,
    /// The scenario as it was given, kept with the results.
    pub scenario_text: &'a str,
    pub plugins: &'a BTreeMap<Name, Plugin>,
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
    let RunRequest { plan, plugins, settings, cancel, name, .. } = *request;
    let has_guests =
        |host: &Name| plan.cells.iter().any(|cell| cell.axes.host == *host && !cell.axes.is_bare());
    let reached: BTreeMap<Name, HostAddress> = plan
        .hosts
        .iter()
        .filter_map(|(name, spec)| match spec {
            HostSpec::Reached(address) => Some((name.clone(), address.clone())),
            _ => None,
        })
        .collect();
    work.note_hosts(&reached)?;
    let mut hosts = BTreeMap::new();
    for (name, spec) in &reached {
        let host = Host::open(name, spec, has_guests(name), settings, cancel)?;
        programs::check(name, &*host.machine, &host_programs(plan, plugins, name))?;
        hosts.insert(name.clone(), host);
    }
    let scenario = request.scenario_text;
    let directory = RunDirectory::create(request.directory, name.as_str(), scenario, plan, metrics.clone())?;
    let log = Log::new(&directory, request.observer);
    log.tell(Event::RunStarted { run: name.to_string(), visits: plan.order.len() })?;
    hosts.values().filter_map(Host::notice).try_for_each(|text| log.tell(Event::Notice { text }))?;

    let guest = request.guests.get(plan.guest.image.as_str())?;
    let image = match hosts.keys().any(has_guests) {
        true => Some(image(request, &guest, &log)?),
        false => None,
    };
    directory.provenance(&provenance::of(plan, plugins, &hosts, &guest, image.as_ref()))?;
    let run = Run {
        name: name.clone(),
        plan,
        plugins,
        hosts,
        work,
        journal: &Journal::open(&work.journal())?,
        log: &log,
        cancel,
        key: RunKey::generate(&work.path().join("ssh"))?,
        probe: put_probe(work.path())?,
        image,
        cmdline: guest.boot.cmdline,
        login: guest.login,
        metrics,
    };
    let summary = visits(&run)?;
    log.tell(Event::RunEnded { failed: summary.failed + summary.skipped })?;
    Ok(summary)
}

/// The image of the guest, built when it is not cached.
fn image(
    request: &RunRequest<'_>,
    guest: &crossvisor_image::GuestDefinition,
    log: &Log<'_>,
) -> Result<Image, EngineError> {
    let mut last = "";
    let mut progress = |progress: crossvisor_image::Progress| {
        if progress.stage != last {
            last = progress.stage;
            log.show(Event::Building { image: guest.name.to_string(), stage: last.into() });
        }
    };
    let cancelled = || request.cancel.is_raised();
    Ok(crossvisor_image::build(guest, &request.settings.images(), &mut progress, &cancelled)?)
}

fn put_probe(folder: &Path) -> Result<PathBuf, EngineError> {
    let path = folder.join("crossvisor-probe");
    fs::write(&path, crossvisor_probe::BINARY).map_err(folder_error("write", &path))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .map_err(folder_error("set the mode of", &path))?;
    Ok(path)
}

/// Makes every visit in the plan's order; after an interruption the rest is not tried.
fn visits(run: &Run<'_>) -> Result<Summary, EngineError> {
    let mut summary = Summary::default();
    for (number, one) in (1..).zip(&run.plan.order) {
        if run.cancel.is_raised() {
            if summary.skipped == 0 {
                run.log.tell(Event::Interrupted { visit: number })?;
            }
            summary.skipped += one.cells.len();
            continue;
        }
        summary.add(&visit(run, number, one)?);
    }
    Ok(summary)
}

fn metrics(
    plan: &Plan,
    plugins: &BTreeMap<Name, Plugin>,
) -> Result<BTreeMap<Name, Vec<MetricSpec>>, EngineError> {
    let of = |name: &Name| {
        let metrics = offer(find(&plan.workloads, plugins, name)?).map(|offer| offer.metrics.clone());
        Ok((name.clone(), metrics.unwrap_or_default()))
    };
    plan.workloads.keys().map(of).collect()
}

/// The programs that the cells of a host need on it.
fn host_programs(plan: &Plan, plugins: &BTreeMap<Name, Plugin>, host: &Name) -> BTreeSet<String> {
    let mut programs = BTreeSet::new();
    for axes in plan.cells.iter().map(|cell| &cell.axes).filter(|axes| axes.host == *host) {
        let found = |uses, name| find(uses, plugins, name).ok().and_then(offer);
        if let Some(workload) = found(&plan.workloads, &axes.workload) {
            programs.extend(workload.host_programs.iter().cloned());
            programs
                .extend(axes.is_bare().then_some(&workload.guest_programs).into_iter().flatten().cloned());
        }
        let hypervisor = found(&plan.hypervisors, &axes.hypervisor);
        let storage = axes.storage.as_ref().and_then(|name| found(&plan.storages, name));
        for offer in hypervisor.into_iter().chain(storage) {
            programs.extend(offer.host_programs.iter().cloned());
        }
    }
    programs
}

impl Summary {
    fn add(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            match outcome.status {
                CellStatus::Good => self.good += 1,
                CellStatus::Failed { .. } => self.failed += 1,
                CellStatus::Skipped { .. } => self.skipped += 1,
            }
        }
    }
}
