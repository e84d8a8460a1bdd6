//! Is KVM usable here? Never assumed: `/dev/kvm` can exist, open, and still run nothing.
//!
//! Owns a 512-byte boot sector that works for a moment and ends the emulator with a known exit code. It must never
//! start anything else.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Cancel, Local, Machine, TargetError};

/// A working KVM needs well under a second for the boot ROM and the sector.
const PATIENCE: Duration = Duration::from_secs(5);

/// Switches to 32-bit protected mode (what a guest's kernel runs in, and what no KVM that merely interprets
/// instructions gets through in time), counts 2^26 times, and leaves.
const CODE: [u8; 0x46] = [
    0xfa, // cli
    0x31, 0xc0, // xor ax, ax
    0x8e, 0xd8, // mov ds, ax
    0x0f, 0x01, 0x16, 0x40, 0x7c, // lgdt [0x7c40]
    0x0f, 0x20, 0xc0, // mov eax, cr0
    0x0c, 0x01, // or al, 1
    0x0f, 0x22, 0xc0, // mov cr0, eax
    0xea, 0x17, 0x7c, 0x08, 0x00, // jmp 0x08:0x7c17
    0xb9, 0x00, 0x00, 0x00, 0x04, // mov ecx, 1 << 26
    0x49, // dec ecx
    0x75, 0xfd, // jnz back to dec
    0x66, 0xba, 0xf4, 0x00, // mov dx, 0xf4
    0xb0, 0x15, // mov al, 0x15
    0xee, // out dx, al
    0xf4, 0xeb, 0xfd, // hlt, for ever
    0, 0, 0, 0, 0, 0, 0, // to 0x7c30
    0, 0, 0, 0, 0, 0, 0, 0, // descriptor 0: null
    0xff, 0xff, 0, 0, 0, 0x9a, 0xcf, 0, // descriptor 8: 4 GiB of code
    0x0f, 0x00, 0x30, 0x7c, 0x00, 0x00, // limit and base of the table
];
/// QEMU's `isa-debug-exit` ends with twice the written value plus one.
const EXIT: i32 = 0x15 * 2 + 1;

/// What KVM was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kvm {
    Usable,
    /// Why not, for people.
    Unusable(String),
}

impl std::fmt::Display for Kvm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usable => f.write_str("usable"),
            Self::Unusable(why) => f.write_str(why),
        }
    }
}

/// Boots a sector under KVM and sees whether it runs. `folder` takes a 512-byte file for the time.
///
/// # Errors
/// [`TargetError`] when the sector cannot be written or the run is interrupted; everything else is an answer.
pub fn probe(emulator: &Path, folder: &Path, cancel: &Cancel) -> Result<Kvm, TargetError> {
    let device = Path::new("/dev/kvm");
    if !device.exists() {
        return Ok(Kvm::Unusable("/dev/kvm is missing".into()));
    }
    let sector = folder.join("kvm-probe.img");
    std::fs::write(&sector, boot_sector()).map_err(TargetError::io(format!("write {}", sector.display())))?;
    let answer = boot(emulator, "kvm", &sector, cancel);
    std::fs::remove_file(&sector).map_err(TargetError::io(format!("remove {}", sector.display())))?;
    answer
}

fn boot(emulator: &Path, accel: &str, sector: &Path, cancel: &Cancel) -> Result<Kvm, TargetError> {
    let drive = format!("file={},format=raw,if=ide,snapshot=on", sector.display());
    let argv = [
        &emulator.to_string_lossy(),
        "-accel",
        accel,
        "-machine",
        "pc",
        "-m",
        "32",
        "-nodefaults",
        "-display",
        "none",
        "-device",
        "isa-debug-exit,iobase=0xf4,iosize=0x04",
        "-drive",
        &drive,
    ]
    .map(String::from);
    let deadline = Instant::now() + PATIENCE;
    let ended = Local.start(&argv, deadline)?.wait(deadline, cancel);
    match ended {
        Ok(ended) if ended.exit == Some(EXIT) => Ok(Kvm::Usable),
        Ok(ended) => {
            let words = String::from_utf8_lossy(&ended.stderr);
            let words = words.lines().next().unwrap_or("the emulator ended without a word");
            Ok(Kvm::Unusable(format!("/dev/kvm does not work: {words}")))
        }
        Err(TargetError::Deadline { .. }) => {
            let seconds = PATIENCE.as_secs();
            Ok(Kvm::Unusable(format!(
                "/dev/kvm is there, but a small program did not get through in it within {seconds} s"
            )))
        }
        Err(error) => Err(error),
    }
}

fn boot_sector() -> [u8; 512] {
    let mut sector = [0; 512];
    sector[..CODE.len()].copy_from_slice(&CODE);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emulation runs the sector to its end: a KVM that does not is not usable.
    #[test]
    fn the_boot_sector_runs_to_its_end() {
        let folder = tempfile::tempdir().expect("folder");
        let sector = folder.path().join("sector");
        std::fs::write(&sector, boot_sector()).expect("sector");
        let answer = boot(Path::new("qemu-system-x86_64"), "tcg", &sector, &Cancel::default());
        assert_eq!(answer.expect("an answer"), Kvm::Usable);
    }
}
