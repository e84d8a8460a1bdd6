//! What this installation has: plugins and guests.
//!
//! Owns the table of the plugins that are linked into the program. It must never know what any of them does.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_image::GuestLibrary;
use crossvisor_loader::{load_all, Linked, LoadError, Loaded, Origin, SearchPath};
use crossvisor_model::{Catalog, Name};

use crate::exit::Failure;

/// The bundled plugins. A file of the same name, wherever the search finds one, is used instead.
const LINKED: Linked = &[
    ("hypervisor-kvm", crossvisor_hypervisor_kvm::entry),
    ("hypervisor-xen", crossvisor_hypervisor_xen::entry),
    ("storage-file", crossvisor_storage_file::entry),
    ("workload-bonnie", crossvisor_workload_bonnie::entry),
    ("workload-hep", crossvisor_workload_hep::entry),
    ("workload-iperf", crossvisor_workload_iperf::entry),
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

/// Plugins and guests together.
pub struct Inventory {
    pub loaded: Loaded,
    pub guests: GuestLibrary,
}

impl Inventory {
    /// # Errors
    /// As [`plugins`].
    pub fn find(explicit: Vec<(Name, PathBuf)>) -> Result<Self, Failure> {
        Ok(Self { loaded: plugins(explicit)?, guests: GuestLibrary::from_environment() })
    }

    /// What a scenario can name. A guest with a wrong definition is not among it; see [`Self::problems`].
    pub fn catalog(&self) -> Catalog {
        let guests = self.guests.list().into_values().flatten();
        Catalog {
            plugins: self.loaded.manifests(),
            guests: guests.map(|guest| (guest.name.clone(), guest.offer())).collect(),
            kept: BTreeMap::new(),
        }
    }

    /// Why things that lie about cannot be named.
    pub fn problems(&self) -> Vec<String> {
        let guests = self.guests.list().into_values().filter_map(Result::err);
        let plugins = self.loaded.problems.iter().map(ToString::to_string);
        plugins.chain(guests.map(|problem| problem.to_string())).collect()
    }
}
