//! The guests there are: definitions in folders, and those inside the program.
//!
//! Owns the search for definitions. It must never follow a link out of a definition's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};

use crate::definition::FILE;
use crate::{GuestDefinition, GuestError};

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../guests");

type Files = BTreeMap<String, Vec<u8>>;

/// Where guest definitions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestLibrary {
    /// Folders of definition folders; the first that has a name wins, and all win over what is built in.
    pub folders: Vec<PathBuf>,
}

impl GuestLibrary {
    /// `CROSSVISOR_GUEST_PATH`, the user's data folder and the system's.
    #[must_use]
    pub fn from_environment() -> Self {
        let own = env::var_os("CROSSVISOR_GUEST_PATH").unwrap_or_default();
        let mut folders: Vec<_> = env::split_paths(&own).filter(|p| p.is_absolute()).collect();
        let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        let home = env::var_os("HOME").map(|home| Path::new(&home).join(".local/share"));
        folders.extend(data.or(home).map(|data| data.join("crossvisor/guests")));
        folders.push("/usr/share/crossvisor/guests".into());
        Self { folders }
    }

    /// Every guest by name, each good or with what is wrong with it.
    #[must_use]
    pub fn list(&self) -> BTreeMap<String, Result<GuestDefinition, GuestError>> {
        self.names().into_iter().map(|name| (name.clone(), self.get(&name))).collect()
    }

    /// # Errors
    /// [`GuestError::Unknown`] when no folder has the guest; another [`GuestError`] when its definition is wrong.
    pub fn get(&self, name: &str) -> Result<GuestDefinition, GuestError> {
        if !self.names().contains(name) {
            let known = self.names().into_iter().collect::<Vec<_>>().join(", ");
            return Err(GuestError::Unknown { name: name.into(), known });
        }
        let folder = self.folders.iter().map(|folder| folder.join(name)).find(|f| f.join(FILE).is_file());
        let mut files = Files::new();
        let origin = match folder {
            Some(folder) => {
                collect(&folder, "", &mut files)?;
                folder.display().to_string()
            }
            None => {
                collect_built_in(name, &mut files);
                format!("built in {name}")
            }
        };
        let guest = GuestDefinition::read(origin, files)?;
        if guest.name.as_str() != name {
            let message = format!("name: '{}' is not the name of the folder, '{name}'", guest.name);
            return Err(GuestError::Invalid { file: format!("{}/{FILE}", guest.origin), message });
        }
        Ok(guest)
    }

    fn names(&self) -> BTreeSet<String> {
        let here = self.folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        let here = here.filter(|entry| entry.path().join(FILE).is_file());
        let here = here.filter_map(|entry| entry.file_name().into_string().ok());
        let built_in = BUILT_IN.dirs().filter(|dir| dir.get_file(dir.path().join(FILE)).is_some());
        here.chain(built_in.map(|dir| dir.path().display().to_string())).collect()
    }
}

fn collect(folder: &Path, inside: &str, files: &mut Files) -> Result<(), GuestError> {
    let place = folder.join(inside);
    let read = |source| GuestError::Read { path: place.clone(), source };
    for entry in place.read_dir().map_err(read)? {
        let entry = entry.map_err(read)?;
        let kind = entry.file_type().map_err(read)?;
        let refused = |message: &str| GuestError::Invalid {
            file: entry.path().display().to_string(),
            message: message.into(),
        };
        let name =
            entry.file_name().into_string().map_err(|_| refused("the name is not UTF-8: rename it"))?;
        let path = if inside.is_empty() { name } else { format!("{inside}/{name}") };
        if kind.is_dir() {
            collect(folder, &path, files)?;
        } else if kind.is_file() {
            let content = fs::read(entry.path());
            files.insert(path, content.map_err(|source| GuestError::Read { path: entry.path(), source })?);
        } else {
            return Err(refused("a definition holds files and folders only: replace it by a copy"));
        }
    }
    Ok(())
}

fn collect_built_in(name: &str, files: &mut Files) {
    let mut dirs: Vec<_> = BUILT_IN.get_dir(name).into_iter().collect();
    while let Some(dir) = dirs.pop() {
        for entry in dir.entries() {
            match entry {
                DirEntry::Dir(dir) => dirs.push(dir),
                DirEntry::File(file) => {
                    let path = file.path().strip_prefix(name).unwrap_or(file.path());
                    files.insert(path.display().to_string(), file.contents().to_vec());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests")
    }

    #[test]
    fn every_built_in_guest_is_good_and_the_same_as_its_folder() {
        let built_in = GuestLibrary::default().list();
        assert!(built_in.contains_key("debian-12"));
        assert!(!built_in.contains_key("probe"), "a folder without {FILE} is not a guest");
        let folders = GuestLibrary { folders: vec![checkout()] };
        for (name, guest) in built_in {
            let guest = guest.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(guest.hash, folders.get(&name).expect("folder").hash);
            assert!(guest.boot.cmdline.contains(&format!("root=LABEL={} ", guest.disk.label)));
        }
    }

    #[test]
    fn a_new_folder_is_a_new_guest_and_wins_over_what_is_built_in() {
        let folder = tempfile::tempdir().expect("folder");
        let text = fs::read_to_string(checkout().join("debian-12").join(FILE)).expect("text");
        for name in ["debian-12", "mine"] {
            fs::create_dir(folder.path().join(name)).expect("folder");
            fs::write(
                folder.path().join(name).join(FILE),
                text.replace("name: debian-12", &format!("name: {name}")),
            )
            .expect("file");
        }
        let library = GuestLibrary { folders: vec![folder.path().into()] };
        assert_eq!(library.get("mine").expect("mine").name.as_str(), "mine");
        assert_ne!(
            library.get("debian-12").expect("own").hash,
            GuestLibrary::default().get("debian-12").expect("built in").hash
        );
        assert_eq!(library.list().keys().collect::<Vec<_>>(), ["debian-12", "mine"]);
    }

    #[test]
    fn unknown_misnamed_and_linked_definitions_are_errors() {
        let folder = tempfile::tempdir().expect("folder");
        let library = GuestLibrary { folders: vec![folder.path().into()] };
        let unknown = library.get("debian-13").expect_err("unknown").to_string();
        assert_eq!(unknown, "no guest is called 'debian-13': there are debian-12");
        let other = folder.path().join("other");
        fs::create_dir(&other).expect("folder");
        fs::copy(checkout().join("debian-12").join(FILE), other.join(FILE)).expect("copy");
        let misnamed = library.get("other").expect_err("misnamed").to_string();
        assert!(misnamed.contains("'debian-12' is not the name of the folder, 'other'"), "{misnamed}");
        std::os::unix::fs::symlink("/etc/shadow", other.join("secret")).expect("link");
        let linked = library.get("other").expect_err("linked").to_string();
        assert!(linked.contains("secret") && linked.contains("files and folders only"), "{linked}");
    }
}
