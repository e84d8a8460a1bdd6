//! Which plugins a person has said may run.
//!
//! Owns the list of consents: one file for each user, and one of the system's for root. It must never add to it
//! unasked.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crossvisor_model::Name;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::file::{self, Rule};
use crate::search::name_of;
use crate::{Broken, SearchPath, TrustError, sidecar};

/// A person's consent to run one file with one content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    pub name: Name,
    /// Without any link in it.
    pub path: PathBuf,
    /// In hexadecimal.
    pub sha256: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Consents {
    trusted: Vec<Trusted>,
}

/// Records that the plugin in the file `path` may run as it is now.
///
/// # Errors
/// [`TrustError`] when the file is not called as a plugin is, when others than its owner could change it, or
/// when the list cannot be written.
pub fn trust(path: &Path, search: &SearchPath) -> Result<Trusted, TrustError> {
    let name = name_of(path).ok_or_else(|| TrustError::Name(path.into()))?;
    let refused = |reason| TrustError::Refused { path: path.into(), reason };
    let checked = file::check(path, Rule::Strict).map_err(refused)?;
    let sha256 = checked
        .sha256()
        .map_err(|source| refused(Broken::Unreadable { path: checked.path.clone(), source }))?;
    let described = sidecar::read(&checked.path, Rule::Strict).map_err(refused)?;
    if let Some(described) = described.filter(|described| described.sha256 != sha256) {
        return Err(refused(Broken::Checksum { expected: described.sha256, found: sha256 }));
    }
    let trusted = Trusted { name, path: checked.path, sha256 };
    let mut all = consents(&search.trust_file)?;
    all.retain(|one| one.path != trusted.path);
    all.push(trusted.clone());
    write(&search.trust_file, &Consents { trusted: all })?;
    Ok(trusted)
}

/// All consents; none when there is no list yet.
pub(crate) fn consents(list: &Path) -> Result<Vec<Trusted>, TrustError> {
    if list.as_os_str().is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |reason: String| TrustError::List { path: list.into(), reason };
    let text = file::read(list, Rule::Strict).map_err(|e| wrong(e.to_string()))?;
    let read = text.map(|text| serde_json::from_str::<Consents>(&text)).transpose();
    Ok(read.map_err(|e| wrong(e.to_string()))?.unwrap_or_default().trusted)
}

fn write(list: &Path, consents: &Consents) -> Result<(), TrustError> {
    if list.as_os_str().is_empty() {
        return Err(TrustError::NoList);
    }
    let unwritable = |source| TrustError::Unwritable { path: list.into(), source };
    let folder = list.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(unwritable)?;
    let mut file = NamedTempFile::new_in(folder).map_err(unwritable)?;
    serde_json::to_writer_pretty(&mut file, consents).map_err(|e| unwritable(e.into()))?;
    file.write_all(b"\n").and_then(|()| file.as_file().sync_all()).map_err(unwritable)?;
    file.persist(list).map_err(|e| unwritable(e.error))?;
    Ok(())
}
