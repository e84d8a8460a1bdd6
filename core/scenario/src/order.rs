//! The order of the visits: seeded, the same on every machine.
//!
//! Owns the shuffling. The numbers are the ChaCha8 stream (a published cipher, so its output is fixed for all
//! time) under the key `seed` as 64 little-endian bits and zeros; items are sorted by one number each. A change
//! of any of this changes the order of old scenarios, so it must never happen silently: the golden test holds it.

use std::collections::HashMap;

use crossvisor_model::{Axes, Cell, Visit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// One block of visits for each replicate: every setup once, its cells in one stay.
pub(crate) fn visits(cells: &[Cell], seed: u64, repeat: u32) -> Vec<Visit> {
    let setups = setups(cells);
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    let mut visits = Vec::with_capacity(setups.len() * repeat as usize);
    for replicate in 1..=repeat {
        for cells in shuffled(&mut rng, setups.clone()) {
            visits.push(Visit { replicate, cells: shuffled(&mut rng, cells) });
        }
    }
    visits
}

/// The cells of each setup, as indices, in the order of their first cells.
fn setups(cells: &[Cell]) -> Vec<Vec<usize>> {
    let mut setups: Vec<Vec<usize>> = Vec::new();
    let mut known = HashMap::new();
    for (index, cell) in cells.iter().enumerate() {
        let Axes { host, hypervisor, storage, guests, workload: _ } = &cell.axes;
        let setup = *known.entry((host, hypervisor, storage, guests)).or_insert_with(|| {
            setups.push(Vec::new());
            setups.len() - 1
        });
        setups[setup].push(index);
    }
    setups
}

fn shuffled<T>(rng: &mut ChaCha8Rng, items: Vec<T>) -> Vec<T> {
    let mut keyed: Vec<_> = items.into_iter().map(|item| (rng.next_u64(), item)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, item)| item).collect()
}
