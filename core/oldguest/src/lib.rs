//! Guests as other tools describe them: what one has, and what of it a scenario cannot repeat.
//!
//! Owns the reading of xm/xl configuration and of libvirt's domain XML into an [`OldGuest`], and the scenario that
//! repeats its shape. It must never run what stands in such a file, read another, or ask a machine anything.

mod cpus;
mod guest;
mod libvirt;
mod lost;
mod problem;
mod scenario;
mod twins;
mod xl;

pub use guest::{Backing, Boot, BootKind, Disk, DiskKind, Family, Format, Nic, NumaNode, OldGuest, Pinning};
pub use libvirt::libvirt;
pub use lost::Lost;
pub use problem::{Problem, Reading, Severity};
pub use scenario::{Image, scenario, scenario_name};
pub use twins::twins;
pub use xl::xl;
