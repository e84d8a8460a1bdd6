//! Finds, opens and calls plugins through the C contract.
//!
//! Owns the search for plugins, the checks before and after one is opened, and the call across the boundary:
//! in process, or to a process of the plugin's own. It must never unload a library, look into the current
//! folder, run anything that nobody consented to, or know what any plugin does.

mod admit;
mod candidate;
mod child;
mod descriptor;
mod error;
mod exchange;
mod file;
mod host;
mod inherited;
mod limits;
mod load;
mod plugin;
mod search;
mod sidecar;
mod trust;

pub use candidate::{Candidate, State};
pub use error::{Broken, LoadError, PluginError, TrustError};
pub use host::{VERB, plugin_host};
pub use limits::Limits;
pub use load::{Linked, Loaded, load_all, load_one};
pub use plugin::{Origin, Plugin};
pub use search::{SearchPath, name_of};
pub use trust::{Trusted, trust};
