//! A scenario: what a person asked for, with the places where it was asked.
//!
//! Owns the noun only. Reading it from YAML is `parse`, checking it against what is there is `plan`.

use std::collections::BTreeMap;

use crossvisor_model::{Bytes, Deadlines, HostSpec, Measuring, Name, Share};

use crate::precision::Repeat;
use crate::source::{Source, Span, Spanned};
use crate::tree::Node;

/// A scenario as written: its form is right, its names are not yet known to mean anything.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: Name,
    pub description: String,
    pub(crate) hosts: BTreeMap<Name, Host>,
    pub guest: Guest,
    pub(crate) repeat: Repeat,
    pub seed: u64,
    pub deadlines: Deadlines,
    pub measuring: Measuring,
    /// `None`: all that there is.
    pub(crate) telemetry: Option<Vec<Spanned<Name>>>,
    pub(crate) matrix: Matrix,
    pub(crate) hypervisors: Definitions,
    pub(crate) storages: Definitions,
    pub(crate) workloads: Definitions,
    pub(crate) baseline: Option<Point>,
    pub(crate) threshold: Option<Share>,
    pub(crate) source: Source,
}

/// A host as written.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub spec: HostSpec,
    /// Where its name stands.
    pub span: Span,
    /// Where its URI, its guest or the name of the kept host stands.
    pub form: Span,
    /// Where its memory stands, or else the same.
    pub memory: Span,
}

impl Host {
    /// A host of which nothing is written but one thing.
    pub fn new(spec: HostSpec, span: Span) -> Self {
        Self { spec, span, form: span, memory: span }
    }
}

/// The guest every cell uses.
#[derive(Clone, Debug)]
pub struct Guest {
    pub image: Spanned<Name>,
    pub memory: Spanned<Bytes>,
    pub vcpus: u32,
}

/// Named uses of offers, by the name the matrix says.
pub(crate) type Definitions = BTreeMap<Name, Definition>;

/// An offer with options, under a name of the scenario's own.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// Where its name stands.
    pub span: Span,
    pub offer: Spanned<Name>,
    /// Not yet checked: only the offer knows its options.
    pub options: Vec<(Spanned<String>, Node)>,
}

/// The axes, what is left out and what is added.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// Where the key `matrix` stands.
    pub span: Span,
    pub axes: Selection,
    /// Where the key `exclude` stands.
    pub exclude_span: Span,
    pub exclude: Vec<Selection>,
    pub include: Vec<Point>,
}

/// Values by axis. In the matrix: all its values. In an exclude: those that are meant, where none means all.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub span: Span,
    pub host: Vec<Spanned<Name>>,
    pub hypervisor: Vec<Spanned<Name>>,
    pub storage: Vec<Spanned<Name>>,
    pub guests: Vec<Spanned<u32>>,
    pub workload: Vec<Spanned<Name>>,
}

/// At most one value by axis: a cell to include, or the baseline.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub span: Span,
    pub host: Option<Spanned<Name>>,
    pub hypervisor: Option<Spanned<Name>>,
    pub storage: Option<Spanned<Name>>,
    pub guests: Option<Spanned<u32>>,
    pub workload: Option<Spanned<Name>>,
}
