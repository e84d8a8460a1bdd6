//! A measured round: all instances at once.

use std::time::Instant;

use crossvisor_model::{Caches, Event, Place, Window};
use crossvisor_plugin::Instance;

use super::{CellWork, RoundFacts};
use crate::context::offer;
use crate::doubt::doubts;
use crate::measure::{self, Field, InstanceResult};
use crate::quiet;
use crate::steps::{Round, StepError};

/// How the instances of a round were at work, by instance.
struct Together {
    /// `None`: it failed.
    busy: Vec<Option<Window>>,
}

impl CellWork<'_> {
    pub(super) fn round(
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

    pub(super) fn place_of(&self, round: &Round<'_>, instance: &Instance) -> String {
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
