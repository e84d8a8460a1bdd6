//! Where the program keeps what it needs between and during runs.

use std::path::{Path, PathBuf};

/// Folders and programs of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Work folders of runs and the embedded driver's root: gone with the runs, but for the driver's caches.
    pub state: PathBuf,
    /// Guest images.
    pub cache: PathBuf,
    /// QEMU's system emulator.
    pub emulator: PathBuf,
}

impl Settings {
    /// `CROSSVISOR_STATE` and `CROSSVISOR_CACHE` where they are set; else, for root, `/var/lib/crossvisor` and
    /// `/var/cache/crossvisor`; else the XDG state and cache folders of the user.
    #[must_use]
    pub fn from_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME").unwrap_or_else(|| "/".into());
        let is_root = rustix::process::geteuid().is_root();
        let place = |own: &str, system: &str, xdg: &str, below_home: &str| {
            // A path that is not absolute counts from here, also for programs that work elsewhere.
            set(own).map(|path| std::path::absolute(&path).unwrap_or(path)).unwrap_or_else(|| {
                match (set(xdg), is_root) {
                    (Some(xdg), _) => xdg.join("crossvisor"),
                    (None, true) => system.into(),
                    (None, false) => home.join(below_home).join("crossvisor"),
                }
            })
        };
        Self {
            state: place("CROSSVISOR_STATE", "/var/lib/crossvisor", "XDG_STATE_HOME", ".local/state"),
            cache: place("CROSSVISOR_CACHE", "/var/cache/crossvisor", "XDG_CACHE_HOME", ".cache"),
            emulator: "qemu-system-x86_64".into(),
        }
    }

    /// The embedded driver's root folder.
    #[must_use]
    pub fn embed_root(&self) -> PathBuf {
        self.state.join("embed")
    }

    /// The folder that has a work folder for each run.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.state.join("live")
    }

    /// The folder that has a work folder for each host that stays.
    #[must_use]
    pub fn hosts(&self) -> PathBuf {
        self.state.join("hosts")
    }

    /// Where guest images are kept.
    #[must_use]
    pub fn images(&self) -> PathBuf {
        self.cache.join("images")
    }

    pub(crate) fn emulator(&self) -> &Path {
        &self.emulator
    }
}
