//! What works in a configuration, and is not what it seems.
//!
//! Owns those warnings. It must never change what was read.

use super::Mode;
use super::settings::Settings;
use crate::guest::{BootKind, OldGuest};
use crate::problem::{Place, quoted};

/// Tells of everything that a person should look at before the guest is compared with anything.
pub(super) fn warn(settings: &mut Settings, mode: Mode, guest: &OldGuest) {
    loader(settings, mode, guest);
    if mode != Mode::Hvm && guest.boot.order.is_some() {
        settings.warn("boot", "only HVM guests boot by 'boot': it has no effect here");
    }
    if guest.memory < guest.max_memory {
        let message = "the guest can grow while it runs: its results compare with nothing unless that is off";
        settings.warn("maxmem", message);
    }
    if let Some(disk) = guest.other_address_in_disk() {
        let target = quoted(&disk.target);
        let message =
            format!("the disk {target} bears another address than the guest's name: was the file copied?");
        settings.problems.warning(Place { line: disk.line, column: 0 }, message);
    }
}

fn loader(settings: &mut Settings, mode: Mode, guest: &OldGuest) {
    let boot = &guest.boot;
    if boot.kind == BootKind::Other && boot.loader.is_none() && mode != Mode::Hvm {
        let message = "the guest has neither kernel nor boot loader: xl refuses it";
        settings.problems.error(Place { line: 1, column: 0 }, message);
    }
    if boot.kind != BootKind::Pygrub {
        return;
    }
    if let Some(loader) = boot.loader.as_deref().filter(|loader| loader.contains('/')) {
        let loader = quoted(loader);
        settings.warn(
            "bootloader",
            &format!("newer Xen has no {loader}: 'pygrub' alone is found wherever it is"),
        );
    }
    if boot.kernel.is_some() || boot.initrd.is_some() {
        let message = "kernel and initrd come from the disk: 'kernel' and 'ramdisk' have no effect beside it";
        settings.warn("bootloader", message);
    }
    let root = guest.disks.iter().find(|disk| disk.is_disk());
    if let Some(disk) = root.filter(|disk| disk.device.ends_with(|c: char| c.is_ascii_digit())) {
        let device = quoted(&disk.device);
        let message = format!(
            "{device} is a partition by its name, and pygrub reads whole disks too: which of them is the image?"
        );
        settings.problems.warning(Place { line: disk.line, column: 0 }, message);
    }
}
