//! The domain XML of a variant: <https://libvirt.org/formatdomain.html>.
//!
//! Owns every element and attribute that is written. It must never decide whether a domain can be made.

use std::io::Error;
use std::path::Path;

use crossvisor_plugin::Failure;
use crossvisor_plugin::cpus::Placement;
use crossvisor_plugin::domain_xml::{Xml, domain as write, empty, parent, text};
use crossvisor_plugin::model::{Accel, DomainSpec, Network, Volume, VolumeSource};

use crate::Variant;
use crate::qemu;

const QEMU_NAMESPACE: &str = "http://libvirt.org/schemas/domain/qemu/1.0";

/// The XML of a domain that [`crate::refuse::refuse`] lets pass.
///
/// # Errors
/// [`Failure`] when it cannot be written.
pub fn domain(
    variant: &Variant,
    spec: &DomainSpec,
    placement: Option<&Placement>,
) -> Result<String, Failure> {
    let kind = if spec.accel == Accel::Kvm { "kvm" } else { "qemu" };
    write(&[("type", kind), ("xmlns:qemu", QEMU_NAMESPACE)], spec, |xml| {
        vcpus(xml, spec.vcpus, placement)?;
        boot(xml, spec)?;
        parent(xml, "features", &[], |xml| {
            empty(xml, "acpi", &[])?;
            empty(xml, "apic", &[])
        })?;
        if spec.accel == Accel::Kvm {
            empty(xml, "cpu", &[("mode", "host-passthrough")])?;
        }
        text(xml, "on_poweroff", &[], "destroy")?;
        text(xml, "on_crash", &[], "destroy")?;
        devices(xml, variant, spec)?;
        arguments(xml, &qemu::arguments(variant, spec))
    })
}

fn vcpus(xml: &mut Xml, vcpus: u32, placement: Option<&Placement>) -> Result<(), Error> {
    let count = vcpus.to_string();
    let Some(placement) = placement else { return text(xml, "vcpu", &[], &count) };
    text(xml, "vcpu", &[("cpuset", &placement.all)], &count)?;
    parent(xml, "cputune", &[], |xml| {
        placement.each.iter().enumerate().try_for_each(|(vcpu, cpus)| {
            empty(xml, "vcpupin", &[("vcpu", &vcpu.to_string()), ("cpuset", cpus)])
        })
    })
}

fn boot(xml: &mut Xml, spec: &DomainSpec) -> Result<(), Error> {
    parent(xml, "os", &[], |xml| {
        text(xml, "type", &[("arch", "x86_64"), ("machine", "pc")], "hvm")?;
        match &spec.multiboot {
            // Its modules, the guest's kernel and initrd, are among QEMU's arguments.
            Some(multiboot) => {
                text(xml, "kernel", &[], &multiboot.kernel.to_string_lossy())?;
                text(xml, "cmdline", &[], &multiboot.cmdline)
            }
            None => {
                text(xml, "kernel", &[], &spec.kernel.to_string_lossy())?;
                text(xml, "initrd", &[], &spec.initrd.to_string_lossy())?;
                text(xml, "cmdline", &[], &format!("{} console=ttyS0", spec.cmdline))
            }
        }
    })
}

fn devices(xml: &mut Xml, variant: &Variant, spec: &DomainSpec) -> Result<(), Error> {
    parent(xml, "devices", &[], |xml| {
        for (letter, volume) in ('a'..='z').zip(&spec.volumes) {
            disk(xml, variant, volume, letter)?;
        }
        if let Network::Bridge { bridge, .. } = &spec.network {
            card(xml, variant, bridge, &spec.mac)?;
        }
        empty(xml, "controller", &[("type", "usb"), ("model", "none")])?;
        console(xml, &spec.console_log)?;
        empty(xml, "memballoon", &[("model", "none")])?;
        parent(xml, "rng", &[("model", "virtio")], |xml| {
            text(xml, "backend", &[("model", "random")], "/dev/urandom")
        })
    })
}

fn disk(xml: &mut Xml, variant: &Variant, volume: &Volume, letter: char) -> Result<(), Error> {
    let (kind, attribute, path) = match &volume.source {
        VolumeSource::File(path) => ("file", "file", path),
        VolumeSource::Block(path) => ("block", "dev", path),
    };
    // `vda`, `sdb`, `hdc`
    let prefix = match variant.disk_bus {
        "virtio" => "vd",
        "ide" => "hd",
        _ => "sd",
    };
    parent(xml, "disk", &[("type", kind), ("device", "disk")], |xml| {
        let mut driver = vec![("name", "qemu"), ("type", volume.format.as_str())];
        driver.extend(volume.cache.as_deref().map(|mode| ("cache", mode)));
        driver.extend(volume.io.as_deref().map(|mode| ("io", mode)));
        empty(xml, "driver", &driver)?;
        empty(xml, "source", &[(attribute, &path.to_string_lossy())])?;
        empty(xml, "target", &[("dev", &format!("{prefix}{letter}")), ("bus", variant.disk_bus)])
    })
}

fn card(xml: &mut Xml, variant: &Variant, bridge: &str, mac: &str) -> Result<(), Error> {
    parent(xml, "interface", &[("type", "bridge")], |xml| {
        empty(xml, "mac", &[("address", mac)])?;
        empty(xml, "source", &[("bridge", bridge)])?;
        empty(xml, "model", &[("type", variant.nic_model)])?;
        empty(xml, "rom", &[("enabled", "no")])
    })
}

fn console(xml: &mut Xml, log: &Path) -> Result<(), Error> {
    parent(xml, "serial", &[("type", "file")], |xml| {
        empty(xml, "source", &[("path", &log.to_string_lossy())])?;
        empty(xml, "target", &[("port", "0")])
    })
}

fn arguments(xml: &mut Xml, arguments: &[String]) -> Result<(), Error> {
    if arguments.is_empty() {
        return Ok(());
    }
    parent(xml, "qemu:commandline", &[], |xml| {
        arguments.iter().try_for_each(|value| empty(xml, "qemu:arg", &[("value", value)]))
    })
}
