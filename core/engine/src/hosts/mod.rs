//! The hosts of a run: those that are there, those that are made for it, and what each needs before its first guest.
//!
//! Owns the way from a host's name in the plan to a machine with a libvirt. It must never know what makes a guest.

mod address;
pub mod doctor;
mod golden;
mod host;
pub mod kept;
mod made;
mod network;
mod set;
mod stage;

pub use address::NotedHost;
pub use golden::{HostImage, put_identity_disk};
pub use host::{Connections, Host};
pub use kept::KeptHost;
pub use made::{Maker, Recipe};
pub use network::GuestNetwork;
pub use set::{Hosts, forget, remove_folder};
pub use stage::Staged;
