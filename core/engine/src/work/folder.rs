//! The folders that instances work in.

use std::path::Path;

use crossvisor_model::{Exec, Place};

/// A folder for work that every user may write to, like a temporary folder's.
pub fn make_work_folder(place: Place, path: &Path) -> Exec {
    Exec::new(place, ["install", "-d", "-m", "1777", "--", &path.to_string_lossy()], 60.0)
}

/// Removes what [`make_work_folder`] made, with all that the work left in it.
pub fn remove_work_folder(place: Place, path: &Path) -> Exec {
    Exec::new(place, ["rm", "-rf", "--", &path.to_string_lossy()], 60.0)
}
