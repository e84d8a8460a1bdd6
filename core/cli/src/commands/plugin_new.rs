//! `crossvisor plugin new`: writes a project.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::arguments::NewPlugin;
use crate::exit::Failure;
use crate::output::{self, printable};
use crate::template::{self, ProjectFile};

/// # Errors
/// [`Failure`] when the folder is there already or cannot be written, or the SDK's folder is not there.
pub fn execute(asked: &NewPlugin) -> Result<(), Failure> {
    let sdk = asked.sdk.as_deref().map(real).transpose()?;
    let project = template::project(asked.lang, asked.kind, &asked.name, sdk.as_deref())
        .map_err(Failure::PluginName)?;
    let folder = asked.dir.clone().unwrap_or_else(|| project.name.as_str().into());
    make(&folder)?;
    for file in &project.files {
        write(&folder, file)?;
    }
    output::show(|out| {
        writeln!(out, "plugin {} is in {}. Next:", project.name, printable(&folder.to_string_lossy()))?;
        writeln!(out, "  cd {}", printable(&folder.to_string_lossy()))?;
        project.build.map_or(Ok(()), |command| writeln!(out, "  {command}"))?;
        writeln!(out, "  crossvisor plugin check {}", project.plugin)?;
        writeln!(out, "README.md has the rest.")
    })
}

fn real(sdk: &Path) -> Result<PathBuf, Failure> {
    let manifest = sdk.join("Cargo.toml");
    let found = fs::metadata(&manifest).and_then(|_| sdk.canonicalize());
    found.map_err(|source| Failure::Unreadable { path: manifest, source })
}

/// Makes the folder and those above it; one that is there is somebody's.
fn make(folder: &Path) -> Result<(), Failure> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(Failure::write(parent))?;
    }
    fs::create_dir(folder).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => Failure::FolderExists(folder.into()),
        _ => Failure::Unwritable { path: folder.into(), source },
    })
}

fn write(folder: &Path, file: &ProjectFile) -> Result<(), Failure> {
    let path = folder.join(&file.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(Failure::write(parent))?;
    }
    let mode = if file.executable { 0o755 } else { 0o644 };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
    opened.and_then(|mut to| to.write_all(file.text.as_bytes())).map_err(Failure::write(&path))
}
