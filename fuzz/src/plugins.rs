//! All bundled plugins.
//!
//! Owns their list, as the program has it.

use crossvisor_image::GuestLibrary;
use crossvisor_loader::Linked;
use crossvisor_model::{Catalog, Name};
use crossvisor_plugin::sdk::respond;
use crossvisor_plugin::{Plugin, Reply};

/// A plugin's offers, and its answer to the bytes of a request.
pub type Responder = (&'static [Name], fn(&[u8]) -> Reply);

macro_rules! plugins {
    ($($name:literal $library:ident $type:ident)*) => {
        /// As the loader takes them.
        pub const LINKED: Linked = &[$(($name, $library::entry)),*];

        /// As they answer.
        #[must_use]
        pub fn responders() -> Vec<Responder> {
            vec![$((<$library::$type as Plugin>::offers(), respond::<$library::$type>)),*]
        }

        /// What a scenario can name.
        #[must_use]
        pub fn catalog() -> Catalog {
            let guests = GuestLibrary::default().list().into_values().flatten();
            let manifests = [$(<$library::$type as Plugin>::manifest()),*];
            Catalog {
                plugins: manifests.into_iter().map(|manifest| (manifest.name.clone(), manifest)).collect(),
                guests: guests.map(|guest| (guest.name.clone(), guest.offer())).collect(),
                ..Catalog::default()
            }
        }
    };
}

plugins! {
    "hypervisor-kvm" crossvisor_hypervisor_kvm Kvm
    "hypervisor-xen" crossvisor_hypervisor_xen Xen
    "storage-file" crossvisor_storage_file File
    "storage-loop" crossvisor_storage_loop Loop
    "storage-lvm" crossvisor_storage_lvm Lvm
    "storage-snapshot" crossvisor_storage_snapshot Snapshot
    "telemetry-system" crossvisor_telemetry_system System
    "telemetry-xen" crossvisor_telemetry_xen Xen
    "workload-bonnie" crossvisor_workload_bonnie Bonnie
    "workload-command" crossvisor_workload_command Command
    "workload-fio" crossvisor_workload_fio Fio
    "workload-hep" crossvisor_workload_hep Hep
    "workload-iperf" crossvisor_workload_iperf Iperf
    "workload-tree" crossvisor_workload_tree Tree
}
