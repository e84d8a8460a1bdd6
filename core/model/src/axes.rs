//! The axes of the matrix and the cell, one point of it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Name;

/// The value of every axis at one point. `storage` is `None` on the bare host, which has no volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axes {
    pub host: Name,
    /// `bare`, or the name of a hypervisor offer such as `kvm-virtio`.
    pub hypervisor: Name,
    pub storage: Option<Name>,
    /// Guests at once; on the bare host, copies of the work at once.
    pub guests: u32,
    /// The scenario's own name of the workload.
    pub workload: Name,
}

impl Axes {
    /// The hypervisor axis value that means the host itself.
    pub const BARE: &str = "bare";

    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.hypervisor.as_str() == Self::BARE
    }

    /// True where both points use the same machines: they differ in nothing but the workload.
    #[must_use]
    pub fn same_setup(&self, other: &Self) -> bool {
        (&self.host, &self.hypervisor, &self.storage, self.guests)
            == (&other.host, &other.hypervisor, &other.storage, other.guests)
    }

    /// `host/hypervisor/storage/guests/workload`; the storage of the bare host is `-`.
    #[must_use]
    pub fn id(&self) -> CellId {
        let storage = self.storage.as_ref().map_or("-", Name::as_str);
        CellId(
            format!("{}/{}/{storage}/{}/{}", self.host, self.hypervisor, self.guests, self.workload).into(),
        )
    }
}

/// A readable key of a cell, unique in its plan and a valid relative path. Cheap to clone: every sample has one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellId(pub Arc<str>);

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One point of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    pub id: CellId,
    #[serde(flatten)]
    pub axes: Axes,
}

impl From<Axes> for Cell {
    fn from(axes: Axes) -> Self {
        Self { id: axes.id(), axes }
    }
}
