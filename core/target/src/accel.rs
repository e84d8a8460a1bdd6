//! Is KVM usable here? Never assumed: `/dev/kvm` can exist, open, and still run nothing.
//!
//! Owns a 512-byte boot sector that works for a moment and ends the emulator with a known exit code. It must never
//! start anything else.

use std::path::Path;
use std::time::{Duration, Instant};

use crossvisor_model::{Exec, Place};

use crate::{Cancel, Machine, TargetError};

/// What a working KVM needs at most on a machine that is not emulated itself: well under a second for the boot ROM and
/// the sector.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// What all around it may take on a machine that is slow to answer.
const AROUND: Duration = Duration::from_secs(60);
/// How `timeout` of the GNU coreutils ends when it had to kill.
const KILLED: i32 = 128 + 9;

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

/// Boots a sector under KVM on a machine and sees whether it runs within `patience`. `folder` of the machine takes a
/// 512-byte file for the time.
///
/// # Errors
/// [`TargetError`] when the machine does not answer, the sector cannot be written, or the run is interrupted; everything
/// else is an answer.
pub fn probe(
    machine: &dyn Machine,
    emulator: &Path,
    folder: &Path,
    cancel: &Cancel,
    patience: Duration,
) -> Result<Kvm, TargetError> {
    let there = Exec::new(Place::Host, ["test", "-e", "/dev/kvm"], AROUND.as_secs_f64());
    if machine.run(&there, cancel)?.exit != Some(0) {
        return Ok(Kvm::Unusable("/dev/kvm is missing".into()));
    }
    boot(machine, emulator, "kvm", folder, cancel, patience)
}

fn boot(
    machine: &dyn Machine,
    emulator: &Path,
    accel: &str,
    folder: &Path,
    cancel: &Cancel,
    patience: Duration,
) -> Result<Kvm, TargetError> {
    let sector = folder.join("kvm-probe.img");
    machine.put(&boot_sector(), &sector, "600", Instant::now() + AROUND)?;
    let answer = run(machine, emulator, accel, &sector, cancel, patience);
    let remove = Exec::new(Place::Host, ["rm", "-f", "--", &sector.to_string_lossy()], AROUND.as_secs_f64());
    // Also after an interrupt.
    let removed = machine.run(&remove, &Cancel::default());
    answer.and_then(|answer| removed.map(|_| answer))
}

fn run(
    machine: &dyn Machine,
    emulator: &Path,
    accel: &str,
    sector: &Path,
    cancel: &Cancel,
    patience: Duration,
) -> Result<Kvm, TargetError> {
    let (seconds, emulator) = (patience.as_secs_f64().to_string(), emulator.to_string_lossy());
    let drive = format!("file={},format=raw,if=ide,snapshot=on", sector.display());
    // The machine itself ends the emulator: a connection that is given up would leave it running.
    let argv = ["timeout", "--foreground", "-s", "KILL", &seconds, &emulator, "-accel", accel]
        .into_iter()
        .chain("-machine pc -m 32 -nodefaults -display none".split(' '))
        .chain(["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-drive", &drive]);
    let ended = machine.run(&Exec::new(Place::Host, argv, (patience + AROUND).as_secs_f64()), cancel)?;
    Ok(match ended.exit {
        Some(EXIT) => Kvm::Usable,
        Some(KILLED) => Kvm::Unusable(format!(
            "/dev/kvm is there, but a small program did not get through in it within {seconds} s"
        )),
        _ => {
            let words = ended.stderr.lines().next().unwrap_or("the emulator ended without a word");
            Kvm::Unusable(format!("/dev/kvm does not work: {words}"))
        }
    })
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
    use crate::Local;

    fn emulate(patience: Duration) -> Kvm {
        let folder = tempfile::tempdir().expect("folder");
        let emulator = Path::new("qemu-system-x86_64");
        let answer = boot(&Local, emulator, "tcg", folder.path(), &Cancel::default(), patience);
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
        answer.expect("an answer")
    }

    /// Emulation runs the sector to its end: a KVM that does not is not usable.
    #[test]
    fn the_boot_sector_runs_to_its_end() {
        assert_eq!(emulate(Duration::from_secs(60)), Kvm::Usable);
    }

    #[test]
    fn a_sector_that_does_not_get_through_in_time_is_ended() {
        let answer = emulate(Duration::from_millis(1));
        assert!(matches!(&answer, Kvm::Unusable(why) if why.contains("0.001 s")), "{answer}");
    }
}
