//! Is KVM usable here? Never assumed: `/dev/kvm` can exist, open, and still run nothing.
//!
//! Owns a 512-byte boot sector that ends the emulator with a known exit code. It must never start anything else.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::{Cancel, Local, Machine, TargetError};

/// A working KVM needs well under a second for the boot ROM and this sector.
const PATIENCE: Duration = Duration::from_secs(10);

/// 16-bit code: `mov dx, 0xf4; mov al, 0x15; out dx, al; hlt; jmp $-1`.
const CODE: [u8; 9] = [0xba, 0xf4, 0x00, 0xb0, 0x15, 0xee, 0xf4, 0xeb, 0xfd];
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
    let answer = boot(emulator, &sector, cancel);
    std::fs::remove_file(&sector).map_err(TargetError::io(format!("remove {}", sector.display())))?;
    answer
}

fn boot(emulator: &Path, sector: &Path, cancel: &Cancel) -> Result<Kvm, TargetError> {
    let drive = format!("file={},format=raw,if=ide,readonly=off,snapshot=on", sector.display());
    let argv = [
        &emulator.to_string_lossy(),
        "-accel",
        "kvm",
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
            Ok(Kvm::Unusable(format!("/dev/kvm is there, but a boot sector did not run in it within {seconds} s")))
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
