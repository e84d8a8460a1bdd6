//! Finds, opens and calls plugins through the C contract.
//!
//! Owns the search for plugin libraries, the checks before and after one is opened, and the call across the
//! boundary. It must never unload a library, look into the current folder, or know what any plugin does.

mod descriptor;
mod error;
mod load;
mod plugin;
mod search;
mod trust;

pub use error::{Broken, LoadError, PluginError};
pub use load::{Linked, Loaded, load_all};
pub use plugin::{Origin, Plugin};
pub use search::SearchPath;
