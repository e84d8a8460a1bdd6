//! Which visits of the plan are made: every one up to the plan's `repeat`, then block by block those that the precision
//! asked for still needs.
//!
//! Owns no rule of its own: what is due is a function of the plan and of what is stored, so that a run that is taken up
//! again goes on as it would have.

use std::collections::BTreeSet;

use crossvisor_analysis::repeats::due;
use crossvisor_model::{Event, Plan, RunRecord, Visit};

/// What was decided so far.
pub struct Repeats<'a> {
    plan: &'a Plan,
    /// The last block that was decided on.
    block: u32,
    /// The cells that are due in it.
    cells: BTreeSet<usize>,
}

impl<'a> Repeats<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Self { plan, block: plan.repeat, cells: (0..plan.cells.len()).collect() }
    }

    /// True where it is known what of this visit is made.
    pub fn is_decided(&self, visit: &Visit) -> bool {
        visit.replicate <= self.block
    }

    /// Decides on the block of `replicate` by all that was measured before it, and tells of it; `None` when nothing is
    /// due any more, in this block and in all later ones.
    pub fn decide(&mut self, record: &RunRecord, replicate: u32) -> Option<Event> {
        self.block = replicate;
        self.cells = due(record, replicate);
        let of_block = self.plan.order.iter().filter(|visit| visit.replicate == replicate);
        let visits = of_block.filter(|visit| !self.rest(visit).cells.is_empty()).count();
        (visits > 0).then_some(Event::Repeating { replicate, cells: self.cells.len(), visits })
    }

    /// The visit with the cells that are due, in the plan's order.
    pub fn rest(&self, visit: &Visit) -> Visit {
        let cells = visit.cells.iter().copied().filter(|index| self.cells.contains(index)).collect();
        Visit { replicate: visit.replicate, cells }
    }
}
