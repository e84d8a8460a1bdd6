//! The kinds of file that are known: one module and one line for each.

use crate::bonnie::Bonnie;
use crate::domxml::DomXml;
use crate::fio::Fio;
use crate::hep::Hep;
use crate::iostat::Iostat;
use crate::iperf::{Iperf2, Iperf3};
use crate::verdict::{Judge, judge};
use crate::xencfg::XenCfg;
use crate::xenmon::Xenmon;
use crate::zcav::Zcav;

/// By the index's word for them.
pub const KINDS: &[(&str, Judge)] = &[
    ("bonnie", judge::<Bonnie>),
    ("domxml", judge::<DomXml>),
    ("fio", judge::<Fio>),
    ("hep", judge::<Hep>),
    ("iostat", judge::<Iostat>),
    ("iperf2", judge::<Iperf2>),
    ("iperf3", judge::<Iperf3>),
    ("xencfg", judge::<XenCfg>),
    ("xenmon", judge::<Xenmon>),
    ("zcav", judge::<Zcav>),
];

/// The judge of a kind.
#[must_use]
pub fn judge_of(kind: &str) -> Option<Judge> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, judge)| *judge)
}
