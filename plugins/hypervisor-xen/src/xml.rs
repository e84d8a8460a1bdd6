//! The domain XML of a variant: <https://libvirt.org/drvxen.html>.
//!
//! Owns every element and attribute that is written beyond a domain's head. It must never leave a value unescaped.

use std::io::Error;

use crossvisor_plugin::Failure;
use crossvisor_plugin::domain_xml::{self, Xml, empty, parent, text};
use crossvisor_plugin::model::{DomainSpec, VolumeSource};

use crate::disk::Disk;
use crate::variant::{Loader, Mode};
use crossvisor_plugin::cpus::Placement;

/// GRUB as a PV kernel, where Debian's grub-xen-host has it. It looks for its configuration on the guest's disks.
pub const PVGRUB: &str = "/usr/lib/grub-xen/grub-x86_64-xen.bin";

/// How a domain comes up.
#[derive(Clone, Copy)]
pub struct Start {
    pub mode: Mode,
    /// None: the kernel and initrd of the description.
    pub loader: Option<Loader>,
}

/// The XML of a domain on `bridge`.
///
/// # Errors
/// [`Failure`] when it cannot be written.
pub fn domain(
    start: Start,
    spec: &DomainSpec,
    disks: &[Disk],
    bridge: &str,
    placement: Option<&Placement>,
) -> Result<String, Failure> {
    let mode = start.mode;
    domain_xml::domain(&[("type", "xen")], spec, |xml| {
        vcpus(xml, spec.vcpus, placement)?;
        boot(xml, start, spec)?;
        features(xml, mode)?;
        text(xml, "on_poweroff", &[], "destroy")?;
        text(xml, "on_crash", &[], "destroy")?;
        parent(xml, "devices", &[], |xml| {
            for (index, disk) in (0u8..).zip(disks) {
                write_disk(xml, mode, disk, index)?;
            }
            interface(xml, mode, spec, bridge)?;
            console(xml, mode, spec)
        })
    })
}

fn vcpus(xml: &mut Xml, vcpus: u32, placement: Option<&Placement>) -> Result<(), Error> {
    let Some(placement) = placement else {
        return text(xml, "vcpu", &[], &vcpus.to_string());
    };
    text(xml, "vcpu", &[("cpuset", &placement.all)], &vcpus.to_string())?;
    parent(xml, "cputune", &[], |xml| {
        placement.each.iter().enumerate().try_for_each(|(vcpu, cpus)| {
            empty(xml, "vcpupin", &[("vcpu", &vcpu.to_string()), ("cpuset", cpus)])
        })
    })
}

fn boot(xml: &mut Xml, Start { mode, loader }: Start, spec: &DomainSpec) -> Result<(), Error> {
    let (machine, kind) = match mode {
        Mode::Pv => ("xenpv", "linux"),
        Mode::Pvh => ("xenpvh", "xenpvh"),
        Mode::HvmEmulated | Mode::HvmPv => ("xenfv", "hvm"),
    };
    if loader == Some(Loader::Pygrub) {
        text(xml, "bootloader", &[], "pygrub")?;
        // It shows no menu.
        text(xml, "bootloader_args", &[], "-q")?;
    }
    parent(xml, "os", &[], |xml| {
        text(xml, "type", &[("arch", "x86_64"), ("machine", machine)], kind)?;
        match loader {
            Some(Loader::Pygrub) => return Ok(()),
            Some(Loader::Pvgrub) => return text(xml, "kernel", &[], PVGRUB),
            None => {}
        }
        text(xml, "kernel", &[], &spec.kernel.to_string_lossy())?;
        text(xml, "initrd", &[], &spec.initrd.to_string_lossy())?;
        text(xml, "cmdline", &[], &format!("{} {}", spec.cmdline, mode.kernel_arguments()))
    })
}

fn features(xml: &mut Xml, mode: Mode) -> Result<(), Error> {
    let features: &[&str] = match mode {
        Mode::Pv => return Ok(()),
        Mode::Pvh => &["acpi"],
        Mode::HvmEmulated | Mode::HvmPv => &["acpi", "apic", "pae"],
    };
    parent(xml, "features", &[], |xml| features.iter().try_for_each(|feature| empty(xml, feature, &[])))
}

fn write_disk(xml: &mut Xml, mode: Mode, disk: &Disk, index: u8) -> Result<(), Error> {
    let (kind, attribute, path) = match &disk.used.source {
        VolumeSource::File(path) => ("file", "file", path),
        VolumeSource::Block(path) => ("block", "dev", path),
    };
    let (prefix, bus) = if mode.is_hvm() { ("hd", "ide") } else { ("xvd", "xen") };
    let device = format!("{prefix}{}", char::from(b'a' + index));
    parent(xml, "disk", &[("type", kind), ("device", "disk")], |xml| {
        empty(xml, "driver", &[("name", disk.driver), ("type", &disk.used.format)])?;
        empty(xml, "source", &[(attribute, &path.to_string_lossy())])?;
        empty(xml, "target", &[("dev", &device), ("bus", bus)])
    })
}

fn interface(xml: &mut Xml, mode: Mode, spec: &DomainSpec, bridge: &str) -> Result<(), Error> {
    parent(xml, "interface", &[("type", "bridge")], |xml| {
        empty(xml, "mac", &[("address", &spec.mac)])?;
        empty(xml, "source", &[("bridge", bridge)])?;
        // An HVM guest finds the PV card beside it.
        if mode.is_hvm() { empty(xml, "model", &[("type", "e1000")]) } else { Ok(()) }
    })
}

/// The device model writes an HVM guest's serial line to a file; a PV console is a pseudo-terminal that xenconsoled
/// records.
fn console(xml: &mut Xml, mode: Mode, spec: &DomainSpec) -> Result<(), Error> {
    if mode.is_hvm() {
        return parent(xml, "serial", &[("type", "file")], |xml| {
            empty(xml, "source", &[("path", &spec.console_log.to_string_lossy())])?;
            empty(xml, "target", &[("port", "0")])
        });
    }
    parent(xml, "console", &[("type", "pty")], |xml| empty(xml, "target", &[("type", "xen"), ("port", "0")]))
}
