//! The guests there are: definitions in folders, and those inside the program.
//!
//! Owns the search for definitions. It must never follow a link out of a definition's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};

use crate::definition::{FILE, Files};
use crate::{GuestDefinition, GuestError};

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../guests");

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
        self.find(name, &[])
    }

    /// `extended_by` are the definitions that are on the way to this one.
    fn find(&self, name: &str, extended_by: &[&str]) -> Result<GuestDefinition, GuestError> {
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
        let way = [extended_by, &[name]].concat();
        let file = format!("{origin}/{FILE}");
        let guest = GuestDefinition::read(origin, files, |base| match way.contains(&base.as_str()) {
            false => self.find(base.as_str(), &way),
            true => {
                let message =
                    format!("extends: '{base}' extends this definition in its turn: take one of the two out");
                Err(GuestError::Invalid { file, message })
            }
        })?;
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
    use crate::Build;

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
            let host = guest.host.as_ref().map(|host| host.uri.as_str());
            let expected = [("xen-host", "xen:///system"), ("kvm-host", "qemu:///system")];
            assert_eq!(host, expected.iter().find(|(host, _)| *host == name).map(|(_, uri)| *uri));
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
        assert!(library.list().contains_key("mine"));
    }

    #[test]
    fn unknown_misnamed_and_linked_definitions_are_errors() {
        let folder = tempfile::tempdir().expect("folder");
        let library = GuestLibrary { folders: vec![folder.path().into()] };
        let unknown = library.get("debian-13").expect_err("unknown").to_string();
        assert!(unknown.starts_with("no guest is called 'debian-13': there are debian-12, "), "{unknown}");
        let other = folder.path().join("other");
        fs::create_dir(&other).expect("folder");
        fs::copy(checkout().join("debian-12").join(FILE), other.join(FILE)).expect("copy");
        let misnamed = library.get("other").expect_err("misnamed").to_string();
        assert!(misnamed.contains("'debian-12' is not the name of the folder, 'other'"), "{misnamed}");
        std::os::unix::fs::symlink("/etc/shadow", other.join("secret")).expect("link");
        let linked = library.get("other").expect_err("linked").to_string();
        assert!(linked.contains("secret") && linked.contains("files and folders only"), "{linked}");
    }

    /// A folder with a definition that extends another.
    fn extending(folder: &Path, name: &str, base: &str) {
        let folder = folder.join(name);
        fs::create_dir_all(folder.join("files/etc/ssh")).expect("folder");
        let text = format!(
            "name: {name}\nsummary: a test\nmin_memory: 128MiB\nextends: {base}\nbuild: {{packages: [tree]}}\n\
             disk: {{size: 1GiB, label: tiny}}\nboot: {{cmdline: root=LABEL=tiny rw}}\nlogin: root\n"
        );
        fs::write(folder.join(FILE), text).expect("file");
        fs::write(folder.join("setup"), format!("#!/bin/sh\n# {name}\n")).expect("file");
        fs::write(folder.join("files/etc/fstab"), name).expect("file");
    }

    #[test]
    fn a_definition_comes_on_top_of_what_it_extends() {
        let folder = tempfile::tempdir().expect("folder");
        let library = GuestLibrary { folders: vec![folder.path().into()] };
        extending(folder.path(), "one", "debian-12");
        extending(folder.path(), "two", "one");
        let (base, two) = (library.get("debian-12").expect("base"), library.get("two").expect("two"));
        assert_eq!(two.build.packages[..base.build.packages.len()], base.build.packages);
        assert_eq!(two.build.packages[base.build.packages.len()..], ["tree", "tree"]);
        let Build { suite, mirror, keep, .. } = &two.build;
        assert_eq!((suite, mirror, keep), (&base.build.suite, &base.build.mirror, &base.build.keep));
        assert_eq!(two.files["etc/fstab"], b"two");
        assert_eq!(
            two.files["etc/ssh/sshd_config.d/crossvisor.conf"],
            base.files["etc/ssh/sshd_config.d/crossvisor.conf"]
        );
        let last = |script: &Vec<u8>| String::from_utf8_lossy(script).lines().nth(1).map(String::from);
        assert_eq!(
            two.setups.iter().map(last).skip(1).collect::<Vec<_>>(),
            [Some("# one".into()), Some("# two".into())]
        );

        fs::write(folder.path().join("one/setup"), "#!/bin/sh\n").expect("file");
        assert_ne!(library.get("two").expect("two").hash, two.hash, "it is another image now");
    }

    #[test]
    fn definitions_that_extend_each_other_or_nothing_are_errors() {
        let folder = tempfile::tempdir().expect("folder");
        let library = GuestLibrary { folders: vec![folder.path().into()] };
        for (name, base) in [("one", "two"), ("two", "one"), ("own", "own"), ("lost", "nothing")] {
            extending(folder.path(), name, base);
        }
        for name in ["one", "own"] {
            let circle = library.get(name).expect_err("a circle").to_string();
            assert!(circle.contains("extends this definition in its turn"), "{circle}");
        }
        assert!(matches!(library.get("lost"), Err(GuestError::Unknown { name, .. }) if name == "nothing"));
    }
}
