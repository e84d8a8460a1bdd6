//! What this machine accelerates, remembered until it boots again or gets another emulator.

use std::fs;
use std::path::Path;

use crossvisor_target::accel::{Kvm, PATIENCE, probe};
use crossvisor_target::{Cancel, Local, TargetError};
use serde::{Deserialize, Serialize};

use crate::Settings;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    /// What the answer holds for.
    machine: String,
    /// `None`: usable.
    unusable: Option<String>,
}

/// Whether KVM is usable, from memory where the machine has not changed since.
///
/// # Errors
/// [`TargetError`] when it cannot be tried.
pub fn kvm(settings: &Settings, cancel: &Cancel) -> Result<Kvm, TargetError> {
    let file = settings.state.join("kvm.json");
    let machine = machine(settings.emulator());
    if let Some(known) = recall(&file).filter(|known| known.machine == machine) {
        return Ok(known.unusable.map_or(Kvm::Usable, Kvm::Unusable));
    }
    let answer = probe(&Local, settings.emulator(), &settings.state, cancel, PATIENCE)?;
    let unusable = match &answer {
        Kvm::Usable => None,
        Kvm::Unusable(why) => Some(why.clone()),
    };
    if let Ok(text) = serde_json::to_string(&Remembered { machine, unusable }) {
        // Not remembered: it is tried again the next time.
        let _ = fs::write(&file, text);
    }
    Ok(answer)
}

fn recall(file: &Path) -> Option<Remembered> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}

/// This boot of this machine with this device and emulator.
fn machine(emulator: &Path) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let device = Path::new("/dev/kvm").exists();
    let modified = fs::metadata(emulator).and_then(|file| file.modified());
    format!("{} kvm={device} {} {modified:?}", boot.trim(), emulator.display())
}
