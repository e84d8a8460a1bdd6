//! How a clone gets its identity: a small archive in front of the image's own initrd, or on a disk of its own.
//!
//! Owns the newc archive that the kernel, or the initrd, unpacks. It must never mount or change an image. The archive
//! goes in front because some of the kernel's decompressors take all that follows a compressed archive for a part of
//! it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::{Identity, ImageError};

const FOLDER: u32 = 0o040_700;
const FILE: u32 = 0o100_600;
/// An identity disk is a whole number of these, in bytes: a kernel that looks for partitions reads so far, and complains
/// when it cannot.
const BLOCK: usize = 64 << 10;

/// Writes to `out` (mode 0600, as it holds a private key) an initrd that is `base` and makes its guest `identity`.
///
/// # Errors
/// [`ImageError::Io`] when a file cannot be read or written; `out` is then not whole.
pub fn seed_initrd(base: &Path, identity: &Identity, out: &Path) -> Result<(), ImageError> {
    let mut from = File::open(base).map_err(ImageError::io("read initrd", base))?;
    let mut options = OpenOptions::new();
    let mut to = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(out)
        .map_err(ImageError::io("create initrd", out))?;
    to.write_all(&identity_archive(identity)).map_err(ImageError::io("write initrd", out))?;
    io::copy(&mut from, &mut to).map_err(ImageError::io("write initrd", out))?;
    Ok(())
}

/// What goes in front of an initrd to make its guest `identity`: the identity's files under `crossvisor/identity`, a
/// multiple of four bytes long. It holds a private key.
#[must_use]
pub fn identity_archive(identity: &Identity) -> Vec<u8> {
    let mut archive = Vec::new();
    let line = |text: &str| format!("{}\n", text.trim_end());
    let files = [
        ("hostname", line(&identity.hostname)),
        ("machine-id", line(&identity.machine_id)),
        ("ssh_host_ed25519_key", identity.host_key.clone()),
        ("ssh_host_ed25519_key.pub", line(&identity.host_key_public)),
        ("authorized_keys", line(&identity.authorized_key)),
    ];
    entry(&mut archive, 1, "crossvisor", FOLDER, b"");
    entry(&mut archive, 2, "crossvisor/identity", FOLDER, b"");
    for (inode, (name, content)) in (3..).zip(&files) {
        entry(&mut archive, inode, &format!("crossvisor/identity/{name}"), FILE, content.as_bytes());
    }
    entry(&mut archive, 0, "TRAILER!!!", 0, b"");
    archive
}

/// A raw disk that makes its guest `identity` where its initrd comes out of its image: the archive, and zeros up to
/// whole blocks. It holds a private key.
#[must_use]
pub fn identity_disk(identity: &Identity) -> Vec<u8> {
    let mut disk = identity_archive(identity);
    disk.resize(disk.len().next_multiple_of(BLOCK), 0);
    disk
}

/// One newc entry owned by root: a header of hexadecimal fields, the name, the content, each padded to four bytes.
fn entry(archive: &mut Vec<u8>, inode: u32, name: &str, mode: u32, content: &[u8]) {
    let links = if mode == FOLDER { 2 } else { 1 };
    let (size, name_size) = (content.len(), name.len() + 1);
    let header = format!(
        "070701{inode:08x}{mode:08x}{owner:08x}{owner:08x}{links:08x}{time:08x}{size:08x}\
         {device:08x}{device:08x}{device:08x}{device:08x}{name_size:08x}{check:08x}",
        owner = 0,
        time = 0,
        device = 0,
        check = 0,
    );
    for part in [[header.as_bytes(), name.as_bytes(), b"\0"].concat().as_slice(), content] {
        archive.extend_from_slice(part);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn identity() -> Identity {
        Identity {
            hostname: "clone-1".into(),
            machine_id: "0123456789abcdef0123456789abcdef".into(),
            host_key: "PRIVATE\n".into(),
            host_key_public: "ssh-ed25519 AAAA clone-1".into(),
            authorized_key: "ssh-ed25519 BBBB run".into(),
        }
    }

    /// Reads a newc archive: name, mode and content of each entry up to the trailer.
    fn read(mut bytes: &[u8]) -> Vec<(String, u32, String)> {
        let mut found = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |i: usize| {
                let text = std::str::from_utf8(&bytes[6 + 8 * i..14 + 8 * i]).expect("text");
                u32::from_str_radix(text, 16).expect("hexadecimal")
            };
            let (mode, size, name_size) = (field(1), field(6) as usize, field(11) as usize);
            let name = String::from_utf8(bytes[110..109 + name_size].to_vec()).expect("name");
            let start = (110 + name_size).next_multiple_of(4);
            let content = String::from_utf8(bytes[start..start + size].to_vec()).expect("content");
            if name == "TRAILER!!!" {
                return found;
            }
            found.push((name, mode, content));
            bytes = &bytes[(start + size).next_multiple_of(4)..];
        }
    }

    #[test]
    fn the_archive_holds_the_identity_for_root_alone() {
        let entries = read(&identity_archive(&identity()));
        let names: Vec<_> =
            entries.iter().map(|(name, ..)| name.trim_start_matches("crossvisor/identity")).collect();
        assert_eq!(
            names,
            [
                "crossvisor",
                "",
                "/hostname",
                "/machine-id",
                "/ssh_host_ed25519_key",
                "/ssh_host_ed25519_key.pub",
                "/authorized_keys"
            ]
        );
        assert!(entries[2..].iter().all(|(_, mode, _)| *mode == 0o100_600));
        assert_eq!(entries[2].2, "clone-1\n");
        assert_eq!(entries[4].2, "PRIVATE\n");
        assert_eq!(entries[6].2, "ssh-ed25519 BBBB run\n");
    }

    #[test]
    fn the_disk_is_the_archive_in_whole_blocks_and_starts_as_the_initrd_looks_for_it() {
        let (archive, disk) = (identity_archive(&identity()), identity_disk(&identity()));
        assert_eq!(disk.len(), 65536);
        assert_eq!(disk[..archive.len()], archive);
        assert!(disk[archive.len()..].iter().all(|byte| *byte == 0));
        assert_eq!((&disk[..6], &disk[110..120]), (&b"070701"[..], &b"crossvisor"[..]));
        let long = Identity { authorized_key: "k".repeat(65536), ..identity() };
        assert_eq!(identity_disk(&long).len(), 131_072);
    }

    #[test]
    fn the_base_follows_unchanged_at_a_multiple_of_four() {
        let folder = tempfile::tempdir().expect("folder");
        let (base, out) = (folder.path().join("base"), folder.path().join("out"));
        std::fs::write(&base, b"\x02\x21\x4c\x18rest").expect("base");
        for _ in 0..2 {
            seed_initrd(&base, &identity(), &out).expect("seed");
            let written = std::fs::read(&out).expect("out");
            let archive = identity_archive(&identity());
            assert_eq!(archive.len() % 4, 0);
            assert_eq!(written, [archive.as_slice(), b"\x02\x21\x4c\x18rest"].concat());
        }
        assert_eq!(out.metadata().expect("out").mode() & 0o777, 0o600);
        let missing = seed_initrd(&folder.path().join("none"), &identity(), &out).expect_err("no base");
        assert!(missing.to_string().contains("none"), "{missing}");
    }
}
