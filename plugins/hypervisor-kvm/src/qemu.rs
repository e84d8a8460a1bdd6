//! What QEMU is told past libvirt, because libvirt has no words for it.
//!
//! Owns the arguments. It must never give QEMU what libvirt can say.

use crossvisor_plugin::model::{Accel, DomainSpec, Forward, Multiboot, Network};

use crate::Variant;

/// A PCI slot far above those that libvirt hands out by itself.
const NIC_SLOT: &str = "0x1d";

/// QEMU's arguments behind those that libvirt gives it.
pub fn arguments(variant: &Variant, spec: &DomainSpec) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(multiboot) = &spec.multiboot {
        arguments.extend(["-initrd".into(), modules(spec, multiboot)]);
    }
    // QEMU takes the last; KVM passes the host's own processor through instead.
    if let (Accel::Tcg, Some(cpu)) = (spec.accel, &spec.emulated_cpu) {
        arguments.extend(["-cpu".into(), cpu.clone()]);
    }
    if let Network::User { forwards, .. } = &spec.network {
        arguments.extend(user_network(variant, forwards, &spec.mac));
    }
    arguments
}

/// The modules of a multiboot program: the kernel with its command line, and the initrd. A comma ends a module, two
/// are one of its text.
fn modules(spec: &DomainSpec, multiboot: &Multiboot) -> String {
    let kernel = format!("{} {} {}", spec.kernel.display(), spec.cmdline, multiboot.console);
    let escape = |text: &str| text.replace(',', ",,");
    format!("{},{}", escape(&kernel), escape(&spec.initrd.to_string_lossy()))
}

/// User networking with forwards: libvirt 9.0 has no element for it without passt.
fn user_network(variant: &Variant, forwards: &[Forward], mac: &str) -> [String; 4] {
    let forwards =
        forwards.iter().map(|f| format!(",hostfwd=tcp:127.0.0.1:{}-:{}", f.host_port, f.guest_port));
    let netdev = format!("user,id=net0{}", forwards.collect::<String>());
    let device = format!("{},netdev=net0,mac={mac},bus=pci.0,addr={NIC_SLOT},romfile=", variant.nic);
    ["-netdev".into(), netdev, "-device".into(), device]
}
