//! The work of one replicate of one cell: prepare, measured rounds, samples, what became of the volumes.

mod folder;
mod kept;
mod round;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use crossvisor_model::{Accel, Bytes, Cell, Exec, Name, Place, SetupFacts, Warmup, Window};
use crossvisor_plugin::{Call, Instance, WorkInput};
use crossvisor_target::TargetError;

use crate::EngineError;
use crate::context::{Run, Setup};
use crate::guest::Guest;
use crate::steps::{Round, StepError, Steps, no_round};
use crate::telemetry::Asked;
use crate::{quiet, volumes};

pub use folder::{make_work_folder, remove_work_folder};

/// One replicate of a cell on machines that are ready.
pub struct CellWork<'a> {
    pub run: &'a Run<'a>,
    pub steps: &'a Steps<'a>,
    pub cell: &'a Cell,
    pub replicate: u32,
    pub instances: Vec<Instance>,
    /// None on the bare host.
    pub guests: &'a [Guest],
    /// Which warm-up it is, from 1; `None`: what counts.
    pub warmup: Option<u32>,
}

/// What the rounds of a cell told beside their samples.
#[derive(Default)]
pub struct RoundFacts {
    tools: BTreeMap<String, String>,
    skew_s: BTreeMap<String, f64>,
    drift_s: BTreeMap<String, Vec<f64>>,
    /// From the first start to the last end of each round.
    windows: Vec<Window>,
}

impl CellWork<'_> {
    /// Makes the instances' folders and does what the workload needs before it is measured.
    ///
    /// # Errors
    /// [`StepError`] of the step that failed.
    pub fn prepare(&self, deadline: Instant) -> Result<(), StepError> {
        for instance in &self.instances {
            self.exec("make the work folder", make_work_folder(instance.place, &instance.folder))?;
            if let Some(size) = self.run.plan.measuring.prefill {
                self.prefill(instance, size, deadline)?;
            }
        }
        let workload = self.run.workload(&self.cell.axes.workload)?;
        let call = Call::Prepare(WorkInput { instances: self.instances.clone() });
        self.steps.operate(workload, call, None, deadline, &mut no_round).map(drop)
    }

    fn prefill(&self, instance: &Instance, size: Bytes, deadline: Instant) -> Result<(), StepError> {
        let left_s = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        self.exec("prefill the volume", quiet::prefill(instance.place, &instance.folder, size, left_s))
    }

    /// Measures, while the machines tell of themselves.
    ///
    /// # Errors
    /// As [`CellWork::measure_watched`] has it.
    pub fn measure_told(
        &self,
        setup: Option<&Setup<'_>>,
        deadline: Instant,
        warnings: &mut Vec<String>,
    ) -> Result<RoundFacts, StepError> {
        let host = (Place::Host, self.steps.host.probe());
        let guests = self.guests.iter().map(|guest| Place::Guest(guest.number));
        let guests = guests.map(|place| (place, self.probe(place)));
        let places = [host].into_iter().chain(guests).collect();
        let asked = Asked { run: self.run, steps: self.steps, places };
        let (measured, told) = asked.during(|| self.measure_watched(setup, deadline, warnings));
        let windows = measured.as_ref().map(|facts| facts.windows.as_slice()).unwrap_or_default();
        let domains: BTreeMap<Name, u32> =
            self.guests.iter().map(|guest| (guest.domain.name.clone(), guest.number)).collect();
        warnings.extend(told.keep(self.run, (&self.cell.id, self.replicate), &domains, windows));
        measured
    }

    /// Measures; meanwhile volumes that the work can spoil are looked at, and a spoiled one ends it.
    ///
    /// # Errors
    /// [`StepError::Spoiled`], or that of the first thing that failed; what was measured until then is kept.
    fn measure_watched(
        &self,
        setup: Option<&Setup<'_>>,
        deadline: Instant,
        warnings: &mut Vec<String>,
    ) -> Result<RoundFacts, StepError> {
        let Some(setup) = setup else { return self.measure(deadline, warnings) };
        volumes::watched(self.steps, setup, self.guests, |steps| {
            CellWork { steps, instances: self.instances.clone(), ..*self }.measure(deadline, warnings)
        })
    }

    /// Warms up, as the plan has it, and then does what counts.
    ///
    /// # Errors
    /// As [`CellWork::work`] has it.
    fn measure(&self, deadline: Instant, warnings: &mut Vec<String>) -> Result<RoundFacts, StepError> {
        let began = Instant::now();
        for number in 1.. {
            let is_warm = match self.run.plan.measuring.warmup {
                Warmup::Times(times) => number > times,
                Warmup::For(time) => began.elapsed().as_secs_f64() >= time.0,
            };
            if is_warm {
                break;
            }
            let warmup = Self { warmup: Some(number), instances: self.instances.clone(), ..*self };
            // What it says is said again by what counts.
            warmup.work(deadline, &mut Vec::new())?;
        }
        self.work(deadline, warnings)
    }

    /// Does the rounds and keeps raw outputs and samples as they come.
    ///
    /// # Errors
    /// [`StepError`] of the first thing that failed; what was measured until then is kept.
    fn work(&self, deadline: Instant, warnings: &mut Vec<String>) -> Result<RoundFacts, StepError> {
        let workload = self.run.workload(&self.cell.axes.workload)?;
        let call = Call::Work(WorkInput { instances: self.instances.clone() });
        let mut facts = RoundFacts::default();
        let mut together = |round: &Round<'_>| self.round(round, deadline, &mut facts, warnings);
        self.steps.operate(workload, call, None, deadline, &mut together)?;
        if facts.skew_s.is_empty() {
            return Err(self.contract("its work has no measured round".into())?);
        }
        Ok(facts)
    }

    /// Removes what the work left in its folders, and notes the circumstances of this replicate.
    ///
    /// # Errors
    /// [`StepError`] when the folders cannot be removed or the facts cannot be kept.
    pub fn collect(
        &self,
        setup: Option<&Setup<'_>>,
        provision_s: f64,
        rounds: RoundFacts,
        deadline: Instant,
    ) -> Result<(), StepError> {
        for instance in &self.instances {
            self.exec("remove the work folder", remove_work_folder(instance.place, &instance.folder))?;
        }
        let look = |guest| setup.map_or(Ok(None), |setup| volumes::look(self.steps, setup, guest, deadline));
        let allocated: Result<Vec<_>, _> = self.guests.iter().map(look).collect();
        let RoundFacts { tools, skew_s, drift_s, windows: _ } = rounds;
        let facts = SetupFacts {
            cell: self.cell.id.clone(),
            replicate: self.replicate,
            accel: self.accel(),
            provision_s,
            volumes: self.guests.iter().map(|guest| guest.used.clone()).collect(),
            allocated_bytes: allocated?,
            tools,
            skew_s,
            drift_s,
        };
        Ok(self.run.log.directory().setup(&facts).map_err(EngineError::from)?)
    }

    fn accel(&self) -> Accel {
        if self.cell.axes.is_bare() { Accel::None } else { self.steps.host.accel }
    }

    /// Where the probe is at a place.
    fn probe(&self, place: Place) -> PathBuf {
        let at_place = self.instances.iter().find(|instance| instance.place == place);
        at_place.map_or_else(|| self.steps.host.probe(), |instance| instance.probe.clone())
    }

    fn exec(&self, say: &str, exec: Exec) -> Result<(), StepError> {
        let failed = |source: TargetError| StepError::Step { say: say.into(), source };
        let result = self.steps.machine(exec.on).and_then(|machine| machine.run(&exec, self.steps.cancel));
        result.and_then(|result| crate::exit::judge(&exec, &result)).map_err(failed)
    }

    /// The workload's plugin broke the contract.
    fn contract(&self, reason: String) -> Result<StepError, StepError> {
        let plugin = self.run.workload(&self.cell.axes.workload)?.0.manifest.name.clone();
        Ok(StepError::Contract { plugin, reason })
    }
}
