//! Reaches machines: programs on this one, programs over SSH, domains through libvirt.
//!
//! Owns every connection and every child process. It is the only crate that links libssh2 and libvirt,
//! and it must never decide what to run.

pub mod accel;
pub mod cancel;
pub mod embed;
mod error;
pub mod facts;
pub mod libvirt;
pub mod local;
pub mod lock;
pub mod machine;
pub mod port;
pub mod quote;
pub mod ssh;
pub mod transfer;
pub mod uri;

pub use cancel::Cancel;
pub use error::TargetError;
pub use libvirt::Libvirt;
pub use local::Local;
pub use machine::{Ended, Machine, Process};
pub use ssh::{Ssh, SshAddress};
pub use uri::{Destination, Uri};
