//! The work of one replicate of one cell: prepare, measured rounds, samples, what became of the volumes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use crossvisor_model::{Accel, Cell, Event, Exec, Place, Sample, SetupFacts, Window};
use crossvisor_plugin::{Call, Instance, ParseInput, ParseOutput, ParsedSample, WorkInput};
use crossvisor_store::Raw;
use crossvisor_target::TargetError;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::EngineError;
use crate::context::{Run, Setup};
use crate::guest::Guest;
use crate::measure::{self, InstanceResult};
use crate::steps::{Round, StepError, Steps, first_request, no_round};
use crate::volumes;

/// Below this share of common time, guests did not work "at once".
const GOOD_OVERLAP: f64 = 0.9;
/// The flag of such a sample; how much it is, the sample's `overlap` says.
const ALONE: &str = "another guest (or copy of the work) was idle for more than 10 % of the time";

/// One replicate of a cell on machines that are ready.
pub struct CellWork<'a> {
    pub run: &'a Run<'a>,
    pub steps: &'a Steps<'a>,
    pub cell: &'a Cell,
    pub replicate: u32,
    pub instances: Vec<Instance>,
    /// None on the bare host.
    pub guests: &'a [Guest],
}

/// What the rounds of a cell told beside their samples.
#[derive(Default)]
pub struct RoundFacts {
    tools: BTreeMap<String, String>,
    skew_s: BTreeMap<String, f64>,
    drift_s: BTreeMap<String, Vec<f64>>,
}

impl CellWork<'_> {
    /// Makes the instances' folders and does what the workload needs before it is measured.
    ///
    /// # Errors
    /// [`StepError`] of the step that failed.
    pub fn prepare(&self, deadline: Instant) -> Result<(), StepError> {
        for instance in &self.instances {
            self.exec("make the work folder", make_work_folder(instance.place, &instance.folder))?;
        }
        let workload = self.run.workload(&self.cell.axes.workload)?;
        let call = Call::Prepare(WorkInput { instances: self.instances.clone() });
        self.steps.operate(workload, call, None, deadline, &mut no_round).map(drop)
    }

    /// Measures; meanwhile volumes that the work can spoil are looked at, and a spoiled one ends it.
    ///
    /// # Errors
    /// [`StepError::Spoiled`], or that of the first thing that failed; what was measured until then is kept.
    pub fn measure_watched(
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

    /// Does the measured rounds and keeps raw outputs and samples as they come.
    ///
    /// # Errors
    /// [`StepError`] of the first thing that failed; what was measured until then is kept.
    fn measure(&self, deadline: Instant, warnings: &mut Vec<String>) -> Result<RoundFacts, StepError> {
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
        let on_host = self.steps.host.probe();
        let probe = |place: Place| -> &Path {
            let at_place = self.instances.iter().find(|instance| instance.place == place);
            at_place.map_or(&on_host, |instance| &instance.probe)
        };
        let released = |skew_s| {
            let (visit, cell, round) = (self.steps.visit, self.cell.id.clone(), round.name.to_string());
            self.run.log.show(Event::Released { visit, cell, round, skew_s });
        };
        let measured = measure::round((self.steps, self.run.log), round, &probe, deadline, &released)?;
        let name = round.name.to_string();
        facts.skew_s.insert(name.clone(), measured.skew_s);
        let good = measured.instances.iter().flatten();
        facts.drift_s.insert(name, good.clone().map(|instance| instance.drift_s).collect());
        let windows: Vec<Window> = good.map(|instance| instance.window).collect();

        let mut failure = None;
        for (instance, result) in instances.into_iter().zip(measured.instances) {
            let parsed = match result {
                Ok(result) => self.keep(round, instance, &result, &windows, facts, warnings),
                Err(source) => Err(StepError::Step { say: self.place_of(round, instance), source }),
            };
            failure = failure.or(parsed.err());
        }
        failure.map_or(Ok(()), Err)
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
        windows: &[Window],
        facts: &mut RoundFacts,
        warnings: &mut Vec<String>,
    ) -> Result<(), StepError> {
        let raw = Raw {
            cell: &self.cell.id,
            replicate: self.replicate,
            instance: instance.index,
            round: round.name,
            result: &result.result,
        };
        self.run.log.directory().raw(raw).map_err(EngineError::from)?;
        let parsed = self.parse(round, instance, result)?;
        self.check_samples(&parsed.samples)?;
        facts.tools.extend(parsed.versions);
        warnings.extend(parsed.warnings);
        let samples: Result<Vec<_>, _> =
            parsed.samples.into_iter().map(|sample| self.sample(instance, result, windows, sample)).collect();
        self.run.log.directory().samples(&samples?).map_err(EngineError::from)?;
        Ok(())
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
        windows: &[Window],
        parsed: ParsedSample,
    ) -> Result<Sample, StepError> {
        let metrics = self.run.metrics.get(&self.cell.axes.workload);
        let metric = metrics.and_then(|all| all.iter().find(|metric| metric.name == parsed.metric));
        let Some(metric) = metric else {
            return Err(self.contract(format!("metric '{}' is not in its manifest", parsed.metric))?);
        };
        let others: Vec<Window> = windows.iter().copied().filter(|window| *window != result.window).collect();
        let overlap = result.window.overlap(&others);
        let mut flags = parsed.flags;
        if overlap < GOOD_OVERLAP {
            flags.push(ALONE.into());
        }
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
        let RoundFacts { tools, skew_s, drift_s } = rounds;
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

/// A folder for work that every user may write to, like a temporary folder's.
pub fn make_work_folder(place: Place, path: &Path) -> Exec {
    Exec::new(place, ["install", "-d", "-m", "1777", "--", &path.to_string_lossy()], 60.0)
}

/// Removes what [`make_work_folder`] made, with all that the work left in it.
pub fn remove_work_folder(place: Place, path: &Path) -> Exec {
    Exec::new(place, ["rm", "-rf", "--", &path.to_string_lossy()], 60.0)
}
