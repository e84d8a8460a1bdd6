//! The folder an image is made in, from a definition's files to a whole image.
//!
//! Owns what lies in that folder and its end. It must never leave a part of an image where a whole one is looked for.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::cache::{FACTS, INITRD, KERNEL, MULTIBOOT, ROOT};
use crate::multiboot;
use crate::tool::{Watch, as_root, command, run};
use crate::{GuestDefinition, ImageError, ImageFacts};

const FILE_SYSTEM: &str = "make the file system";

/// The folder an image is made in; it goes away with this value.
pub(crate) struct Workshop {
    folder: PathBuf,
}

impl Drop for Workshop {
    /// What cannot be removed now is removed by the next build.
    fn drop(&mut self) {
        let _ = remove(&self.folder);
    }
}

/// Also what belongs to the other users of the user namespace.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    // A folder made by other means may have something mounted in it: that is never entered.
    let done = as_root("rm").args(["-rf", "--one-file-system", "--"]).arg(folder).output()?;
    match done.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&done.stderr).into_owned())),
    }
}

impl Workshop {
    /// The caller holds the lock, so what is there was left by a build that was killed.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, ImageError> {
        remove(&folder).map_err(ImageError::io("remove the rest of an earlier build", &folder))?;
        let shop = Self { folder };
        for name in ["files", "root", "image"] {
            let path = shop.path(name);
            fs::create_dir_all(&path).map_err(ImageError::io("create folder", &path))?;
        }
        Ok(shop)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Lays out the definition's files as they go into the new system, and beside them the scripts of its setup and
    /// the kernel's command line that they may read. Scripts may be executed, nothing else.
    pub(crate) fn stage(&self, guest: &GuestDefinition) -> Result<(), ImageError> {
        let files = guest.files.iter().map(|(path, content)| (path.clone(), content));
        let setups = (0..).zip(&guest.setups).map(|(n, script)| (format!(".crossvisor/setup-{n}"), script));
        let cmdline = (".crossvisor/cmdline".to_string(), guest.boot.cmdline.as_bytes());
        let all = files.chain(setups).map(|(name, content)| (name, content.as_slice())).chain([cmdline]);
        for (name, content) in all {
            let path = self.path("files").join(name);
            let mode = if content.starts_with(b"#!") { 0o755 } else { 0o644 };
            write(&path, content).map_err(ImageError::io("write", &path))?;
            fs::set_permissions(&path, Permissions::from_mode(mode))
                .map_err(ImageError::io("write", &path))?;
        }
        Ok(())
    }

    /// From the folder to a sparse disk, with the kernel and its initrd beside it.
    pub(crate) fn make_disk(&self, guest: &GuestDefinition, watch: &mut Watch<'_>) -> Result<(), ImageError> {
        let disk = self.path("image").join(ROOT);
        let file = File::create(&disk).map_err(ImageError::io("create", &disk))?;
        file.set_len(guest.disk.size.0).map_err(ImageError::io("size", &disk))?;
        let mut mke2fs = as_root("mke2fs");
        // All tables are written now: the guest's kernel must not do it while something is measured.
        mke2fs.args(["-q", "-t", "ext4", "-m", "0", "-i", "32768", "-J", "size=16"]);
        mke2fs.args(["-E", "lazy_itable_init=0,lazy_journal_init=0", "-L", &guest.disk.label, "-d", "root"]);
        watch.tell(FILE_SYSTEM, "write the file system".into(), Some(0.96))?;
        run(mke2fs.arg(&disk), &self.folder, FILE_SYSTEM, watch, &|_| None)?;
        let mut dig = command("fallocate");
        run(dig.arg("--dig-holes").arg(&disk), &self.folder, FILE_SYSTEM, watch, &|_| None)?;
        for (start, name) in [("vmlinuz-", KERNEL), ("initrd.img-", INITRD)] {
            let from = self.newest(start)?;
            let to = self.path("image").join(name);
            fs::copy(&from, &to).map_err(ImageError::io("copy", &from))?;
            fs::set_permissions(&to, Permissions::from_mode(0o644)).map_err(ImageError::io("write", &to))?;
        }
        let Some(multiboot) = &guest.boot.multiboot else { return Ok(()) };
        let inside = multiboot.kernel.strip_prefix("/").unwrap_or(&multiboot.kernel);
        multiboot::unpack(&self.path("root").join(inside), &self.path("image").join(MULTIBOOT))
    }

    /// The file in /boot whose name starts so and is the last in order.
    fn newest(&self, start: &'static str) -> Result<PathBuf, ImageError> {
        let boot = self.path("root/boot");
        let entries = boot.read_dir().map_err(ImageError::io("read folder", &boot))?;
        let paths = entries.flatten().map(|entry| entry.path());
        let named = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(start));
        paths.filter(named).max().ok_or(ImageError::NoKernel(start.trim_end_matches('-')))
    }

    /// Writes down what the image is, makes all of it durable, and puts it where images are looked for.
    pub(crate) fn finish(&self, guest: &GuestDefinition, target: &Path) -> Result<(), ImageError> {
        let image = self.path("image");
        let facts = self.facts(guest)?;
        let path = image.join(FACTS);
        let text = serde_json::to_vec_pretty(&facts).map_err(|e| ImageError::io("write", &path)(e.into()))?;
        fs::write(&path, text).map_err(ImageError::io("write", &path))?;
        let multiboot = facts.multiboot_bytes.map(|_| MULTIBOOT);
        for name in [ROOT, KERNEL, INITRD, FACTS, "."].into_iter().chain(multiboot) {
            sync(&image.join(name))?;
        }
        remove(target).map_err(ImageError::io("remove the broken image", target))?;
        fs::rename(&image, target).map_err(ImageError::io("put in place", target))?;
        target.parent().map_or(Ok(()), sync)
    }

    fn facts(&self, guest: &GuestDefinition) -> Result<ImageFacts, ImageError> {
        let size = |name: &str| {
            let path = self.path("image").join(name);
            fs::metadata(&path).map_err(ImageError::io("look at", &path))
        };
        let (root, kernel) = (size(ROOT)?, self.newest("vmlinuz-")?);
        let kernel = kernel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let status = self.path("root/var/lib/dpkg/status");
        let status = fs::read_to_string(&status).map_err(ImageError::io("read", &status))?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(ImageFacts {
            guest: guest.name.to_string(),
            definition: guest.hash.clone(),
            kernel: kernel.trim_start_matches("vmlinuz-").into(),
            versions: versions(&status, &guest.build.packages),
            root_bytes: root.len(),
            root_allocated_bytes: root.blocks() * 512,
            kernel_bytes: size(KERNEL)?.len(),
            initrd_bytes: size(INITRD)?.len(),
            multiboot_bytes: guest
                .boot
                .multiboot
                .as_ref()
                .map(|_| size(MULTIBOOT))
                .transpose()?
                .map(|m| m.len()),
            built_unix_s: now.as_secs(),
        })
    }
}

/// The versions of `packages` in a dpkg status file.
fn versions(status: &str, packages: &[String]) -> BTreeMap<String, String> {
    let field = |entry: &str, name: &str| {
        entry.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_string())
    };
    let entries = status.split("\n\n").filter_map(|e| Some((field(e, "Package:")?, field(e, "Version:")?)));
    entries.filter(|(name, _)| packages.contains(name)).collect()
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)
}

fn sync(path: &Path) -> Result<(), ImageError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(ImageError::io("make durable", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_named_packages() {
        let status = "Package: bash\nStatus: install ok installed\nVersion: 5.2-1\nDescription: x\n Version: no\n\n\
            Package: iperf3\nVersion: 3.12-1+deb12u1\n\nPackage: bash-doc\nVersion: 9\n";
        let found = versions(status, &["iperf3".into(), "bash".into(), "fio".into()]);
        let pairs: Vec<_> = found.iter().map(|(name, version)| (name.as_str(), version.as_str())).collect();
        assert_eq!(pairs, [("bash", "5.2-1"), ("iperf3", "3.12-1+deb12u1")]);
    }

    #[test]
    fn files_go_in_with_modes_that_do_not_depend_on_the_checkout_and_nothing_stays_behind() {
        let folder = tempfile::tempdir().expect("folder");
        let guest = crate::GuestLibrary::default().get("debian-12").expect("guest");
        let place = folder.path().join("building");
        fs::create_dir_all(place.join("image/left")).expect("left by another build");
        let shop = Workshop::open(place.clone()).expect("shop");
        assert!(!place.join("image/left").exists());
        shop.stage(&guest).expect("stage");
        let mode = |name: &str| fs::metadata(place.join("files").join(name)).map(|m| m.mode() & 0o777).ok();
        assert_eq!(mode(".crossvisor/setup-0"), Some(0o755));
        assert_eq!(mode("etc/initramfs-tools/scripts/init-bottom/crossvisor-identity"), Some(0o755));
        assert_eq!(mode("etc/systemd/network/50-dhcp.network"), Some(0o644));
        assert_eq!(mode("guest.yaml"), None);
        let cmdline = fs::read_to_string(place.join("files/.crossvisor/cmdline")).expect("command line");
        assert_eq!(cmdline, guest.boot.cmdline);
        drop(shop);
        assert!(!place.exists());
    }
}
