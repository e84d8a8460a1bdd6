//! The example plugins and projects of new ones, each built by its own tools outside the workspace.
//!
//! Owns where they are built. It must never build one that is not asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{program_folder, root};

/// The plugins of `plugins/examples`.
pub const EXAMPLES: [&str; 3] = ["storage-preallocated", "workload-compress", "hypervisor-qemu"];

/// A folder that only its owner may write to, as may be done with all folders above it; gone when this is dropped.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn private_folder() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix(".crossvisor-test-")
        .tempdir_in(std::env::var_os("HOME").expect("HOME"))
        .expect("folder")
}

fn build_folder() -> PathBuf {
    program_folder().parent().expect("target").to_path_buf()
}

/// Runs a command to its end.
///
/// # Panics
/// When it fails, with what it said.
pub fn must(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}{said}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Builds the library of the Rust project in `project` with the workspace's versions, so that nothing is looked up,
/// and returns its path.
///
/// # Panics
/// When it does not build.
pub fn cargo(project: &Path, library: &str) -> PathBuf {
    let target = build_folder().join("outside");
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("lock");
    let mut build = Command::new(env!("CARGO"));
    must(build.args(["build", "--offline", "--quiet"]).current_dir(project).env("CARGO_TARGET_DIR", &target));
    target.join("debug").join(library)
}

/// Builds the three examples into `folder` and returns their files, in the order of [`EXAMPLES`].
///
/// # Panics
/// When one does not build.
pub fn build(folder: &Path) -> [PathBuf; 3] {
    let sources = root().join("plugins/examples");
    let storage = folder.join("libcrossvisor_storage_preallocated.so");
    let make = format!("OUT={}", folder.display());
    must(Command::new("make").arg("-C").arg(sources.join("storage-preallocated")).arg(make));
    let workload = folder.join("crossvisor-plugin-workload-compress");
    fs::copy(sources.join("workload-compress/crossvisor-plugin-workload-compress"), &workload)
        .expect("script");
    let name = "libcrossvisor_hypervisor_qemu.so";
    let hypervisor = folder.join(name);
    fs::copy(cargo(&sources.join("hypervisor-qemu"), name), &hypervisor).expect("library");
    let files = [storage, workload, hypervisor];
    for file in &files {
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("mode");
    }
    files
}
