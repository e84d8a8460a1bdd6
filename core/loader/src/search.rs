//! Where plugin libraries may lie, in order.
//!
//! Owns the list of places and how a file is known as a plugin's. It must never open a library.

use std::env;
use std::path::{Path, PathBuf};

use crossvisor_model::Name;

use crate::LoadError;

/// Folders of the system, searched after the user's own.
const SYSTEM: [&str; 2] =
    ["/usr/local/lib/crossvisor/plugins/v1", "/usr/lib/x86_64-linux-gnu/crossvisor/plugins/v1"];

/// The places to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// `--plugin NAME=PATH`: these win over everything that is found.
    pub explicit: Vec<(Name, PathBuf)>,
    /// Searched for `libcrossvisor_*.so`; one that does not exist is passed over.
    pub folders: Vec<PathBuf>,
}

/// A library file that may be a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
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
        folders.extend(env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf)));
        Self { explicit, folders }
    }

    /// Every candidate of every folder, each file once, in the order of the folders and then of the names.
    pub(crate) fn candidates(&self, problems: &mut Vec<LoadError>) -> Vec<Candidate> {
        let mut seen = std::collections::BTreeSet::new();
        let mut candidates = Vec::new();
        for folder in &self.folders {
            if !folder.is_absolute() {
                problems.push(LoadError::RelativeFolder(folder.clone()));
                continue;
            }
            match list(folder) {
                Ok(found) => candidates.extend(
                    found
                        .into_iter()
                        .filter(|c| seen.insert(c.path.canonicalize().unwrap_or(c.path.clone()))),
                ),
                Err(source) => problems.push(LoadError::Folder { folder: folder.clone(), source }),
            }
        }
        candidates
    }
}

fn list(folder: &Path) -> std::io::Result<Vec<Candidate>> {
    let entries = match folder.read_dir() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let stem = name.and_then(|n| n.strip_prefix("libcrossvisor_")).and_then(|n| n.strip_suffix(".so"));
        if let Some(stem) = stem.filter(|stem| !stem.is_empty()) {
            found.push(Candidate { stem: stem.into(), path });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_named_as_plugins_are_candidates_and_each_once() {
        let folder = tempfile::tempdir().expect("folder");
        for name in
            ["libcrossvisor_b.so", "libcrossvisor_a_x.so", "libcrossvisor_.so", "libother.so", "x.txt"]
        {
            std::fs::write(folder.path().join(name), "").expect(name);
        }
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("link");
        let search = SearchPath {
            explicit: Vec::new(),
            folders: vec![folder.path().into(), folder.path().join("again"), folder.path().join("none")],
        };
        let mut problems = Vec::new();
        let candidates = search.candidates(&mut problems);
        let stems: Vec<_> = candidates.iter().map(|c| c.stem.as_str()).collect();
        assert_eq!(stems, ["a_x", "b"]);
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn a_relative_folder_is_never_searched() {
        let search = SearchPath { explicit: Vec::new(), folders: vec!["src".into(), ".".into()] };
        let mut problems = Vec::new();
        assert_eq!(search.candidates(&mut problems), []);
        assert!(problems.iter().all(|p| matches!(p, LoadError::RelativeFolder(_))));
        assert_eq!(problems.len(), 2);
    }
}
