//! What is kept of a round: what its instances printed, and the samples in it.

use std::collections::BTreeSet;

use crossvisor_model::Sample;
use crossvisor_plugin::{Call, Instance, ParseInput, ParseOutput, ParsedSample};
use crossvisor_store::Raw;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{CellWork, RoundFacts};
use crate::EngineError;
use crate::measure::InstanceResult;
use crate::steps::{Round, StepError, first_request};

impl CellWork<'_> {
    pub(super) fn keep(
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

    fn output<T: DeserializeOwned>(
        &self,
        output: Json,
        plugin: crossvisor_model::Name,
    ) -> Result<T, StepError> {
        serde_json::from_value(output)
            .map_err(|e| StepError::Contract { plugin, reason: format!("its output is not understood: {e}") })
    }
}
