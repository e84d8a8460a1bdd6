//! One visit: the machines of a setup are made, do the work of each of its cells, and are removed.
//!
//! Owns the phases and their deadlines. Whatever happens between, what was created is undone at the end.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crossvisor_model::{Axes, Cell, CellStatus, Event, Exec, Outcome, Phase, Place, Seconds, Visit};
use crossvisor_plugin::{Instance, Peer};
use crossvisor_target::{Cancel, Machine, TargetError};

use crate::EngineError;
use crate::context::{Run, Setup};
use crate::exit::judge;
use crate::guest::{Guest, Making};
use crate::hosts::{Host, remove_folder};
use crate::steps::{StepError, Steps, in_seconds};
use crate::undo::UndoLog;
use crate::volumes;
use crate::work::CellWork;

/// Where the probe is in a guest.
pub const GUEST_PROBE: &str = "/usr/local/bin/crossvisor-probe";
/// Folder in a guest below which each cell gets one.
const GUEST_FOLDER: &str = "/var/tmp/crossvisor";

/// Why a visit came no further.
pub struct Stopped {
    pub phase: Phase,
    pub reason: StepError,
}

/// What a visit is made with.
struct Stay<'a> {
    run: &'a Run<'a>,
    host: &'a Host,
    number: usize,
    visit: &'a Visit,
    axes: &'a Axes,
    /// On the host.
    folder: PathBuf,
    show: &'a (dyn Fn(Event) + Sync),
    began: Instant,
}

/// Carries out a visit and returns what came of each of its cells.
///
/// # Errors
/// [`EngineError`] when the run itself cannot go on: a full disk, a plan that does not fit its plugins.
pub fn visit(run: &Run<'_>, number: usize, visit: &Visit) -> Result<Vec<Outcome>, EngineError> {
    let Some(axes) = run.plan.setup(visit) else { return Ok(Vec::new()) };
    let host = run.host(&axes.host)?;
    let folder = host.folder.join(format!("v{number}"));
    let show = |event| run.log.show(event);
    let stay = Stay { run, host, number, visit, axes, folder, show: &show, began: Instant::now() };
    run.log.tell(Event::VisitStarted {
        visit: number,
        setup: setup_text(axes),
        replicate: visit.replicate,
        guests: axes.guests,
    })?;
    let undo = UndoLog::new(run.journal);
    let outcomes = stay.cells(&undo);
    stay.destroy(&undo)?;
    run.log.tell(Event::VisitEnded { visit: number })?;
    outcomes
}

fn setup_text(axes: &Axes) -> String {
    let id = axes.id().0;
    id.rsplit_once('/').map_or(&*id, |(setup, _)| setup).to_string()
}

impl<'a> Stay<'a> {
    fn cells(&self, undo: &UndoLog<'_>) -> Result<Vec<Outcome>, EngineError> {
        let made = self.make_folder();
        let guests = made.and_then(|()| match self.axes.is_bare() {
            true => Ok(Vec::new()),
            false => self.provision(undo),
        });
        let guests = match guests {
            Ok(guests) => guests,
            Err(stopped) => return self.all_failed(&stopped),
        };
        let provision_s = self.began.elapsed().as_secs_f64();
        let machines: Vec<&dyn Machine> = guests.iter().map(|guest| &guest.machine as &dyn Machine).collect();
        let steps = Steps { guests: &machines, ..self.steps(undo) };
        let outcomes: Result<Vec<_>, _> =
            self.cell_list().map(|cell| self.cell(&steps, &guests, cell, provision_s)).collect();
        self.keep_consoles(&guests);
        outcomes
    }

    fn cell_list(&self) -> impl Iterator<Item = &'a Cell> {
        self.visit.cells.iter().filter_map(|&index| self.run.plan.cells.get(index))
    }

    fn steps<'s>(&'s self, undo: &'s UndoLog<'_>) -> Steps<'s> {
        Steps {
            visit: self.number,
            host: self.host,
            guests: &[],
            undo,
            show: self.show,
            cancel: self.run.cancel,
        }
    }

    /// Makes the visit's folder on the host.
    fn make_folder(&self) -> Result<(), Stopped> {
        let argv = ["mkdir", "-m", "711", "--", &self.folder.to_string_lossy()];
        self.on_host(&Exec::new(Place::Host, argv, 60.0)).map_err(|source| Stopped {
            phase: Phase::Create,
            reason: StepError::Step { say: "make the visit's folder".into(), source },
        })
    }

    fn on_host(&self, exec: &Exec) -> Result<(), TargetError> {
        let result = self.host.machine.run(exec, &Cancel::default())?;
        judge(exec, &result)
    }

    /// A phase with its deadline, told to whoever watches.
    fn phase<T>(
        &self,
        phase: Phase,
        limit: Seconds,
        cell: Option<&Cell>,
        work: impl FnOnce(Instant) -> Result<T, StepError>,
    ) -> Result<T, Stopped> {
        let began = Instant::now();
        let cell = cell.map(|cell| cell.id.clone());
        self.run.log.show(Event::PhaseStarted { visit: self.number, phase, cell });
        let result = work(in_seconds(limit.0));
        let seconds = began.elapsed().as_secs_f64();
        self.run.log.show(Event::PhaseEnded { visit: self.number, phase, seconds });
        result.map_err(|reason| Stopped { phase, reason })
    }

    /// Makes and boots all guests, and gets them ready for work.
    fn provision(&self, undo: &UndoLog<'_>) -> Result<Vec<Guest>, Stopped> {
        let deadlines = &self.run.plan.deadlines;
        let steps = self.steps(undo);
        let making = self.making().map_err(|e| Stopped { phase: Phase::Create, reason: e.into() })?;
        let setup = making.setup;
        let guests = self.phase(Phase::Create, deadlines.create, None, |deadline| {
            self.each(Phase::Create, 1..=self.axes.guests, |&number| {
                let identity = self.run.identity(self.number, number)?;
                Guest::create(&making, &steps, identity, number, &self.folder, deadline)
            })
        })?;
        let up = self.phase(Phase::Boot, deadlines.boot, None, |deadline| {
            volumes::watched(&steps, &setup, &guests, |steps| {
                self.each(Phase::Boot, &guests, |guest| {
                    let failed =
                        |source| StepError::Step { say: format!("boot guest {}", guest.number), source };
                    guest.wait_until_up(&setup, steps, deadline).map_err(failed)
                })
            })
        });
        up.inspect_err(|_| self.keep_consoles(&guests))?;
        self.phase(Phase::Prepare, deadlines.prepare, None, |deadline| {
            self.each(Phase::Prepare, &guests, |guest| {
                let put =
                    guest.machine.put(crossvisor_probe::BINARY, Path::new(GUEST_PROBE), "755", deadline);
                put.map_err(|source| StepError::Step { say: "put the probe into the guest".into(), source })
            })
        })?;
        Ok(guests)
    }

    /// What this visit's guests are made of.
    fn making(&self) -> Result<Making<'_>, EngineError> {
        let (run, host) = (self.run, &self.host.name);
        let image = run.image(host)?;
        let storage = self.axes.storage.as_ref();
        Ok(Making {
            run: &run.name,
            setup: run.setup(self.axes)?,
            image,
            golden: storage.map_or(&image.root, |storage| run.staged.golden(host, storage, image)),
            key: &run.key,
            login: &run.login,
            cmdline: &run.cmdline,
            memory_mib: run.plan.guest.memory.mib(),
            vcpus: run.plan.guest.vcpus,
            host: None,
        })
    }

    /// The plugins of this visit's guests.
    fn setup(&self, phase: Phase) -> Result<Setup<'_>, Stopped> {
        self.run.setup(self.axes).map_err(|e| Stopped { phase, reason: e.into() })
    }

    /// Does the same for all guests at once, each in a thread; the first error of any is returned once all are done.
    fn each<I, T: Send>(
        &self,
        phase: Phase,
        items: I,
        work: impl Fn(&I::Item) -> Result<T, StepError> + Sync,
    ) -> Result<Vec<T>, StepError>
    where
        I: IntoIterator<Item: Send + Sync>,
    {
        let began = Instant::now();
        thread::scope(|scope| {
            let start = |(guest, item): (u32, I::Item)| {
                let work = &work;
                scope.spawn(move || {
                    let result = work(&item);
                    let seconds = began.elapsed().as_secs_f64();
                    if result.is_ok() {
                        self.run.log.show(Event::GuestReached { visit: self.number, guest, phase, seconds });
                    }
                    result
                })
            };
            let threads: Vec<_> = (1..).zip(items).map(start).collect();
            let joined: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
            joined.into_iter().map(|result| result.unwrap_or_else(|_| Err(panicked()))).collect()
        })
    }

    fn cell(
        &self,
        steps: &Steps<'_>,
        guests: &[Guest],
        cell: &Cell,
        provision_s: f64,
    ) -> Result<Outcome, EngineError> {
        let mut warnings = Vec::new();
        let done = match self.instances(guests, cell) {
            Ok(instances) => {
                let replicate = self.visit.replicate;
                let work =
                    CellWork { run: self.run, steps, cell, replicate, instances, guests, warmup: None };
                self.work(&work, provision_s, &mut warnings)
            }
            Err(reason) => Err(Stopped { phase: Phase::Prepare, reason }),
        };
        let status = match done {
            Ok(()) => CellStatus::Good,
            Err(stopped) => status(&stopped),
        };
        self.outcome(cell, status, warnings)
    }

    fn work(&self, work: &CellWork<'_>, provision_s: f64, warnings: &mut Vec<String>) -> Result<(), Stopped> {
        let deadlines = &self.run.plan.deadlines;
        let cell = Some(work.cell);
        self.phase(Phase::Prepare, deadlines.prepare, cell, |deadline| work.prepare(deadline))?;
        let setup = if self.axes.is_bare() { None } else { Some(self.setup(Phase::Run)?) };
        let facts = self.phase(Phase::Run, deadlines.run, cell, |deadline| {
            work.measure_told(setup.as_ref(), deadline, warnings)
        })?;
        self.phase(Phase::Collect, deadlines.collect, cell, |deadline| {
            work.collect(setup.as_ref(), provision_s, facts, deadline)
        })
    }

    /// What does the work: the guests, or copies on the bare host.
    fn instances(&self, guests: &[Guest], cell: &Cell) -> Result<Vec<Instance>, StepError> {
        let name = cell.axes.workload.as_str();
        if !self.axes.is_bare() {
            let folder = Path::new(GUEST_FOLDER).join(name);
            return Ok(guests.iter().map(|guest| self.guest_instance(guest, folder.clone())).collect());
        }
        let failed = |source: TargetError| StepError::Step { say: "reserve ports".into(), source };
        let count = usize::try_from(self.axes.guests).unwrap_or_default();
        let ports = self.host.free_ports(count).map_err(failed)?;
        Ok((1..).zip(ports).map(|(index, port)| self.bare_instance(index, port, name)).collect())
    }

    fn guest_instance(&self, guest: &Guest, folder: PathBuf) -> Instance {
        Instance {
            index: guest.number,
            place: Place::Guest(guest.number),
            folder,
            probe: GUEST_PROBE.into(),
            memory_bytes: self.run.plan.guest.memory.0,
            cpus: self.run.plan.guest.vcpus,
            peer: Peer {
                address: self.host.network.host_address(),
                port: guest.peer_port,
                listen: self.host.network.listen_address().into(),
            },
            address: self.host.network.guest_address(&guest.domain.mac),
        }
    }

    fn bare_instance(&self, index: u32, port: u16, workload: &str) -> Instance {
        Instance {
            index,
            place: Place::Host,
            folder: self.folder.join(format!("{workload}-{index}")),
            probe: self.host.probe(),
            memory_bytes: self.host.facts.memory_bytes,
            cpus: self.host.facts.cpus,
            peer: Peer { address: "127.0.0.1".into(), port, listen: "127.0.0.1".into() },
            address: Some("127.0.0.1".into()),
        }
    }

    fn all_failed(&self, stopped: &Stopped) -> Result<Vec<Outcome>, EngineError> {
        self.cell_list().map(|cell| self.outcome(cell, status(stopped), Vec::new())).collect()
    }

    fn outcome(
        &self,
        cell: &Cell,
        status: CellStatus,
        warnings: Vec<String>,
    ) -> Result<Outcome, EngineError> {
        let outcome = Outcome { cell: cell.id.clone(), replicate: self.visit.replicate, status, warnings };
        self.run.log.tell(Event::CellEnded { visit: self.number, outcome: outcome.clone() })?;
        Ok(outcome)
    }

    fn keep_consoles(&self, guests: &[Guest]) {
        for guest in guests {
            let kept = guest.console(self.host).map_err(|e| e.to_string()).and_then(|text| {
                let directory = self.run.log.directory();
                directory.console(self.number, guest.number, &text).map_err(|e| e.to_string())
            });
            if let Err(reason) = kept {
                let text = format!("the console of guest {} was not kept: {reason}", guest.number);
                self.run.log.show(Event::Notice { text });
            }
        }
    }

    /// Removes all that the visit created, interrupted or not.
    fn destroy(&self, undo: &UndoLog<'_>) -> Result<(), EngineError> {
        let limit = Duration::from_secs_f64(self.run.plan.deadlines.destroy.0);
        let mut failures = Vec::new();
        let done = self.phase(Phase::Destroy, self.run.plan.deadlines.destroy, None, |_| {
            failures = undo.undo_all(self.host, limit);
            if failures.is_empty() {
                let say = "remove the visit's folder".to_string();
                self.on_host(&remove_folder(&self.folder))
                    .map_err(|source| StepError::Step { say, source })?;
            }
            Ok(())
        });
        failures.extend(done.err().map(|stopped| stopped.reason.to_string()));
        for reason in failures {
            let text = format!("not removed ({reason}): 'crossvisor clean' tries it again");
            self.run.log.tell(Event::Notice { text })?;
        }
        Ok(())
    }
}

fn status(stopped: &Stopped) -> CellStatus {
    match stopped.reason.is_cancelled() {
        true => CellStatus::Skipped { reason: "interrupted".into() },
        false => CellStatus::Failed { phase: stopped.phase, reason: stopped.reason.to_string() },
    }
}

fn panicked() -> StepError {
    let source =
        TargetError::EndedEarly { what: "a thread of this program".into(), tail: "it panicked".into() };
    StepError::Step { say: "work on a guest".into(), source }
}
