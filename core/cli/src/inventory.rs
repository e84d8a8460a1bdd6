//! What this installation has: plugins, guests and hosts that are kept.
//!
//! Owns the table of the plugins that are linked into the program. It must never know what any of them does.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_engine::{kept, Settings};
use crossvisor_image::GuestLibrary;
use crossvisor_loader::{load_all, Linked, LoadError, Loaded, Origin, SearchPath};
use crossvisor_model::{Catalog, HostGuest, Name};

use crate::exit::Failure;

/// The bundled plugins. A file of the same name, wherever the search finds one, is used instead.
const LINKED: Linked = &[
    ("hypervisor-kvm", crossvisor_hypervisor_kvm::entry),
    ("hypervisor-xen", crossvisor_hypervisor_xen::entry),
    ("storage-file", crossvisor_storage_file::entry),
    ("storage-loop", crossvisor_storage_loop::entry),
    ("storage-lvm", crossvisor_storage_lvm::entry),
    ("storage-snapshot", crossvisor_storage_snapshot::entry),
    ("telemetry-system", crossvisor_telemetry_system::entry),
    ("telemetry-xen", crossvisor_telemetry_xen::entry),
    ("workload-bonnie", crossvisor_workload_bonnie::entry),
    ("workload-command", crossvisor_workload_command::entry),
    ("workload-fio", crossvisor_workload_fio::entry),
    ("workload-hep", crossvisor_workload_hep::entry),
    ("workload-iperf", crossvisor_workload_iperf::entry),
    ("workload-tree", crossvisor_workload_tree::entry),
];

/// Every plugin that loads, with what is known of those found that do not.
///
/// # Errors
/// [`Failure::Plugin`] for the first of the `explicit` files that does not load: whoever names one means it.
pub fn plugins(explicit: Vec<(Name, PathBuf)>) -> Result<Loaded, Failure> {
    let search = SearchPath::from_environment(explicit);
    let named =
        |origin: &Origin| search.explicit.iter().any(|(_, path)| *origin == Origin::Path(path.clone()));
    let mut loaded = load_all(&search, LINKED);
    let wrong = loaded.problems.iter().position(|problem| match problem {
        LoadError::ExplicitTwice(_) => true,
        LoadError::Broken { origin, .. } => named(origin),
        LoadError::OfferClash { first, second, .. } => named(&first.1) || named(&second.1),
        _ => false,
    });
    match wrong {
        Some(at) => Err(Failure::Plugin(Box::new(loaded.problems.swap_remove(at)))),
        None => Ok(loaded),
    }
}

/// Plugins, guests and kept hosts together.
pub struct Inventory {
    pub loaded: Loaded,
    pub guests: GuestLibrary,
    /// Hosts that are up, by name.
    kept: BTreeMap<Name, HostGuest>,
}

impl Inventory {
    /// # Errors
    /// As [`plugins`], or [`Failure::Engine`] when the hosts that are kept cannot be listed.
    pub fn find(explicit: Vec<(Name, PathBuf)>) -> Result<Self, Failure> {
        let loaded = plugins(explicit)?;
        let kept = kept::list(&Settings::from_environment())?;
        let kept = kept.into_iter().filter_map(|(name, host)| Some((name, host?.made_of))).collect();
        Ok(Self { loaded, guests: GuestLibrary::from_environment(), kept })
    }

    /// What a scenario can name. A guest with a wrong definition is not among it; see [`Self::problems`].
    pub fn catalog(&self) -> Catalog {
        let guests = self.guests.list().into_values().flatten();
        Catalog {
            plugins: self.loaded.manifests(),
            guests: guests.map(|guest| (guest.name.clone(), guest.offer())).collect(),
            kept: self.kept.clone(),
        }
    }

    /// Why things that lie about cannot be named.
    pub fn problems(&self) -> Vec<String> {
        let guests = self.guests.list().into_values().filter_map(Result::err);
        let plugins = self.loaded.problems.iter().map(ToString::to_string);
        plugins.chain(guests.map(|problem| problem.to_string())).collect()
    }
}
