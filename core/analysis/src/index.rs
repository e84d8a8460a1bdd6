//! The samples and outcomes of a record, by the cell they belong to.
//!
//! Owns the look-up. It must never drop a sample of a cell that is in the plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crossvisor_model::{Accel, CellId, Outcome, RunRecord, Sample};

/// What a record has of one cell.
#[derive(Default)]
pub(crate) struct CellData<'a> {
    /// By metric, in the order they first come.
    samples: Vec<(&'a str, Vec<&'a Sample>)>,
    pub outcomes: Vec<&'a Outcome>,
    pub accel: BTreeSet<Accel>,
}

impl<'a> CellData<'a> {
    pub fn of_metric(&self, metric: &str) -> &[&'a Sample] {
        self.samples.iter().find(|(known, _)| *known == metric).map_or(&[], |(_, samples)| samples)
    }

    /// The first sample of every metric.
    pub fn metrics(&self) -> impl Iterator<Item = (&'a str, &'a Sample)> {
        self.samples.iter().filter_map(|(metric, samples)| Some((*metric, *samples.first()?)))
    }

    fn add(&mut self, sample: &'a Sample) {
        match self.samples.iter_mut().find(|(known, _)| **known == *sample.metric) {
            Some((_, samples)) => samples.push(sample),
            None => self.samples.push((&sample.metric, vec![sample])),
        }
        self.accel.insert(sample.accel);
    }
}

/// The data of all cells, in the order of the plan.
pub(crate) struct Index<'a> {
    pub cells: Vec<CellData<'a>>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Index<'a> {
    /// Of the replicates up to `last`. What belongs to no cell of the plan is left out.
    pub fn of(record: &'a RunRecord, last: u32) -> Self {
        let places = record.plan.cells.iter().zip(0..).map(|(cell, place)| (&*cell.id.0, place)).collect();
        let cells = record.plan.cells.iter().map(|_| CellData::default()).collect();
        let mut index = Self { cells, places };
        for sample in record.samples.iter().filter(|sample| sample.replicate <= last) {
            if let Some(cell) = index.cell(&sample.cell) {
                cell.add(sample);
            }
        }
        for setup in record.setups.iter().filter(|setup| setup.replicate <= last) {
            if let Some(cell) = index.cell(&setup.cell) {
                cell.accel.insert(setup.accel);
            }
        }
        for outcome in record.outcomes.iter().filter(|outcome| outcome.replicate <= last) {
            if let Some(cell) = index.cell(&outcome.cell) {
                cell.outcomes.push(outcome);
            }
        }
        index
    }

    /// Where the plan has this cell.
    pub fn place(&self, id: &CellId) -> Option<usize> {
        self.places.get(&*id.0).copied()
    }

    fn cell(&mut self, id: &CellId) -> Option<&mut CellData<'a>> {
        self.place(id).map(|place| &mut self.cells[place])
    }
}

/// Each text once, in alphabetical order, with how often it occurs.
pub(crate) fn counted<'t>(texts: impl Iterator<Item = &'t String>) -> BTreeMap<&'t String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts
}
