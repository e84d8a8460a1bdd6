//! The data set of the two memory jobs, and the order in which they go over it.
//!
//! Owns its size, its content, and what its first touch costs. It must never be measured by itself.
//!
//! The order is column by column: a thousand elements, each a thousandth of the data set after the one before, then
//! the same again one element further. Neighbours in time are never neighbours in memory, and every element but those
//! of the last thousandth is visited once.

use std::hint::black_box;

use crate::cost::{Cost, timed};
use crate::words::within;

const COLUMNS: usize = 1000;
const MIN_BYTES: u64 = 1 << 20;
const MAX_BYTES: u64 = 1 << 40;
const MAX_REPEAT: u64 = 10_000;

/// What every element holds at first.
pub const FILLING: u32 = 528_283;

/// A data set that lies in memory as a whole.
pub struct Memory {
    pub elements: Vec<u32>,
    /// What writing it for the first time took: the page faults.
    pub touch: Cost,
}

/// How much memory, and how often it is gone over.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub bytes: u64,
    pub repeat: u64,
}

impl Asked {
    /// Reads `--size BYTES --repeat R`; `None` when that is not what the words say.
    pub fn from_options(options: &[&str]) -> Option<Self> {
        let ["--size", bytes, "--repeat", repeat] = options else { return None };
        Some(Self { bytes: within(bytes, MIN_BYTES, MAX_BYTES)?, repeat: within(repeat, 1, MAX_REPEAT)? })
    }
}

impl Memory {
    /// `None` when there is not so much memory.
    pub fn new(bytes: u64) -> Option<Self> {
        let count = usize::try_from(bytes).ok()? / size_of::<u32>();
        let mut elements = Vec::new();
        elements.try_reserve_exact(count).ok()?;
        let ((), touch) = timed(|| elements.resize(count, black_box(FILLING)));
        Some(Self { elements, touch })
    }
}

/// The indices of a data set of `count` elements in the order of the visits.
pub fn order(count: usize) -> impl Iterator<Item = usize> {
    let step = (count / COLUMNS).max(1);
    (0..step).flat_map(move |shift| (0..count - step).step_by(step).map(move |start| start + shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_but_the_last_is_visited_once() {
        let mut visits = vec![0_u8; 262_144];
        order(visits.len()).for_each(|index| visits[index] += 1);
        let step = visits.len() / COLUMNS;
        let visited = visits.iter().take_while(|count| **count == 1).count();
        assert!(visited >= visits.len() - 2 * step, "{visited}");
        assert!(visits[visited..].iter().all(|count| *count == 0));
        let first: Vec<usize> = order(visits.len()).take(3).collect();
        assert_eq!(first, [0, step, 2 * step]);
    }

    #[test]
    fn a_data_set_is_filled_or_refused() {
        let memory = Memory::new(1 << 20).expect("a MiB");
        assert_eq!(memory.elements.len(), 262_144);
        assert!(memory.elements.iter().all(|element| *element == FILLING));
        assert!(memory.touch.wall_s > 0.0);
        assert!(Memory::new(u64::MAX).is_none());
    }

    #[test]
    fn options_are_read_or_refused() {
        let read = |size, repeat| Asked::from_options(&["--size", size, "--repeat", repeat]);
        assert_eq!(read("1048576", "2"), Some(Asked { bytes: 1 << 20, repeat: 2 }));
        for (size, repeat) in [("1048575", "2"), ("1MiB", "2"), ("1048576", "0")] {
            assert_eq!(read(size, repeat), None);
        }
    }
}
