//! Hypervisor `kvm`: domains of libvirt's QEMU driver, by device model.
//!
//! Owns the table of variants and the order of steps. It must never talk to libvirt itself.

mod qemu;
mod refuse;
#[cfg(test)]
mod tests;
mod xml;

use crossvisor_plugin::model::{Action, Kind, Manifest, Name, NameError, Offer, Step};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{DefineInput, Failure, Hypervisor, Resume, Turn, cpus, finish};
use serde_json::Value;

/// The plugin.
pub struct Kvm;

crossvisor_plugin::plugin!(hypervisor_kvm, hypervisor, Kvm);

/// One device model of the guest.
struct Variant {
    offer: &'static str,
    summary: &'static str,
    /// libvirt's bus of the disk.
    disk_bus: &'static str,
    /// QEMU's device name of the network card.
    nic: &'static str,
    /// libvirt's name of the same.
    nic_model: &'static str,
}

const VARIANTS: [Variant; 4] = [
    Variant {
        offer: "kvm-virtio",
        summary: "virtio disk and network: the guest knows that it is one",
        disk_bus: "virtio",
        nic: "virtio-net-pci",
        nic_model: "virtio",
    },
    Variant {
        offer: "kvm-e1000",
        summary: "emulated Intel e1000 network card, virtio disk",
        disk_bus: "virtio",
        nic: "e1000",
        nic_model: "e1000",
    },
    Variant {
        offer: "kvm-e1000-sata",
        summary: "emulated Intel e1000 network card and SATA disk",
        disk_bus: "sata",
        nic: "e1000",
        nic_model: "e1000",
    },
    Variant {
        offer: "kvm-e1000-ide",
        summary: "emulated Intel e1000 network card and IDE disk, as old guests need",
        disk_bus: "ide",
        nic: "e1000",
        nic_model: "e1000",
    },
];

impl Hypervisor for Kvm {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn define(&self, chosen: &Chosen, input: &DefineInput, _: &Resume) -> Result<Turn, Failure> {
        let offer = chosen.offer.as_str();
        let variant = VARIANTS
            .iter()
            .find(|variant| variant.offer == offer)
            .ok_or_else(|| Failure::new(format!("hypervisor-kvm has no variant '{offer}'")))?;
        refuse::refuse(variant, &input.domain)?;
        let placement = cpus::placement(chosen, &input.domain)?;
        let xml = xml::domain(variant, &input.domain, placement.as_ref())?;
        let name = input.domain.name.to_string();
        let steps = vec![
            Step::new("define the domain", Action::DomainDefine { xml })
                .undone_by(Action::DomainUndefine { name: name.clone() }),
            Step::new("start the domain", Action::DomainStart { name: name.clone() })
                .undone_by(Action::DomainStop { name }),
        ];
        finish(steps, Value::Null)
    }
}

fn manifest() -> Result<Manifest, NameError> {
    let offers = VARIANTS.iter().map(|variant| {
        Ok(Offer {
            host_programs: vec!["qemu-system-x86_64".into()],
            options: cpus::options(),
            drivers: vec!["qemu".into()],
            ..Offer::new(Name::new(variant.offer)?, variant.summary)
        })
    });
    Ok(Manifest {
        name: Name::new("hypervisor-kvm")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Hypervisor,
        summary: "KVM (or QEMU's emulation where KVM is not usable) through libvirt".into(),
        offers: offers.collect::<Result<_, _>>()?,
    })
}
