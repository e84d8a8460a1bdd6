//! Where plugins may lie, in order.
//!
//! Owns the list of places and how a file is known as a plugin's. It must never open one.

use std::env;
use std::path::{Path, PathBuf};

use crossvisor_model::Name;

use crate::load::stem;
use crate::{Limits, LoadError};

/// Folders of the system, searched after the user's own.
const SYSTEM: [&str; 2] =
    ["/usr/local/lib/crossvisor/plugins/v1", "/usr/lib/x86_64-linux-gnu/crossvisor/plugins/v1"];

/// Beside the program: starts faster than it as what runs a plugin.
const RUNNER: &str = "crossvisor-run-plugin";

/// The places to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// `--plugin NAME=PATH`: these win over everything that is found.
    pub explicit: Vec<(Name, PathBuf)>,
    /// Searched for `libcrossvisor_*.so` and `crossvisor-plugin-*`; one that does not exist is passed over.
    pub folders: Vec<PathBuf>,
    /// Searched last: the folder of the program, whose libraries are trusted as the program is.
    pub bundled: Option<PathBuf>,
    /// The program whose verb [`crate::VERB`] runs [`crate::plugin_host`].
    pub host_program: PathBuf,
    /// The list of plugins that may run; none may where this is empty.
    pub trust_file: PathBuf,
    /// What plugins in processes of their own may use.
    pub limits: Limits,
}

/// A file that may be a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The plugin's name as the file name has it, with `_` for `-`.
    pub stem: String,
    pub path: PathBuf,
}

impl SearchPath {
    /// The search path of this process: `CROSSVISOR_PLUGIN_PATH`, the user's data folder, the system's folders,
    /// and the folder of the program.
    #[must_use]
    pub fn from_environment(explicit: Vec<(Name, PathBuf)>) -> Self {
        let own = env::var_os("CROSSVISOR_PLUGIN_PATH").unwrap_or_default();
        let mut folders: Vec<_> = env::split_paths(&own).filter(|p| !p.as_os_str().is_empty()).collect();
        let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        let home = env::var_os("HOME").map(|home| Path::new(&home).join(".local/share"));
        folders.extend(data.or(home).map(|data| data.join("crossvisor/plugins/v1")));
        folders.extend(SYSTEM.map(PathBuf::from));
        let program = env::current_exe().unwrap_or_default();
        let bundled = program.parent().map(Path::to_path_buf);
        let runner = bundled.as_ref().map(|folder| folder.join(RUNNER)).filter(|runner| runner.is_file());
        let host_program = runner.unwrap_or(program);
        Self { explicit, folders, bundled, host_program, trust_file: trust_file(), limits: Limits::default() }
    }

    /// Does the file lie beside the program?
    pub(crate) fn is_bundled(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let bundled = self.bundled.as_deref().and_then(real);
        bundled.is_some() && real(path).as_deref().and_then(Path::parent) == bundled.as_deref()
    }

    /// Every candidate of every folder, each file once, in the order of the folders and then of the names.
    pub(crate) fn found(&self, problems: &mut Vec<LoadError>) -> Vec<Found> {
        let mut seen = std::collections::BTreeSet::new();
        let mut all = Vec::new();
        for folder in self.folders.iter().chain(&self.bundled) {
            if !folder.is_absolute() {
                problems.push(LoadError::RelativeFolder(folder.clone()));
                continue;
            }
            match list(folder) {
                Ok(found) => all.extend(
                    found
                        .into_iter()
                        .filter(|c| seen.insert(c.path.canonicalize().unwrap_or(c.path.clone()))),
                ),
                Err(source) => problems.push(LoadError::Folder { folder: folder.clone(), source }),
            }
        }
        all
    }
}

fn trust_file() -> PathBuf {
    if let Some(file) = env::var_os("CROSSVISOR_TRUST") {
        return file.into();
    }
    let set = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = if rustix::process::geteuid().is_root() { Some("/etc".into()) } else { set };
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".config"));
    config.or_else(home).map(|config| config.join("crossvisor/trusted.json")).unwrap_or_default()
}

fn list(folder: &Path) -> std::io::Result<Vec<Found>> {
    let entries = match folder.read_dir() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(stem) = path.file_name().and_then(|name| name.to_str()).and_then(stem_of) {
            found.push(Found { stem, path });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The name that a plugin's file gives it, as far as a file can tell: `-` for every `_`. `None` where the file is not
/// called as a plugin is.
#[must_use]
pub fn name_of(path: &Path) -> Option<Name> {
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(stem_of)?;
    Name::new(stem.replace('_', "-")).ok()
}

/// The plugin's name in a file's name, with `_` for `-` and `.`.
pub(crate) fn stem_of(file: &str) -> Option<String> {
    let library = file.strip_prefix("libcrossvisor_").and_then(|rest| rest.strip_suffix(".so"));
    let script = || file.strip_prefix("crossvisor-plugin-").filter(|rest| !rest.ends_with(".json"));
    let name = library.or_else(script)?;
    Name::new(name).ok()?;
    Some(stem(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_named_as_plugins_are_candidates_and_each_once() {
        let folder = tempfile::tempdir().expect("folder");
        for name in [
            "libcrossvisor_b.so",
            "libcrossvisor_a_x.so",
            "libcrossvisor_.so",
            "libcrossvisor_a_x.so.json",
            "libother.so",
            "x.txt",
            "crossvisor-plugin-c-d",
            "crossvisor-plugin-c-d.json",
            "crossvisor-plugin-c-d~",
        ] {
            std::fs::write(folder.path().join(name), "").expect(name);
        }
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("link");
        let search = SearchPath {
            folders: vec![folder.path().into(), folder.path().join("again"), folder.path().join("none")],
            ..SearchPath::default()
        };
        let mut problems = Vec::new();
        let found = search.found(&mut problems);
        let stems: Vec<_> = found.iter().map(|c| c.stem.as_str()).collect();
        assert_eq!(stems, ["c_d", "a_x", "b"]);
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn a_relative_folder_is_never_searched() {
        let search = SearchPath { folders: vec!["src".into(), ".".into()], ..SearchPath::default() };
        let mut problems = Vec::new();
        assert_eq!(search.found(&mut problems), []);
        assert!(problems.iter().all(|p| matches!(p, LoadError::RelativeFolder(_))));
        assert_eq!(problems.len(), 2);
    }
}
