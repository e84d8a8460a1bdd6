//! Is a library file one that only its owner can have put there?
//!
//! Owns the checks of mode before a library is opened. It must never open one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Broken;

const WORLD_WRITABLE: u32 = 0o002;

/// Follows links and gives the real path of a library that no other user can have changed.
pub(crate) fn check(path: &Path) -> Result<PathBuf, Broken> {
    let unreadable = |path: &Path, source| Broken::Unreadable { path: path.into(), source };
    let real = path.canonicalize().map_err(|e| unreadable(path, e))?;
    let named_in = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    for place in [Some(real.as_path()), real.parent(), named_in].into_iter().flatten() {
        let found = fs::metadata(place).map_err(|e| unreadable(place, e))?;
        if place == real && !found.is_file() {
            return Err(Broken::NotAFile);
        }
        if found.mode() & WORLD_WRITABLE != 0 {
            return Err(Broken::WorldWritable(place.into()));
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    }

    #[test]
    fn a_file_or_a_folder_that_all_may_write_is_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("libcrossvisor_x.so");
        fs::write(&file, "").expect("file");
        set(&file, 0o644);
        assert!(check(&file).is_ok());
        set(&file, 0o646);
        assert!(
            matches!(check(&file), Err(Broken::WorldWritable(path)) if path.ends_with("libcrossvisor_x.so"))
        );
        set(&file, 0o644);
        set(folder.path(), 0o1777);
        let refused = folder.path().canonicalize().expect("real");
        assert!(matches!(check(&file), Err(Broken::WorldWritable(path)) if path == refused));
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let folder = tempfile::tempdir().expect("folder");
        let (open, link) = (folder.path().join("open"), folder.path().join("libcrossvisor_x.so"));
        fs::create_dir(&open).expect("folder");
        fs::write(open.join("x"), "").expect("file");
        set(&open, 0o777);
        std::os::unix::fs::symlink(open.join("x"), &link).expect("link");
        assert!(matches!(check(&link), Err(Broken::WorldWritable(_))));
        assert!(matches!(check(&open), Err(Broken::NotAFile)));
        assert!(matches!(check(&folder.path().join("none")), Err(Broken::Unreadable { .. })));
    }
}
