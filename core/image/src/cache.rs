//! Built images on disk, by the hash of their definition.
//!
//! Owns what an image folder holds and when it is whole. It must never use an image that is not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::GuestDefinition;

pub(crate) const ROOT: &str = "root.img";
pub(crate) const KERNEL: &str = "vmlinuz";
pub(crate) const INITRD: &str = "initrd.img";
pub(crate) const MULTIBOOT: &str = "multiboot";
pub(crate) const FACTS: &str = "image.json";

/// A built image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub folder: PathBuf,
    /// The root disk, raw and sparse.
    pub root: PathBuf,
    pub kernel: PathBuf,
    pub initrd: PathBuf,
    /// What is started before the kernel, as an ELF file of 32 bits; where the definition has it.
    pub multiboot: Option<PathBuf>,
    pub facts: ImageFacts,
}

/// What is known of an image: `image.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageFacts {
    /// The guest's name.
    pub guest: String,
    /// sha256 of the definition.
    pub definition: String,
    /// The kernel's release: `6.1.0-13-amd64`.
    pub kernel: String,
    /// Versions of the packages that the definition names.
    pub versions: BTreeMap<String, String>,
    /// Length of the root disk.
    pub root_bytes: u64,
    /// Bytes of the root disk that are allocated.
    pub root_allocated_bytes: u64,
    pub kernel_bytes: u64,
    pub initrd_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiboot_bytes: Option<u64>,
    /// When it was built, in seconds since 1970 UTC.
    pub built_unix_s: u64,
}

/// The image of a definition, if it was built and is whole.
#[must_use]
pub fn cached(guest: &GuestDefinition, cache: &Path) -> Option<Image> {
    let folder = cache.join(guest.key());
    let facts: ImageFacts = serde_json::from_slice(&fs::read(folder.join(FACTS)).ok()?).ok()?;
    let whole =
        |name: &str, bytes| fs::metadata(folder.join(name)).is_ok_and(|m| m.is_file() && m.len() == bytes);
    let good = facts.definition == guest.hash
        && whole(ROOT, facts.root_bytes)
        && whole(KERNEL, facts.kernel_bytes)
        && whole(INITRD, facts.initrd_bytes)
        && facts.multiboot_bytes.is_none_or(|bytes| whole(MULTIBOOT, bytes));
    good.then(|| Image {
        root: folder.join(ROOT),
        kernel: folder.join(KERNEL),
        initrd: folder.join(INITRD),
        multiboot: facts.multiboot_bytes.map(|_| folder.join(MULTIBOOT)),
        folder,
        facts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_image_of_this_very_definition_is_used() {
        let cache = tempfile::tempdir().expect("folder");
        let mut guest = crate::GuestLibrary::default().get("debian-12").expect("guest");
        let folder = cache.path().join(guest.key());
        fs::create_dir(&folder).expect("folder");
        assert_eq!(cached(&guest, cache.path()), None);
        let parts = [(ROOT, "root"), (KERNEL, "kernel"), (INITRD, "initrd"), (MULTIBOOT, "xen")];
        for (name, content) in parts {
            fs::write(folder.join(name), content).expect(name);
        }
        assert_eq!(cached(&guest, cache.path()), None, "without its facts it is not whole");
        let facts = ImageFacts {
            guest: "debian-12".into(),
            definition: guest.hash.clone(),
            kernel: "6.1.0-13-amd64".into(),
            versions: BTreeMap::new(),
            root_bytes: 4,
            root_allocated_bytes: 4096,
            kernel_bytes: 6,
            initrd_bytes: 6,
            multiboot_bytes: Some(3),
            built_unix_s: 1_242_641_700,
        };
        fs::write(folder.join(FACTS), serde_json::to_vec(&facts).expect("json")).expect("facts");
        let image = cached(&guest, cache.path()).expect("whole");
        assert_eq!(image.multiboot, Some(folder.join(MULTIBOOT)));
        assert_eq!((image.facts, image.root), (facts, folder.join(ROOT)));

        fs::write(folder.join(ROOT), "roo").expect("truncated");
        assert_eq!(cached(&guest, cache.path()), None);
        fs::write(folder.join(ROOT), "root").expect("mended");
        fs::write(folder.join(MULTIBOOT), "xe").expect("truncated");
        assert_eq!(cached(&guest, cache.path()), None);
        fs::write(folder.join(MULTIBOOT), "xen").expect("mended");
        guest.hash.replace_range(16.., &"0".repeat(48));
        assert_eq!(cached(&guest, cache.path()), None, "the whole hash counts");
    }
}
