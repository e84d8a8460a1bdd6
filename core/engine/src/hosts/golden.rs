//! The guest's image on a host: where it is, and how it gets there.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crossvisor_image::{Identity, Image, identity_archive, identity_disk, seed_initrd};
use crossvisor_model::{Exec, Place, Volume, VolumeSource};
use crossvisor_target::{Cancel, Machine, TargetError, transfer};

use super::Host;
use crate::EngineError;
use crate::exit::judge;

/// Where images are kept on a host that is reached over SSH.
const IMAGES: &str = "/var/cache/crossvisor/images";

/// An image as its host sees it. Paths are on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostImage {
    pub root: PathBuf,
    pub root_bytes: u64,
    pub kernel: PathBuf,
    pub initrd: PathBuf,
}

impl HostImage {
    /// The image on this machine.
    pub fn here(image: &Image) -> Self {
        Self {
            root: image.root.clone(),
            root_bytes: image.facts.root_bytes,
            kernel: image.kernel.clone(),
            initrd: image.initrd.clone(),
        }
    }

    /// The image on a host, which gets it when it does not have it: it stays there for the runs that follow.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be sent there.
    pub fn on(host: &Host, image: &Image, deadline: Instant, cancel: &Cancel) -> Result<Self, TargetError> {
        let here = Self::here(image);
        if host.is_here() {
            return Ok(here);
        }
        let folder = Path::new(IMAGES).join(image.folder.file_name().unwrap_or_default());
        let there = |path: &Path| folder.join(path.file_name().unwrap_or_default());
        let files = [&here.root, &here.kernel, &here.initrd];
        let sizes = [image.facts.root_bytes, image.facts.kernel_bytes, image.facts.initrd_bytes];
        let paths = files.map(|path| there(path));
        if !has(&*host.machine, &paths, &sizes) {
            let names: Vec<&str> = files.iter().filter_map(|path| path.file_name()?.to_str()).collect();
            transfer::files(&image.folder, &names, &*host.machine, &folder, deadline, cancel)?;
        }
        let [root, kernel, initrd] = paths;
        Ok(Self { root, root_bytes: here.root_bytes, kernel, initrd })
    }

    /// Writes the initrd of a clone: its identity, and the image's initrd behind it.
    ///
    /// # Errors
    /// [`EngineError`] when it cannot be written.
    pub fn seed(
        &self,
        host: &Host,
        seed: &Identity,
        initrd: &Path,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        if host.is_here() {
            return Ok(seed_initrd(&self.initrd, seed, initrd)?);
        }
        let failed = |source| EngineError::Host { host: host.name.clone(), source };
        host.machine.put(&identity_archive(seed), initrd, "600", deadline).map_err(failed)?;
        let (from, to) = (format!("if={}", self.initrd.display()), format!("of={}", initrd.display()));
        let append =
            Exec::new(Place::Host, ["dd", &from, &to, "bs=1M", "oflag=append", "conv=notrunc"], 120.0);
        let appended = host.machine.run(&append, &Cancel::default());
        appended.and_then(|result| judge(&append, &result)).map_err(failed)
    }
}

/// Writes the identity disk of a clone whose initrd comes out of its own image.
///
/// # Errors
/// [`EngineError::Host`] when it cannot be written.
pub fn put_identity_disk(
    host: &Host,
    seed: &Identity,
    path: PathBuf,
    deadline: Instant,
) -> Result<Volume, EngineError> {
    let put = host.machine.put(&identity_disk(seed), &path, "600", deadline);
    put.map_err(|source| EngineError::Host { host: host.name.clone(), source })?;
    Ok(Volume::new(VolumeSource::File(path), "raw"))
}

/// Whether a machine has these files with these lengths.
fn has(machine: &dyn Machine, paths: &[PathBuf], sizes: &[u64]) -> bool {
    let mut argv = vec!["stat".to_string(), "--format=%s".into(), "--".into()];
    argv.extend(paths.iter().map(|path| path.to_string_lossy().into_owned()));
    let found = machine.run(&Exec::new(Place::Host, argv, 30.0), &Cancel::default());
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    found.is_ok_and(|result| result.exit == Some(0) && result.stdout.lines().eq(sizes))
}
