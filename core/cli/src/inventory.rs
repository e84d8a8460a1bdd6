//! What this installation has: plugins and guests.
//!
//! Owns the table of the plugins that are linked into the program. It must never know what any of them does.

use std::path::PathBuf;

use crossvisor_image::GuestLibrary;
use crossvisor_loader::{load_all, Linked, Loaded, SearchPath};
use crossvisor_model::{Catalog, Name};

/// The bundled plugins. A file of the same name, wherever the search finds one, is used instead.
const LINKED: Linked = &[
    ("hypervisor-kvm", crossvisor_hypervisor_kvm::entry),
    ("storage-file", crossvisor_storage_file::entry),
    ("workload-bonnie", crossvisor_workload_bonnie::entry),
    ("workload-hep", crossvisor_workload_hep::entry),
    ("workload-iperf", crossvisor_workload_iperf::entry),
];

/// Every plugin that loads, with what is known of those that do not.
pub fn plugins(explicit: Vec<(Name, PathBuf)>) -> Loaded {
    load_all(&SearchPath::from_environment(explicit), LINKED)
}

/// Plugins and guests together.
pub struct Inventory {
    pub loaded: Loaded,
    pub guests: GuestLibrary,
}

impl Inventory {
    pub fn find(explicit: Vec<(Name, PathBuf)>) -> Self {
        Self { loaded: plugins(explicit), guests: GuestLibrary::from_environment() }
    }

    /// What a scenario can name. A guest with a wrong definition is not among it; see [`Self::problems`].
    pub fn catalog(&self) -> Catalog {
        let guests = self.guests.list().into_values().flatten();
        Catalog {
            plugins: self.loaded.manifests(),
            guests: guests.map(|guest| (guest.name.clone(), guest.offer())).collect(),
        }
    }

    /// Why things that lie about cannot be named.
    pub fn problems(&self) -> Vec<String> {
        let guests = self.guests.list().into_values().filter_map(Result::err);
        let plugins = self.loaded.problems.iter().map(ToString::to_string);
        plugins.chain(guests.map(|problem| problem.to_string())).collect()
    }
}
