//! Builds the image of a definition from the distribution's mirror, without mounting anything.
//!
//! Owns the order of a build, its lock, and the packages. It must never pass a word of a definition to a shell.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::tool::{Watch, as_root, command, is_root, need, run};
use crate::wheels;
use crate::workshop::{self, Workshop};
use crate::{GuestDefinition, Image, ImageError, Progress, cached};

const PACKAGES: &str = "download and install packages";
const UNPACK: &str = "unpack the new system";

/// Programs of a build, and Debian's packages of them.
const PROGRAMS: [(&str, &str); 4] =
    [("mmdebstrap", "mmdebstrap"), ("mke2fs", "e2fsprogs"), ("tar", "tar"), ("fallocate", "util-linux")];
/// Those that a normal user needs besides.
const USER_PROGRAMS: [(&str, &str); 2] = [("unshare", "util-linux"), ("newuidmap", "uidmap")];

/// What mmdebstrap says when it starts a part, and the share of a build that is then done.
const PARTS: [(&str, f64); 6] = [
    ("I: downloading packages", 0.05),
    ("I: extracting archives", 0.10),
    ("I: installing essential", 0.15),
    ("I: installing remaining", 0.30),
    ("I: cleaning package lists", 0.88),
    ("I: creating tarball", 0.90),
];

/// Gives the image of a definition: the cached one, or a new one. Two builds of one definition do not disturb each
/// other: the second waits and takes what the first made. `cancelled` is asked often and ends the build.
///
/// # Errors
/// [`ImageError`] when a program is missing or fails, the disk does not take the image, or the build is cancelled;
/// nothing of it is then left.
pub fn build(
    guest: &GuestDefinition,
    cache: &Path,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<Image, ImageError> {
    if let Some(image) = cached(guest, cache) {
        return Ok(image);
    }
    let user = USER_PROGRAMS.iter().filter(|_| !is_root());
    for (program, package) in PROGRAMS.iter().chain(user) {
        need(program, package)?;
    }
    let mut watch = Watch { progress, cancelled };
    fs::create_dir_all(cache).map_err(ImageError::io("create folder", cache))?;
    let _lock = lock(&cache.join(format!(".{}.lock", guest.key())), &mut watch)?;
    if let Some(image) = cached(guest, cache) {
        return Ok(image);
    }
    let shop = Workshop::open(cache.join(format!(".{}.building", guest.key())))?;
    shop.stage(guest)?;
    wheels::fetch(&guest.build.wheels, shop.folder(), &mut watch)?;
    install(&shop, guest, &mut watch)?;
    shop.make_disk(guest, &mut watch)?;
    shop.finish(guest, &cache.join(guest.key()))?;
    watch.tell("done", format!("image of {}", guest.name), Some(1.0))?;
    cached(guest, cache).ok_or_else(|| ImageError::Io {
        action: "find again the new image",
        path: cache.join(guest.key()),
        source: io::ErrorKind::InvalidData.into(),
    })
}

/// Folders that killed builds left in the cache; `dry_run` leaves them there. One whose build is under way is not
/// among them.
///
/// # Errors
/// [`ImageError::Io`] when one cannot be removed.
pub fn sweep(cache: &Path, dry_run: bool) -> Result<Vec<PathBuf>, ImageError> {
    let entries = cache.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut left = Vec::new();
    for folder in entries.filter(|path| path.extension().is_some_and(|extension| extension == "building")) {
        let path = folder.with_extension("lock");
        let file = File::create(&path).map_err(ImageError::io("open lock", &path))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        if !dry_run {
            workshop::remove(&folder).map_err(ImageError::io("remove", &folder))?;
        }
        left.push(folder);
    }
    Ok(left)
}

/// Held until it is dropped; the file stays, because removing it would let two builds hold it.
fn lock(path: &Path, watch: &mut Watch<'_>) -> Result<File, ImageError> {
    let file = File::create(path).map_err(ImageError::io("create lock", path))?;
    let mut told = false;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(error) => return Err(ImageError::io("lock", path)(error.into())),
        }
        if (watch.cancelled)() {
            return Err(ImageError::Interrupted);
        }
        if !told {
            watch.tell("wait", "another build of this image is under way".into(), None)?;
            told = true;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// From the mirror to a folder with the whole root file system.
fn install(shop: &Workshop, guest: &GuestDefinition, watch: &mut Watch<'_>) -> Result<(), ImageError> {
    let here = shop.folder();
    let nothing = |_: &str| None;
    let mut pack = command("tar");
    pack.args(["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    pack.args(["-C", "files", "-cf", "files.tar", "."]);
    run(&mut pack, here, PACKAGES, watch, &nothing)?;
    let share = |line: &str| PARTS.iter().find(|(part, _)| line.starts_with(part)).map(|(_, done)| *done);
    run(&mut mmdebstrap(guest, here), here, PACKAGES, watch, &share)?;
    let mut unpack = as_root("tar");
    unpack.args(["-C", "root", "--numeric-owner", "--exclude=./dev/*", "-xf", "root.tar"]);
    watch.tell(UNPACK, "start".into(), Some(0.93))?;
    run(&mut unpack, here, UNPACK, watch, &nothing)
}

/// The new system as `root.tar`. Hooks are constant texts; what differs comes as whole arguments.
fn mmdebstrap(guest: &GuestDefinition, folder: &Path) -> Command {
    let build = &guest.build;
    let mut command = if is_root() && root_is_a_mount() {
        // What it mounts for the scripts of packages is gone with it, even when it is killed. For an ordinary user it
        // makes namespaces itself.
        let mut command = command("unshare");
        command.args(["--mount", "--propagation=private", "--", "mmdebstrap"]);
        command
    } else {
        command("mmdebstrap")
    };
    if is_root() {
        // What else it leaves goes with the build's folder, into which an ordinary user's namespaces have no way.
        command.env("TMPDIR", folder);
    }
    command.args([if is_root() { "--mode=root" } else { "--mode=unshare" }, "--variant=minbase"]);
    command.args(["--format=tar", "--verbose"]);
    command.args(build.packages.iter().map(|package| format!("--include={package}")));
    command.args(build.exclude.iter().map(|path| format!("--dpkgopt=path-exclude={path}")));
    command.args(build.keep.iter().map(|path| format!("--dpkgopt=path-include={path}")));
    command.args(proxies().iter().map(|line| format!("--aptopt={line}")));
    command.arg("--essential-hook=tar-in files.tar /");
    command.args(
        (0..guest.setups.len()).map(|n| format!(r#"--customize-hook=chroot "$1" /.crossvisor/setup-{n}"#)),
    );
    command.arg(r#"--customize-hook=rm -rf "$1/.crossvisor""#);
    command.args([build.suite.as_str(), "root.tar", &build.mirror]);
    command
}

/// Whether this process's root folder is a mount point: only then can its mounts be kept apart. In a plain chroot it
/// is not.
fn root_is_a_mount() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(4) == Some("/"))
}

/// The proxies that apt on this machine uses, as lines of its configuration; none where there is no apt.
fn proxies() -> Vec<String> {
    let dump = command("apt-config").args(["dump", "--no-empty", "Acquire"]).output();
    let dump = dump.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    dump.lines().filter(|line| line.contains("::Proxy")).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_builds_left_is_swept_and_what_is_under_way_is_not() {
        let cache = tempfile::tempdir().expect("folder");
        let folder = |name: &str| cache.path().join(name);
        for name in [".a-1.building", ".b-2.building", "c-3"] {
            std::fs::create_dir(folder(name)).expect("folder");
        }
        let held = File::create(folder(".b-2.lock")).expect("lock");
        flock(&held, FlockOperation::NonBlockingLockExclusive).expect("held");
        assert_eq!(sweep(cache.path(), true).expect("dry"), [folder(".a-1.building")]);
        assert_eq!(sweep(cache.path(), false).expect("swept"), [folder(".a-1.building")]);
        let there = |name: &str| folder(name).is_dir();
        assert!(!there(".a-1.building") && there(".b-2.building") && there("c-3"));
    }

    #[test]
    fn a_second_build_waits_for_the_lock_and_can_be_told_to_stop() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("lock");
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) > 2;
        let first = lock(&path, &mut Watch { progress: &mut |_| (), cancelled: &stop }).expect("free");
        let mut told = Vec::new();
        let mut progress = |p: Progress| told.push(p.stage);
        let second = lock(&path, &mut Watch { progress: &mut progress, cancelled: &stop });
        assert!(matches!(second, Err(ImageError::Interrupted)));
        drop(first);
        assert!(lock(&path, &mut Watch { progress: &mut |_| (), cancelled: &|| false }).is_ok());
        assert_eq!(told, ["wait"]);
    }
}
