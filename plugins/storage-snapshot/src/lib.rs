//! Backings that keep only what a guest writes: `snapshot`, LVM's snapshot of a logical volume, and `overlay`, a qcow2
//! file over the image's file.
//!
//! Owns the plugin's description and which of the two is meant. It must never run a program itself.

mod overlay;
mod snapshot;

use crossvisor_plugin::model::{Kind, Manifest, Name, NameError};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{CreateInput, Failure, InspectInput, Resume, StageInput, Storage, Turn};
use crossvisor_storage_kit::folder;

/// The plugin.
pub struct Snapshot;

crossvisor_plugin::plugin!(storage_snapshot, storage, Snapshot);

const OVERLAY: &str = "overlay";

impl Storage for Snapshot {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn stage(&self, chosen: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
        match chosen.offer.as_str() {
            OVERLAY => folder::stage(input, resume),
            _ => snapshot::stage(chosen, input, resume),
        }
    }

    fn create(&self, chosen: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        match chosen.offer.as_str() {
            OVERLAY => overlay::create(chosen, input),
            _ => snapshot::create(chosen, input),
        }
    }

    fn inspect(&self, chosen: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        match chosen.offer.as_str() {
            OVERLAY => folder::inspect(input, resume),
            _ => snapshot::inspect(input, resume),
        }
    }
}

fn manifest() -> Result<Manifest, NameError> {
    Ok(Manifest {
        name: Name::new("storage-snapshot")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Storage,
        summary: "volumes that keep only what a guest writes".into(),
        offers: vec![snapshot::offer()?, overlay::offer(OVERLAY)?],
    })
}
