//! Domains that cannot be made as they are asked for.
//!
//! Owns the reasons. It must never change what is asked for.

use std::path::Path;

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::{Accel, DomainSpec};

use crate::Variant;

/// Disks that have one letter in their name.
const DISKS: usize = 26;
/// Disks that the emulated IDE controller has room for.
const IDE_DISKS: usize = 4;
/// What serves every volume here: QEMU itself, by the name that Xen has for it.
const BACKEND: &str = "qdisk";

/// # Errors
/// [`Failure`] for what QEMU cannot give the domain.
pub fn refuse(variant: &Variant, spec: &DomainSpec) -> Result<(), Failure> {
    if !matches!(spec.accel, Accel::Kvm | Accel::Tcg) {
        return Err(Failure::new(format!("hypervisor-kvm cannot run with accel '{}'", spec.accel)));
    }
    let most = if variant.disk_bus == "ide" { IDE_DISKS } else { DISKS };
    let volumes = spec.volumes.len();
    if volumes > most {
        let offer = variant.offer;
        return Err(Failure::new(format!(
            "{offer} has room for {most} disks, not for {volumes}: ask for fewer"
        )));
    }
    let backends = spec.volumes.iter().filter_map(|volume| volume.backend.as_deref());
    if let Some(backend) = backends.into_iter().find(|backend| *backend != BACKEND) {
        return Err(Failure::new(format!(
            "a volume's backend '{backend}' is Xen's: with QEMU leave it out, or say '{BACKEND}'"
        )));
    }
    if spec.multiboot.is_some() { multiboot(spec) } else { Ok(()) }
}

fn multiboot(spec: &DomainSpec) -> Result<(), Failure> {
    let spaced = |path: &&Path| path.to_string_lossy().contains(' ');
    if let Some(path) = [spec.kernel.as_path(), spec.initrd.as_path()].iter().find(|path| spaced(path)) {
        return Err(Failure::new(format!(
            "{} has a space in its path, where QEMU ends a module's name: put it into another folder",
            path.display()
        )));
    }
    if spec.accel == Accel::Tcg && spec.vcpus > 1 {
        return Err(Failure::new(format!(
            "an emulated guest that starts by multiboot has 1 vcpu, not {}: with more, QEMU's translator can lose a race \
             with a hypervisor that patches its own code, and the guest hangs",
            spec.vcpus
        )));
    }
    Ok(())
}
