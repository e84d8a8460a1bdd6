//! Guest definitions, the images built from them, and what makes a clone itself.
//!
//! Owns the reading of definitions, the cache of images and the seed of a clone. It must never start a guest,
//! mount anything, or know what a workload does.

mod build;
mod cache;
mod check;
mod definition;
mod error;
mod host;
mod identity;
mod library;
mod multiboot;
mod seed;
mod tool;
mod wheels;
mod workshop;

pub use build::{build, sweep};
pub use cache::{Image, ImageFacts, cached};
pub use definition::{Boot, Build, Disk, GuestDefinition, Multiboot};
pub use error::{GuestError, ImageError};
pub use host::{HostDefinition, StorageChoice};
pub use identity::Identity;
pub use library::GuestLibrary;
pub use seed::{identity_archive, identity_disk, seed_initrd};
pub use tool::Progress;
pub use wheels::Wheel;
