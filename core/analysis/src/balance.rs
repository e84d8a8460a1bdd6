//! How evenly the guests of a cell did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Replicate;
use crate::summary::mean;

/// The guests of a cell beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Balance {
    /// The least of the guests' own means, in the metric's unit.
    pub min: f64,
    /// The greatest of them.
    pub max: f64,
    /// `min` as a share of `max`: 1 when all did the same; `None` for values that are not above 0.
    pub min_to_max: Option<f64>,
    /// Jain's index (Σx)² / (n Σx²) of the guests' values in a replicate, the mean over replicates: 1 when all did the
    /// same, 1/n when one had everything (R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984). `None` as before.
    pub jain: Option<f64>,
}

impl Balance {
    /// Over complete replicates; `None` for a single guest.
    #[must_use]
    pub fn of(replicates: &[Replicate]) -> Option<Self> {
        let complete = replicates.iter().filter(|replicate| replicate.mean.is_some());
        let values = |replicate: &Replicate| -> Vec<f64> {
            replicate.instances.iter().filter_map(|instance| instance.value.measured()).collect()
        };
        let indices: Vec<f64> = complete.map(|replicate| jain(&values(replicate))).collect();
        let means: Vec<f64> = guests(replicates).into_values().collect();
        let min = means.iter().copied().reduce(f64::min)?;
        let max = means.iter().copied().reduce(f64::max)?;
        let positive = min > 0.0 && indices.iter().all(|index| index.is_finite());
        (means.len() > 1).then(|| Self {
            min,
            max,
            min_to_max: positive.then(|| min / max),
            jain: mean(&indices).filter(|_| positive),
        })
    }
}

/// The mean of each guest over complete replicates, in the metric's unit.
#[must_use]
pub fn guests(replicates: &[Replicate]) -> BTreeMap<u32, f64> {
    let mut all: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for replicate in replicates.iter().filter(|replicate| replicate.mean.is_some()) {
        for instance in &replicate.instances {
            all.entry(instance.instance).or_default().extend(instance.value.measured());
        }
    }
    all.into_iter().filter_map(|(guest, values)| Some((guest, mean(&values)?))).collect()
}

fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
}
