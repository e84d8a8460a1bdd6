//! The work of one replicate of one cell: prepare, measured rounds, samples, what became of the volumes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossvisor_model::{
    Accel, Bytes, Caches, Cell, Event, Exec, Name, Place, Sample, SetupFacts, Warmup, Window,
};
use crossvisor_plugin::{Call, Instance, ParseInput, ParseOutput, ParsedSample, WorkInput};
use crossvisor_store::Raw;
use crossvisor_target::TargetError;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::EngineError;
use crate::context::{Run, Setup, offer};
use crate::doubt::doubts;
use crate::guest::Guest;
use crate::measure::{self, Field, InstanceResult};
use crate::steps::{Round, StepError, Steps, first_request, no_round};
use crate::telemetry::Asked;
use crate::{quiet, volumes};

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

/// How the instances of a round were at work, by instance.
struct Together {
    /// `None`: it failed.
    busy: Vec<Option<Window>>,
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

    fn round(
        &self,
        round: &Round<'_>,
        deadline: Instant,
        facts: &mut RoundFacts,
        warnings: &mut Vec<String>,
    ) -> Result<(), StepError> {
        let instances = self.instances_of(round)?;
        if facts.skew_s.contains_key(round.name) {
            return Err(self.contract(format!("round {} comes twice", round.name))?);
        }
        self.drop_caches(round, warnings)?;
        let released = |skew_s| {
            let (visit, cell, round) = (self.steps.visit, self.cell.id.clone(), round.name.to_string());
            self.run.log.show(Event::Released { visit, cell, round, skew_s });
        };
        let field = Field {
            machine: &|place| self.steps.machine(place),
            probe: &|place| self.probe(place),
            window: &|start, end| self.run.log.window(start, end),
            load: self.run.plan.measuring.load,
            deadline,
            cancel: self.steps.cancel,
        };
        let measured = measure::round(field, round, &released)?;
        let name = round.name.to_string();
        facts.skew_s.insert(name.clone(), measured.skew_s);
        let good = measured.instances.iter().flatten();
        facts.drift_s.insert(name, good.clone().map(|instance| instance.drift_s).collect());
        facts.windows.extend(good.map(|instance| instance.window).reduce(Window::around));
        let busy =
            measured.instances.iter().map(|one| one.as_ref().ok().map(|instance| instance.busy)).collect();
        let together = Together { busy };

        let mut failure = None;
        for (at, (instance, result)) in instances.into_iter().zip(measured.instances).enumerate() {
            let parsed = match result {
                Ok(result) => {
                    let (overlap, lost) = together.overlap(at, &result);
                    let doubts = doubts(&result, overlap, lost);
                    self.keep(round, instance, &result, (overlap, &doubts), facts, warnings)
                }
                Err(source) => Err(StepError::Step { say: self.place_of(round, instance), source }),
            };
            failure = failure.or(parsed.err());
        }
        failure.map_or(Ok(()), Err)
    }

    /// Where the probe is at a place.
    fn probe(&self, place: Place) -> PathBuf {
        let at_place = self.instances.iter().find(|instance| instance.place == place);
        at_place.map_or_else(|| self.steps.host.probe(), |instance| instance.probe.clone())
    }

    /// Empties the page caches of the instances' machines and of the host, where the workload's figures depend on them.
    fn drop_caches(&self, round: &Round<'_>, warnings: &mut Vec<String>) -> Result<(), StepError> {
        let workload = self.run.workload(&self.cell.axes.workload)?;
        let wanted = self.run.plan.measuring.caches == Caches::Drop;
        if !wanted || !offer(workload).is_some_and(|offer| offer.drops_caches) {
            return Ok(());
        }
        // The host last: what guests write back goes through its cache.
        let mut places: Vec<Place> = self.instances.iter().map(|instance| instance.place).collect();
        places.retain(|place| *place != Place::Host);
        places.push(Place::Host);
        for place in places {
            let dropped = self.exec("empty the page cache", quiet::drop_caches(place));
            match dropped {
                Err(error) if error.is_cancelled() => return Err(error),
                Err(error) => warnings.push(format!(
                    "the page cache of the {place} was not emptied before round {}: {error}",
                    round.name
                )),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// The instance of each run of a round: at most one run for an instance, in their order and at their places.
    fn instances_of(&self, round: &Round<'_>) -> Result<Vec<&Instance>, StepError> {
        let mut rest = self.instances.iter();
        let found = round.runs.iter().map(|run| rest.find(|instance| instance.place == run.on));
        let found: Option<Vec<&Instance>> = found.collect();
        if let Some(instances) = found.filter(|instances| !instances.is_empty()) {
            return Ok(instances);
        }
        let asked: Vec<Place> = round.runs.iter().map(|run| run.on).collect();
        let given: Vec<Place> = self.instances.iter().map(|instance| instance.place).collect();
        Err(self.contract(format!("round {} has runs at {asked:?}; instances are at {given:?}", round.name))?)
    }

    /// The workload's plugin broke the contract.
    fn contract(&self, reason: String) -> Result<StepError, StepError> {
        let plugin = self.run.workload(&self.cell.axes.workload)?.0.manifest.name.clone();
        Ok(StepError::Contract { plugin, reason })
    }

    /// Every metric once, and at least one.
    fn check_samples(&self, samples: &[ParsedSample]) -> Result<(), StepError> {
        let mut seen = BTreeSet::new();
        let twice = samples.iter().find(|sample| !seen.insert(&sample.metric));
        match twice {
            Some(sample) => Err(self.contract(format!("metric '{}' is reported twice", sample.metric))?),
            None if samples.is_empty() => Err(self.contract("it reports no value".into())?),
            None => Ok(()),
        }
    }

    fn keep(
        &self,
        round: &Round<'_>,
        instance: &Instance,
        result: &InstanceResult,
        (overlap, doubts): (f64, &[String]),
        facts: &mut RoundFacts,
        warnings: &mut Vec<String>,
    ) -> Result<(), StepError> {
        let round_name = self.warmup.map(|number| format!("warmup-{number}.{}", round.name));
        let raw = Raw {
            cell: &self.cell.id,
            replicate: self.replicate,
            instance: instance.index,
            round: round_name.as_deref().unwrap_or(round.name),
            result: &result.result,
        };
        self.run.log.directory().raw(raw).map_err(EngineError::from)?;
        let parsed = self.parse(round, instance, result)?;
        self.check_samples(&parsed.samples)?;
        facts.tools.extend(parsed.versions);
        warnings.extend(parsed.warnings);
        let samples: Result<Vec<_>, _> = parsed
            .samples
            .into_iter()
            .map(|sample| self.sample(instance, result, (overlap, doubts), sample))
            .collect();
        let directory = self.run.log.directory();
        let kept = match self.warmup {
            Some(_) => directory.warmup_samples(&samples?),
            None => directory.samples(&samples?),
        };
        Ok(kept.map_err(EngineError::from)?)
    }

    fn parse(
        &self,
        round: &Round<'_>,
        instance: &Instance,
        result: &InstanceResult,
    ) -> Result<ParseOutput, StepError> {
        let (plugin, using) = self.run.workload(&self.cell.axes.workload)?;
        let output = &result.result;
        let input = ParseInput {
            round: round.name.to_string(),
            instance: instance.clone(),
            exit: output.exit,
            stdout: output.stdout.clone(),
            stderr: output.stderr.clone(),
            wall_s: output.wall_s,
        };
        let turn = plugin
            .call(&first_request(using, Call::Parse(input)))
            .map_err(|e| StepError::Round { say: self.place_of(round, instance), reason: e.to_string() })?;
        self.output(turn.output, plugin.manifest.name.clone())
    }

    fn sample(
        &self,
        instance: &Instance,
        result: &InstanceResult,
        (overlap, doubts): (f64, &[String]),
        parsed: ParsedSample,
    ) -> Result<Sample, StepError> {
        let metrics = self.run.metrics.get(&self.cell.axes.workload);
        let metric = metrics.and_then(|all| all.iter().find(|metric| metric.name == parsed.metric));
        let Some(metric) = metric else {
            return Err(self.contract(format!("metric '{}' is not in its manifest", parsed.metric))?);
        };
        let flags = parsed.flags.into_iter().chain(doubts.iter().cloned()).collect();
        Ok(Sample {
            cell: self.cell.id.clone(),
            replicate: self.replicate,
            instance: instance.index,
            metric: parsed.metric.into(),
            unit: metric.unit.as_str().into(),
            better: metric.better,
            value: parsed.value,
            window: Some(result.window),
            overlap: Some(overlap),
            accel: self.accel(),
            flags,
        })
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

    fn exec(&self, say: &str, exec: Exec) -> Result<(), StepError> {
        let failed = |source: TargetError| StepError::Step { say: say.into(), source };
        let result = self.steps.machine(exec.on).and_then(|machine| machine.run(&exec, self.steps.cancel));
        result.and_then(|result| crate::exit::judge(&exec, &result)).map_err(failed)
    }

    fn output<T: DeserializeOwned>(
        &self,
        output: Json,
        plugin: crossvisor_model::Name,
    ) -> Result<T, StepError> {
        serde_json::from_value(output)
            .map_err(|e| StepError::Contract { plugin, reason: format!("its output is not understood: {e}") })
    }

    fn place_of(&self, round: &Round<'_>, instance: &Instance) -> String {
        format!("round {} on {} {}", round.name, self.who(), instance.index)
    }

    fn who(&self) -> &'static str {
        if self.cell.axes.is_bare() { "copy" } else { "guest" }
    }
}

impl Together {
    /// The share of an instance's window in which all others were at work too, and whether one of them failed.
    fn overlap(&self, at: usize, own: &InstanceResult) -> (f64, bool) {
        let others = || self.busy.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, busy)| busy);
        let windows: Vec<Window> = others().flatten().copied().collect();
        (own.window.overlap(&windows), others().any(Option::is_none))
    }
}

/// A folder for work that every user may write to, like a temporary folder's.
pub fn make_work_folder(place: Place, path: &Path) -> Exec {
    Exec::new(place, ["install", "-d", "-m", "1777", "--", &path.to_string_lossy()], 60.0)
}

/// Removes what [`make_work_folder`] made, with all that the work left in it.
pub fn remove_work_folder(place: Place, path: &Path) -> Exec {
    Exec::new(place, ["rm", "-rf", "--", &path.to_string_lossy()], 60.0)
}
