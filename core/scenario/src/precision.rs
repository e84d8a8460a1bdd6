//! How often cells are repeated and which differences matter, as a scenario says it.
//!
//! Owns `repeat` and `compare.threshold` and their limits. It must never know what was measured.

use std::ops::RangeInclusive;

use crossvisor_model::{Adaptive, Share};

use crate::reader::Reader;
use crate::tree::{Node, Value};

const DEFAULT_REPEAT: u32 = 3;
const MAX_REPEAT: i128 = 1000;
/// An interval needs two replicates.
const LEAST_ADAPTIVE: i128 = 2;
/// Nothing is measured more precisely, and nothing worth repeating less.
const UNTIL: RangeInclusive<Share> = Share(0.001)..=Share(0.5);
const THRESHOLD: RangeInclusive<Share> = Share(0.0)..=Share(0.5);

/// The replicates of each cell, and whether there may be more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub least: u32,
    pub adaptive: Option<Adaptive>,
}

impl Default for Repeat {
    fn default() -> Self {
        Self { least: DEFAULT_REPEAT, adaptive: None }
    }
}

/// `3`, or `{min: 3, max: 10, until: 2%}`.
pub(crate) fn repeat(reader: &mut Reader, node: &Node) -> Option<Repeat> {
    let Value::Mapping(_) = node.value else {
        return Some(Repeat { least: whole(reader, node, "repeat", 1)?, adaptive: None });
    };
    let fields = reader.fields(node, "repeat", &["min", "max", "until"], &["max", "until"])?;
    let least = match fields.get("min") {
        Some(node) => whole(reader, node, "min", LEAST_ADAPTIVE),
        None => Some(DEFAULT_REPEAT),
    };
    let max = fields.get("max").and_then(|node| whole(reader, node, "max", LEAST_ADAPTIVE));
    let until = fields.get("until").and_then(|node| share(reader, node, "until", UNTIL));
    let (least, max, until) = (least?, max?, until?);
    if max < least {
        let message = format!("max is {max}, less than min, which is {least}");
        reader.problem(fields.key_span("max"), message, "a cell has at least min and at most max replicates");
        return None;
    }
    Some(Repeat { least, adaptive: Some(Adaptive { max, until }) })
}

/// The difference that matters.
pub(crate) fn threshold(reader: &mut Reader, node: &Node) -> Option<Share> {
    share(reader, node, "threshold", THRESHOLD)
}

fn whole(reader: &mut Reader, node: &Node, what: &str, least: i128) -> Option<u32> {
    let number = reader.whole(node, what, least..=MAX_REPEAT)?;
    u32::try_from(number.value).ok()
}

fn share(reader: &mut Reader, node: &Node, what: &str, range: RangeInclusive<Share>) -> Option<Share> {
    let share = reader.share(node, what)?;
    reader.in_range(share, what, range).map(|share| share.value)
}
