//! What stands in for a guest: an SSH server with the guest's identity, where the program expects the guest's.
//!
//! Owns what is taken out of the emulator's arguments. The server's files lie beside the guest's own, in the run's
//! work folder.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The real one.
pub const EMULATOR: &str = "/usr/bin/qemu-system-x86_64";

/// In the guest, whose process identifiers, mounts and writable folders are its own.
const INSIDE: &str = "mount -t tmpfs none /usr/local/bin && mount -t tmpfs none /var/tmp && \
    mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec /usr/sbin/sshd -D -f \"$1\"";

/// The arguments that make a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// What the real emulator is told: firmware that does nothing, no kernel, no way to the guest.
    pub emulator: Vec<String>,
    initrd: PathBuf,
    /// The host's port that leads to the guest's SSH server.
    port: u16,
}

impl Arguments {
    /// `None` when the emulator is asked for something else than a guest with a way to it.
    #[must_use]
    pub fn of_guest(arguments: &[String]) -> Option<Self> {
        let initrd: PathBuf = value(arguments, "-initrd")?.into();
        let port = arguments.iter().find_map(|argument| forwarded(argument))?;
        let firmware = firmware_of(&initrd).display().to_string();
        let mut emulator = vec!["-bios".to_string(), firmware];
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "-kernel" | "-initrd" | "-append" => drop(rest.next()),
                _ => emulator.push(without_forwards(argument)),
            }
        }
        Some(Self { emulator, initrd, port })
    }
}

fn value<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == option)?;
    arguments.get(at + 1).map(String::as_str)
}

/// The host's port in `user,id=net0,hostfwd=tcp:127.0.0.1:40001-:22`.
fn forwarded(argument: &str) -> Option<u16> {
    let forward = argument.split(',').find_map(|part| part.strip_prefix("hostfwd=tcp:"))?;
    forward.strip_suffix("-:22")?.rsplit(':').next()?.parse().ok()
}

fn without_forwards(argument: &str) -> String {
    argument.split(',').filter(|part| !part.starts_with("hostfwd=")).collect::<Vec<_>>().join(",")
}

/// The folder of the server's files.
fn folder_of(initrd: &Path) -> PathBuf {
    initrd.with_extension("guest")
}

fn firmware_of(initrd: &Path) -> PathBuf {
    folder_of(initrd).join("firmware")
}

/// 64 KiB with `cli; hlt; jmp` to the `hlt` where the processor begins, 16 bytes before the end.
fn firmware() -> Vec<u8> {
    let mut rom = vec![0; 64 << 10];
    let start = rom.len() - 16;
    rom[start..start + 4].copy_from_slice(&[0xfa, 0xf4, 0xeb, 0xfd]);
    rom
}

/// Starts the SSH server, which ends with this process.
///
/// # Errors
/// When the guest's identity cannot be read or the server not be started.
pub fn start(asked: &Arguments) -> io::Result<()> {
    let folder = folder_of(&asked.initrd);
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    fs::write(firmware_of(&asked.initrd), firmware())?;
    let initrd = fs::read(&asked.initrd)?;
    for name in ["ssh_host_ed25519_key", "authorized_keys"] {
        let missing = || io::Error::other(format!("{} has no {name}", asked.initrd.display()));
        let content = entry(&initrd, &format!("crossvisor/identity/{name}")).ok_or_else(missing)?;
        fs::write(folder.join(name), content)?;
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600))?;
    }
    let config = folder.join("sshd_config");
    fs::write(&config, configuration(&folder, asked.port))?;
    Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--mount-proc", "--kill-child", "--"])
        .args(["sh", "-c", INSIDE, "sh"])
        .arg(config)
        .stdin(Stdio::null())
        .spawn()
        .map(drop)
}

fn configuration(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    // Without the start-up files of the user's own shell.
    format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/ssh_host_ed25519_key\n\
         AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nPidFile none\nUsePAM no\n\
         SetEnv HOME={folder}\n\
         PermitRootLogin prohibit-password\nMaxStartups 100\nMaxSessions 100\n"
    )
}

/// The content of a file of a newc archive (cpio(5)): a header of 6 + 13 × 8 characters, the name, the content, each
/// padded to four bytes.
fn entry<'a>(mut archive: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    loop {
        let field = |at: usize| {
            let text = archive.get(6 + 8 * at..14 + 8 * at)?;
            usize::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
        };
        let (size, name_size) = (field(6)?, field(11)?);
        let name = archive.get(110..110 + name_size.checked_sub(1)?)?;
        let start = (110 + name_size).next_multiple_of(4);
        match name {
            b"TRAILER!!!" => return None,
            _ if name == wanted.as_bytes() => return archive.get(start..start + size),
            _ => archive = archive.get((start + size).next_multiple_of(4)..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_image::{Identity, identity_archive};

    #[test]
    fn a_guest_keeps_its_devices_and_loses_firmware_kernel_and_forward() {
        let line = "-name guest=cv-1 -machine pc,accel=tcg -accel tcg -initrd /w/g.initrd -kernel k -append a \
                    -netdev user,id=net0,hostfwd=tcp:127.0.0.1:40001-:22 -device virtio-net-pci,netdev=net0";
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let asked = Arguments::of_guest(&words).expect("a guest");
        assert_eq!((asked.port, asked.initrd.to_str()), (40001, Some("/w/g.initrd")));
        assert_eq!(
            asked.emulator.join(" "),
            "-bios /w/g.guest/firmware -name guest=cv-1 -machine pc,accel=tcg -accel tcg -netdev user,id=net0 \
             -device virtio-net-pci,netdev=net0"
        );
        assert_eq!(Arguments::of_guest(&words[..5]), None);
    }

    #[test]
    fn the_identity_is_read_out_of_the_archive() {
        let identity = Identity::generate("cv-1", "ssh-ed25519 AAAA run").expect("identity");
        let archive = identity_archive(&identity);
        let read = |name: &str| entry(&archive, &format!("crossvisor/identity/{name}")).map(<[u8]>::to_vec);
        assert_eq!(read("ssh_host_ed25519_key"), Some(identity.host_key.into_bytes()));
        assert_eq!(read("authorized_keys"), Some(b"ssh-ed25519 AAAA run\n".to_vec()));
        assert_eq!(read("none"), None);
    }
}
