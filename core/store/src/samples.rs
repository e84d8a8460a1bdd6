//! The file `samples.jsonl`: what was measured, one line for each instance and round.
//!
//! Owns both formats of its lines. It must never hold a text more than once, however many samples have it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crossvisor_model::{Accel, Better, CellId, MetricSpec, Name, Plan, Sample, Value, Values, Window};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::lines::{Lines, each};

/// The values of one instance in one round. Their units are those of the metrics in `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub cell: CellId,
    /// From 1.
    pub replicate: u32,
    /// From 1.
    pub instance: u32,
    /// `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    pub accel: Accel,
    pub values: Values,
}

/// Appends samples; those that follow one another and were measured in the same round are one line.
pub(crate) fn append(lines: &mut Lines, samples: &[Sample]) -> Result<(), StoreError> {
    let mut rounds: Vec<Round> = Vec::new();
    for sample in samples {
        if !rounds.last().is_some_and(|round| round.takes(sample)) {
            rounds.push(Round::of(sample));
        }
        rounds.iter_mut().last().into_iter().for_each(|round| round.add(sample));
    }
    lines.append_all(&rounds)
}

impl Round {
    fn of(sample: &Sample) -> Self {
        Self {
            cell: sample.cell.clone(),
            replicate: sample.replicate,
            instance: sample.instance,
            window: sample.window,
            overlap: sample.overlap,
            accel: sample.accel,
            values: Values::default(),
        }
    }

    /// Whether the sample was measured in this round, and its metric is not among the values yet.
    fn takes(&self, sample: &Sample) -> bool {
        let Values { measured, too_fast, missing, .. } = &self.values;
        let metric = &*sample.metric;
        let has = measured.contains_key(metric) || too_fast.contains(metric) || missing.contains_key(metric);
        let same_work =
            (&self.cell, self.replicate, self.instance) == (&sample.cell, sample.replicate, sample.instance);
        let same_time =
            (self.window, self.overlap, self.accel) == (sample.window, sample.overlap, sample.accel);
        !has && same_work && same_time
    }

    /// A number that is none has no JSON form: it is missing.
    fn add(&mut self, sample: &Sample) {
        let Values { measured, too_fast, missing, flags } = &mut self.values;
        let metric = sample.metric.to_string();
        if !sample.flags.is_empty() {
            flags.insert(metric.clone(), sample.flags.clone());
        }
        match &sample.value {
            Value::Measured(value) if value.is_finite() => drop(measured.insert(metric, *value)),
            Value::Measured(value) => drop(missing.insert(metric, format!("{value} is not a number"))),
            Value::TooFast => drop(too_fast.insert(metric)),
            Value::Missing(reason) => drop(missing.insert(metric, reason.clone())),
        }
    }
}

/// Reads `samples.jsonl` of a run whose plan and metrics these are, in the format of its `run.json`; what is wrong
/// with its lines goes to `damages`.
pub(crate) fn read(
    path: &Path,
    format: u32,
    plan: &Plan,
    metrics: &BTreeMap<Name, Vec<MetricSpec>>,
    damages: &mut Vec<StoreError>,
) -> Result<Vec<Sample>, StoreError> {
    let workloads = plan.cells.iter().map(|cell| (&cell.id, &cell.axes.workload)).collect();
    let mut shelf = Shelf { workloads, metrics, cells: HashMap::new() };
    let mut samples = Vec::new();
    if format == 1 {
        each(path, damages, |sample: Sample| samples.push(shelf.shared(sample)))?;
    } else {
        each(path, damages, |round: Round| shelf.take(round, &mut samples))?;
    }
    Ok(samples)
}

/// The texts of a run's samples, each once.
struct Shelf<'a> {
    workloads: HashMap<&'a CellId, &'a Name>,
    metrics: &'a BTreeMap<Name, Vec<MetricSpec>>,
    cells: HashMap<CellId, HashMap<Arc<str>, Metric>>,
}

/// What the samples of a metric have in common.
#[derive(Clone)]
struct Metric {
    name: Arc<str>,
    unit: Arc<str>,
    better: Better,
}

impl Shelf<'_> {
    /// The cell's id, and its metrics as its workload declares them.
    fn cell(&mut self, id: CellId) -> (CellId, &mut HashMap<Arc<str>, Metric>) {
        let specs = self.workloads.get(&id).and_then(|workload| self.metrics.get(*workload));
        let entry = self.cells.entry(id);
        let declared = |spec: &MetricSpec| {
            let name: Arc<str> = spec.name.as_str().into();
            (name.clone(), Metric { name, unit: spec.unit.as_str().into(), better: spec.better })
        };
        (entry.key().clone(), entry.or_insert_with(|| specs.into_iter().flatten().map(declared).collect()))
    }

    /// The same sample with shared texts.
    fn shared(&mut self, sample: Sample) -> Sample {
        let (cell, metrics) = self.cell(sample.cell);
        let known = metrics.get(&sample.metric).filter(|known| known.unit == sample.unit);
        let (metric, unit) =
            known.map_or((sample.metric, sample.unit), |known| (known.name.clone(), known.unit.clone()));
        Sample { cell, metric, unit, ..sample }
    }

    /// The samples of a round. A metric that its workload does not declare has no unit.
    fn take(&mut self, round: Round, samples: &mut Vec<Sample>) {
        let Round { cell, replicate, instance, window, overlap, accel, values } = round;
        let Values { measured, too_fast, missing, mut flags } = values;
        let (cell, metrics) = self.cell(cell);
        let measured = measured.into_iter().map(|(name, value)| (name, Value::Measured(value)));
        let too_fast = too_fast.into_iter().map(|name| (name, Value::TooFast));
        let missing = missing.into_iter().map(|(name, reason)| (name, Value::Missing(reason)));
        for (name, value) in measured.chain(too_fast).chain(missing) {
            let flags = flags.remove(&name).unwrap_or_default();
            let Metric { name: metric, unit, better } = metric(metrics, &name).clone();
            let cell = cell.clone();
            samples.push(Sample {
                cell,
                replicate,
                instance,
                metric,
                unit,
                better,
                value,
                window,
                overlap,
                accel,
                flags,
            });
        }
    }
}

fn metric<'m>(metrics: &'m mut HashMap<Arc<str>, Metric>, name: &str) -> &'m Metric {
    if !metrics.contains_key(name) {
        let name: Arc<str> = name.into();
        let undeclared = Metric { name: name.clone(), unit: "".into(), better: Better::Neither };
        metrics.insert(name, undeclared);
    }
    &metrics[name]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        let cells = [
            json!({"id": "here/bare/-/1/disk", "host": "here", "hypervisor": "bare", "storage": null, "guests": 1, "workload": "disk"}),
        ];
        let deadline = "1s";
        serde_json::from_value(json!({
            "scenario": "s", "seed": 1, "repeat": 1, "hosts": {}, "guest": {"image": "i", "memory": "1MiB", "vcpus": 1},
            "hypervisors": {}, "storages": {}, "workloads": {}, "cells": cells, "order": [], "baseline": {},
            "deadlines": {"create": deadline, "boot": deadline, "prepare": deadline, "run": deadline, "collect": deadline, "destroy": deadline},
        }))
        .expect("plan")
    }

    fn metrics() -> BTreeMap<Name, Vec<MetricSpec>> {
        let write = MetricSpec::new("write", "write", "KiB/s", Better::Higher);
        [(Name::new("disk").expect("name"), vec![write])].into()
    }

    fn sample(metric: &str, instance: u32, value: Value) -> Sample {
        let declared = metric == "write";
        Sample {
            cell: CellId("here/bare/-/1/disk".into()),
            replicate: 1,
            instance,
            metric: metric.into(),
            unit: if declared { "KiB/s" } else { "" }.into(),
            better: if declared { Better::Higher } else { Better::Neither },
            value,
            window: Some(Window { start_s: 1.5, end_s: 2.0 }),
            overlap: Some(1.0),
            accel: Accel::None,
            flags: Vec::new(),
        }
    }

    fn kept(samples: &[Sample]) -> (String, Vec<Sample>) {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("samples.jsonl");
        append(&mut Lines::open(&path).expect("open"), samples).expect("append");
        let read = read(&path, 2, &plan(), &metrics(), &mut Vec::new()).expect("read");
        (std::fs::read_to_string(&path).expect("text"), read)
    }

    #[test]
    fn what_an_instance_measured_in_a_round_is_one_line_and_comes_back_as_it_was() {
        let samples = [
            Sample { flags: vec!["cached".into()], ..sample("write", 1, Value::Measured(0.1)) },
            sample("fast", 1, Value::TooFast),
            sample("gone", 1, Value::Missing("not run".into())),
            sample("write", 2, Value::Measured(3.0)),
            Sample {
                window: None,
                overlap: None,
                accel: Accel::Unknown,
                ..sample("write", 2, Value::Measured(4.0))
            },
        ];
        let (text, read) = kept(&samples);
        assert_eq!(read, samples);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.contains("\"accel\":\"unknown\",\"values\":{\"measured\":{\"write\":4.0}},\"crc\":"),
            "{text}"
        );
    }

    #[test]
    fn a_metric_twice_stays_twice_and_a_number_that_is_none_is_missing() {
        let samples = [sample("write", 1, Value::Measured(1.0)), sample("write", 1, Value::Measured(2.0))];
        assert_eq!(kept(&samples).1, samples);
        let missing = Value::Missing("NaN is not a number".into());
        assert_eq!(kept(&[sample("write", 1, Value::Measured(f64::NAN))]).1, [sample("write", 1, missing)]);
    }

    #[test]
    fn the_first_format_is_still_read() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("samples.jsonl");
        let line = r#"{"cell":"here/bare/-/1/disk","replicate":1,"instance":1,"metric":"write","unit":"KiB/s","better":"higher","measured":7.25,"window":{"start_s":1.5,"end_s":2.0},"overlap":1.0,"accel":"none"}"#;
        std::fs::write(&path, format!("{line}\n{line}\n")).expect("write");
        let read = read(&path, 1, &plan(), &metrics(), &mut Vec::new()).expect("read");
        assert_eq!(
            read,
            [sample("write", 1, Value::Measured(7.25)), sample("write", 1, Value::Measured(7.25))]
        );
        assert!(
            Arc::ptr_eq(&read[0].metric, &read[1].metric) && Arc::ptr_eq(&read[0].cell.0, &read[1].cell.0)
        );
    }
}
