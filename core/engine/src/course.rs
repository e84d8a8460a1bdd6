//! The course of a run: its hosts, the guest's image on them, what plugins get ready, and then every visit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;

use crossvisor_image::{GuestDefinition, Image};
use crossvisor_model::{Accel, Event, HostAddress, HostGuest, HostSpec, MetricSpec, Name, Plan};
use crossvisor_store::{History, Journal, RunDirectory};
use crossvisor_target::{Cancel, embed};

use crate::context::Run;
use crate::hosts::{Host, HostImage, Hosts, KeptHost, Maker, Recipe, Staged};
use crate::identity::{DomainIdentity, RunKey};
use crate::log::Log;
use crate::repeats::Repeats;
use crate::run::{RunRequest, Start, Summary};
use crate::steps::{Steps, in_seconds};
use crate::visit::visit;
use crate::work_folder::WorkFolder;
use crate::{EngineError, Settings, programs, provenance};

/// An image of some hundred MiB on its way to a host that may be emulated; in seconds.
const TRANSFER_S: f64 = 1800.0;

/// The way of a run from its hosts to its last visit.
pub struct Course<'a> {
    pub request: &'a RunRequest<'a>,
    pub work: &'a WorkFolder,
    pub journal: &'a Journal,
    /// The hosts of the plan that were reached so far.
    pub reached: BTreeMap<Name, Arc<Host>>,
}

impl<'a> Course<'a> {
    fn has_guests(&self, host: &Name) -> bool {
        self.request.plan.cells.iter().any(|cell| cell.axes.host == *host && !cell.axes.is_bare())
    }

    /// Reaches the hosts that are there already.
    ///
    /// # Errors
    /// [`EngineError`] of the first that cannot be reached or lacks a program.
    pub fn reach_found(&mut self, hosts: &mut Hosts<'_>) -> Result<(), EngineError> {
        for (name, spec) in &self.request.plan.hosts {
            match spec {
                HostSpec::Reached(address) => self.reach(hosts, name, address, None)?,
                HostSpec::Kept { up } => {
                    let kept = KeptHost::find(self.request.settings, up)?;
                    self.reach(hosts, name, &kept.address, Some(kept.outer_accel))?;
                }
                HostSpec::Made(_) => {}
            }
        }
        Ok(())
    }

    fn reach(
        &mut self,
        hosts: &mut Hosts<'_>,
        name: &Name,
        address: &HostAddress,
        outer: Option<Accel>,
    ) -> Result<(), EngineError> {
        let RunRequest { plan, plugins, .. } = *self.request;
        let host = hosts.reach(name, address, self.has_guests(name), outer)?;
        programs::check(name, &*host.machine, &programs::of_host(plan, plugins, name))?;
        self.reached.insert(name.clone(), host);
        Ok(())
    }

    /// Makes the hosts that are still missing, gets everything ready and makes every visit.
    ///
    /// # Errors
    /// [`EngineError`] of what keeps the run from going on.
    pub fn follow(
        &mut self,
        hosts: &mut Hosts<'_>,
        log: &Log<'_>,
        metrics: BTreeMap<Name, Vec<MetricSpec>>,
        history: &History,
    ) -> Result<Summary, EngineError> {
        let RunRequest { plan, plugins, guests, settings, cancel, name, .. } = *self.request;
        let key = RunKey::generate(&self.work.path().join("ssh"))?;
        self.make_hosts(hosts, log, &key)?;
        self.reached
            .values()
            .filter_map(|host| host.notice())
            .try_for_each(|text| log.tell(Event::Notice { text }))?;
        let guest = guests.get(plan.guest.image.as_str())?;
        let image = match self.reached.keys().any(|host| self.has_guests(host)) {
            true => Some(build_image(&guest, settings, &|event| log.show(event), cancel)?),
            false => None,
        };
        let (images, staged) = match &image {
            Some(image) => self.ready_all(hosts, image, log)?,
            None => Default::default(),
        };
        let provenance = provenance::of(plan, plugins, &self.reached, &staged, &guest, image.as_ref());
        let resumed = match self.request.start {
            Start::New { .. } => 0,
            Start::Again => history.resumed + 1,
        };
        log.directory().provenance(&provenance, resumed)?;
        let run = Run {
            name: name.clone(),
            plan,
            plugins,
            hosts: self.reached.clone(),
            work: self.work,
            journal: self.journal,
            log,
            cancel,
            key,
            images,
            staged,
            cmdline: guest.boot.cmdline,
            login: guest.login,
            metrics,
        };
        visits(&run, history)
    }

    /// Makes the hosts that are guests of this machine, all at once, and reaches them.
    fn make_hosts(&mut self, hosts: &mut Hosts<'_>, log: &Log<'_>, key: &RunKey) -> Result<(), EngineError> {
        let RunRequest { plan, plugins, guests, settings, cancel, name, .. } = *self.request;
        let show = |event| log.show(event);
        let mut recipes = Vec::new();
        for (host, spec) in &plan.hosts {
            let HostSpec::Made(spec) = spec else { continue };
            let definition = guests.get(spec.guest.as_str())?;
            let image = build_image(&definition, settings, &show, cancel)?;
            recipes.push((host, spec, definition, image));
        }
        if recipes.is_empty() {
            return Ok(());
        }
        let outer = hosts.reach(&outer_name(plan)?, &HostAddress::new(embed::URI), true, None)?;
        recipes.iter().for_each(|(host, ..)| hosts.is_made(host));
        let undo = hosts.undo(&outer.name)?;
        let maker = Maker { run: name, plugins, outer: &outer, undo, key, show: &show, cancel };
        let made: Vec<Result<_, EngineError>> = thread::scope(|scope| {
            let make = |(number, recipe)| {
                let (name, spec, definition, image): &(&Name, &HostGuest, GuestDefinition, Image) = recipe;
                let identity = DomainIdentity::host(self.work.id(), number);
                let folder = self.work.path().join(format!("h{number}"));
                let maker = &maker;
                scope.spawn(move || {
                    let identity = identity?;
                    maker.make(Recipe { name, spec, definition, image, identity, folder })
                })
            };
            let threads: Vec<_> = (1..).zip(&recipes).map(make).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(Err(EngineError::Panicked))).collect()
        });
        for ((name, ..), made) in recipes.iter().zip(made) {
            let (address, _) = made?;
            self.reach(hosts, name, &address, Some(outer.accel))?;
        }
        Ok(())
    }

    /// Brings the guest's image to all hosts at once and lets the plugins get ready there.
    fn ready_all(
        &self,
        hosts: &Hosts<'_>,
        image: &Image,
        log: &Log<'_>,
    ) -> Result<(BTreeMap<Name, HostImage>, Staged), EngineError> {
        let with_guests = self.reached.values().filter(|host| self.has_guests(&host.name));
        let ready: Vec<Result<_, EngineError>> = thread::scope(|scope| {
            let threads: Vec<_> =
                with_guests.map(|host| scope.spawn(move || self.ready(hosts, host, image, log))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(Err(EngineError::Panicked))).collect()
        });
        let (mut images, mut all) = (BTreeMap::new(), Staged::default());
        for one in ready {
            let (host, image, staged) = one?;
            images.insert(host, image);
            all.join(staged);
        }
        Ok((images, all))
    }

    fn ready(
        &self,
        hosts: &Hosts<'_>,
        host: &Host,
        image: &Image,
        log: &Log<'_>,
    ) -> Result<(Name, HostImage, Staged), EngineError> {
        let RunRequest { plan, plugins, cancel, .. } = *self.request;
        let show = |event| log.show(event);
        let stage = |stage: &str| Event::MakingHost { host: host.name.clone(), stage: stage.into() };
        if !host.is_here() {
            show(stage("bring the guest's image"));
        }
        let failed = |source| EngineError::Host { host: host.name.clone(), source };
        let image = HostImage::on(host, image, in_seconds(TRANSFER_S), cancel).map_err(failed)?;
        show(stage("get ready"));
        let undo = hosts.undo(&host.name)?;
        let steps = Steps { visit: 0, host, guests: &[], undo, show: &|_| (), cancel };
        let staged = Staged::stage(plan, plugins, (host, &image), &steps, self.work.id())?;
        Ok((host.name.clone(), image, staged))
    }
}

/// The name of this machine as the host of those that are made for the run, which no host of the plan has.
fn outer_name(plan: &Plan) -> Result<Name, EngineError> {
    let mut name = Name::new("this-machine")?;
    while plan.hosts.contains_key(&name) {
        name = Name::new(format!("{name}-"))?;
    }
    Ok(name)
}

/// The image of a definition, built when it is not cached.
pub fn build_image(
    guest: &GuestDefinition,
    settings: &Settings,
    show: &dyn Fn(Event),
    cancel: &Cancel,
) -> Result<Image, EngineError> {
    let mut last = "";
    let mut progress = |progress: crossvisor_image::Progress| {
        if progress.stage != last {
            last = progress.stage;
            show(Event::Building { image: guest.name.to_string(), stage: last.into() });
        }
    };
    Ok(crossvisor_image::build(guest, &settings.images(), &mut progress, &|| cancel.is_raised())?)
}

/// Makes the visits in the plan's order, without what is done already; after an interruption the rest is not tried.
fn visits(run: &Run<'_>, history: &History) -> Result<Summary, EngineError> {
    let done = history.finished();
    let mut summary = Summary::default();
    let mut repeats = Repeats::new(run.plan);
    for (number, planned) in (1..).zip(&run.plan.order) {
        if !repeats.is_decided(planned) {
            if run.cancel.is_raised() {
                summary.interrupt(run.log, number)?;
                break;
            }
            let record = RunDirectory::read(run.log.directory().path())?;
            let Some(repeating) = repeats.decide(&record, planned.replicate) else { break };
            run.log.tell(repeating)?;
        }
        let one = repeats.rest(planned).without(run.plan, &done);
        if one.cells.is_empty() {
            continue;
        }
        if run.cancel.is_raised() {
            summary.interrupt(run.log, number)?;
            summary.skipped += one.cells.len();
            continue;
        }
        summary.add(&visit(run, number, &one)?);
    }
    Ok(summary)
}
