//! Many made-up runs, and how often they come to a verdict.

use std::sync::Arc;

use crossvisor_analysis::repeats::due;
use crossvisor_analysis::{Comparison, Verdict, compare};
use crossvisor_model::RunRecord;
use serde_json::{Value as Json, json};

use crate::common::{record, sample};
use crate::noise::Noise;

/// How replicates of the same thing differ; the numbers are shares of the value.
#[derive(Clone, Copy)]
pub enum Shape {
    Normal(f64),
    /// Skewed to the right: the standard deviation of the logarithm.
    Lognormal(f64),
    /// Normal of 2 %, and over the whole run everything falls by this share.
    Drift(f64),
    /// Normal of 1 %, and one replicate in twenty takes this share of the value.
    Outliers(f64),
    /// Normal of 1 %, and every block of the run has another level, normal of this share.
    Blocks(f64),
}

impl Shape {
    pub const ALL: [(&str, Self); 7] = [
        ("normal 1 %", Self::Normal(0.01)),
        ("normal 5 %", Self::Normal(0.05)),
        ("lognormal 0.05", Self::Lognormal(0.05)),
        ("lognormal 0.5", Self::Lognormal(0.5)),
        ("drift 10 %", Self::Drift(0.1)),
        ("outliers", Self::Outliers(0.6)),
        ("uneven blocks", Self::Blocks(0.03)),
    ];

    /// A factor around 1 for a replicate that comes at this share of the run, in a block of this level.
    fn factor(self, noise: &mut Noise, at: f64, level: f64) -> f64 {
        match self {
            Self::Normal(sd) => 1.0 + sd * noise.normal(),
            Self::Lognormal(sigma) => (sigma * noise.normal()).exp(),
            Self::Drift(whole) => (1.0 + 0.02 * noise.normal()) * (1.0 - whole * at),
            Self::Outliers(share) => {
                (1.0 + 0.01 * noise.normal()) * if noise.uniform() <= 0.05 { share } else { 1.0 }
            }
            Self::Blocks(sd) => (1.0 + 0.01 * noise.normal()) * (1.0 + sd * level),
        }
    }
}

/// A run that is repeated with new noise.
pub struct Trial {
    empty: RunRecord,
    metric: Arc<str>,
    shape: Shape,
    /// What the first cell after the baseline does of what the others do.
    slowed: f64,
}

impl Trial {
    /// Of a baseline and so many cells beside it; `plan` has the fields of the plan that matter.
    pub fn new(cells: usize, shape: Shape, slowed: f64, plan: Json) -> Self {
        let metric: Arc<str> = "rate".into();
        let empty = record(cells, &[1], std::slice::from_ref(&metric), plan);
        Self { empty, metric, shape, slowed }
    }

    /// One run as the plan has it, with adaptive repeats as the engine makes them.
    pub fn run(&self, noise: &mut Noise) -> RunRecord {
        let mut record = self.empty.clone();
        let most = record.plan.adaptive.map_or(record.plan.repeat, |adaptive| adaptive.max);
        for replicate in 1..=most {
            let due = due(&record, replicate);
            if due.is_empty() {
                break;
            }
            self.block(&mut record, replicate, most, &due.into_iter().collect::<Vec<_>>(), noise);
        }
        record
    }

    /// One replicate of these cells, in random order.
    fn block(&self, record: &mut RunRecord, replicate: u32, most: u32, cells: &[usize], noise: &mut Noise) {
        let mut order: Vec<(f64, usize)> = cells.iter().map(|&cell| (noise.uniform(), cell)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let level = noise.normal();
        for (place, (_, cell)) in order.into_iter().enumerate() {
            let at = (f64::from(replicate - 1) + place as f64 / cells.len() as f64) / f64::from(most);
            let slowed = if cell == 1 { self.slowed } else { 1.0 };
            let value = 50_000.0 * slowed * self.shape.factor(noise, at, level);
            record.samples.push(sample(&record.plan.cells[cell].id, replicate, 1, &self.metric, value));
        }
    }
}

/// The verdicts of a comparison, in the order of its rows.
pub fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    let rows = comparison.workloads.iter().flat_map(|w| &w.metrics).flat_map(|metric| &metric.rows);
    rows.filter_map(|row| row.verdict).collect()
}

/// The share of runs in which any cell is called better or worse.
pub fn called(trial: &Trial, runs: usize, noise: &mut Noise) -> f64 {
    let any = |record: &RunRecord| {
        verdicts(&compare(record)).iter().any(|verdict| matches!(verdict, Verdict::Better | Verdict::Worse))
    };
    (0..runs).filter(|_| any(&trial.run(noise))).count() as f64 / runs as f64
}

/// The share of runs in which the slowed cell is called worse, and the mean number of its replicates.
pub fn found(trial: &Trial, runs: usize, noise: &mut Noise) -> (f64, f64) {
    let (mut found, mut replicates) = (0, 0);
    for _ in 0..runs {
        let record = trial.run(noise);
        found += usize::from(verdicts(&compare(&record))[0] == Verdict::Worse);
        let slowed = &record.plan.cells[1].id;
        replicates += record.samples.iter().filter(|sample| sample.cell == *slowed).count();
    }
    (found as f64 / runs as f64, replicates as f64 / runs as f64)
}

pub fn fixed(repeat: u32) -> Json {
    json!({ "repeat": repeat })
}

pub fn adaptive(min: u32, max: u32, until: &str) -> Json {
    json!({ "repeat": min, "adaptive": {"max": max, "until": until} })
}
