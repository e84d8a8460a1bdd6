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

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    /// Two cells in a setup and one in another, of which the second has these values in its first two replicates.
    fn record(values: [f64; 2]) -> RunRecord {
        let cell = |guests: u32, workload: &str| {
            json!({"id": format!("here/bare/-/{guests}/{workload}"), "host": "here", "hypervisor": "bare", "storage": null,
                   "guests": guests, "workload": workload})
        };
        let visits = |replicate| {
            [json!({"replicate": replicate, "cells": [2]}), json!({"replicate": replicate, "cells": [1, 0]})]
        };
        let plan = json!({
            "scenario": "s", "seed": 1, "repeat": 2, "adaptive": {"max": 4, "until": "1%"}, "hosts": {},
            "hypervisors": {}, "storages": {}, "workloads": {}, "baseline": {},
            "guest": {"image": "g", "memory": "64MiB", "vcpus": 1},
            "cells": [cell(1, "a"), cell(1, "b"), cell(2, "a")], "order": (1..=4).flat_map(visits).collect::<Vec<_>>(),
            "deadlines": {"create": "1s", "boot": "1s", "prepare": "1s", "run": "1s", "collect": "1s", "destroy": "1s"},
        });
        let metric = json!([{"name": "m", "label": "m", "unit": "s", "better": "lower", "headline": true}]);
        let sample = |(replicate, value): (u32, f64)| {
            json!({"cell": "here/bare/-/1/b", "replicate": replicate, "instance": 1, "metric": "m", "unit": "s",
                   "better": "lower", "measured": value, "accel": "none"})
        };
        let samples: Vec<Json> = (1..).zip(values).map(sample).collect();
        let guest = json!({"image": "g", "definition": "", "kernel": "", "memory_bytes": 0, "vcpus": 1, "versions": {}});
        serde_json::from_value(json!({
            "name": "r", "plan": plan, "metrics": {"a": metric, "b": metric}, "outcomes": [], "setups": [],
            "samples": samples, "notices": [], "complete": false,
            "provenance": {"crossvisor": "0", "started": "", "hosts": {}, "guest": guest, "plugins": {}},
        }))
        .expect("a record")
    }

    #[test]
    fn later_blocks_are_made_of_what_is_due_in_the_order_of_the_plan() {
        let record = record([9.0, 11.0]);
        let mut repeats = Repeats::new(&record.plan);
        let order = &record.plan.order;
        assert_eq!(order.iter().filter(|visit| repeats.is_decided(visit)).count(), 4);
        assert_eq!(repeats.rest(&order[3]), order[3], "everything up to the least");
        assert_eq!(repeats.decide(&record, 3), Some(Event::Repeating { replicate: 3, cells: 1, visits: 1 }));
        assert!(repeats.is_decided(&order[5]) && !repeats.is_decided(&order[6]));
        assert_eq!((repeats.rest(&order[4]).cells, repeats.rest(&order[5]).cells), (vec![], vec![1]));
    }

    #[test]
    fn a_run_that_is_precise_has_no_later_block() {
        let record = record([10.0, 10.0]);
        assert_eq!(Repeats::new(&record.plan).decide(&record, 3), None);
    }
}
