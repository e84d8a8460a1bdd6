//! The kinds of file that are known: one module and one line for each.

use crate::fio::Fio;
use crate::verdict::{Judge, judge};

/// By the index's word for them.
pub const KINDS: &[(&str, Judge)] = &[("fio", judge::<Fio>)];

/// The judge of a kind.
#[must_use]
pub fn judge_of(kind: &str) -> Option<Judge> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, judge)| *judge)
}
