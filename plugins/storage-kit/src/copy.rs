//! Whole copies of the guest's image.

use std::path::Path;

use crossvisor_plugin::model::Step;

use crate::program;

/// Seconds that a copy may take; an image of 100 GiB on a disk of 30 MB/s does.
pub const TIMEOUT_S: f64 = 3600.0;

/// A file like `from` that keeps its holes, and shares its extents where the file system can.
#[must_use]
pub fn to_file(from: &Path, to: &Path) -> Step {
    let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
    program("copy the image", ["cp", "--reflink=auto", "--sparse=auto", "--", &from, &to], TIMEOUT_S)
}

/// Writes all of `from`, zeros included, to a block device whose old content shows where nothing is written.
#[must_use]
pub fn to_device(from: &Path, device: &Path) -> Step {
    dd(from, device, &["bs=4M", "oflag=direct", "conv=fsync,nocreat"])
}

/// Writes what is not zero in `from` to a block device that reads zeros where nothing was written.
#[must_use]
pub fn to_empty_device(from: &Path, device: &Path) -> Step {
    dd(from, device, &["bs=256K", "conv=sparse,fsync,nocreat"])
}

fn dd(from: &Path, to: &Path, how: &[&str]) -> Step {
    let (from, to) = (format!("if={}", from.display()), format!("of={}", to.display()));
    program("copy the image", ["dd", &from, &to, "status=none"].iter().chain(how).copied(), TIMEOUT_S)
}
