//! Elements of a domain that have no counterpart.
//!
//! Owns the table of them. It must never read a value into the guest.

use super::tree::Element;
use crate::guest::{BootKind, Family, OldGuest};
use crate::lost::{Lost, SCENARIOS};

/// Paths below `<domain>`, what stands there, and why nothing repeats it.
const ELEMENTS: [(&str, &str, &str); 33] = [
    ("memoryBacking/hugepages", "huge pages", "guests have pages of the host's own size"),
    ("memoryBacking/locked", "locked memory", "guests have memory as the host gives it"),
    ("memoryBacking/nosharepages", "memory that is not merged", "the host decides on merging"),
    ("memtune", "limits of memory", "guests have no limits but their memory"),
    ("numatune", "placement on NUMA nodes of the host", "'cpus' sets where vcpus run; memory follows"),
    ("blkiotune", "shares of the disk", "all guests have the same share: results were shared out before"),
    ("cputune/shares", "shares of the CPU", "all guests have the same share"),
    ("cputune/quota", "a cap of CPU time", "there is no cap: results were capped before"),
    ("cputune/emulatorpin", "CPUs of the device model", "'cpus' holds for the vcpus alone"),
    ("cputune/iothreadpin", "CPUs of I/O threads", "there are no I/O threads"),
    ("iothreads", "I/O threads", "the device model serves all disks in its main thread"),
    ("cpu/topology", "sockets, cores and threads", "guests have as many sockets as vcpus"),
    ("cpu/model", "a processor model", "guests see the processor that the hypervisor shows by default"),
    ("features/hyperv", "Hyper-V's interfaces", "they are for Windows, which no guest image is"),
    ("features/kvm", "changed KVM interfaces", "guests have KVM's own interfaces"),
    ("os/nvram", "UEFI variables", "the kernel of the guest image is started directly"),
    ("seclabel", "a security label", "the host's defaults hold"),
    ("launchSecurity", "encrypted memory", "guests have plain memory"),
    ("clock/timer", "clock sources", "guests have the hypervisor's own clock"),
    ("devices/hostdev", "devices of the host", "guests have none"),
    ("devices/redirdev", "redirected USB devices", "guests have no USB"),
    ("devices/controller", "controllers", "the hypervisor chooses them"),
    ("devices/filesystem", "shared folders", "guests share no folders"),
    ("devices/graphics", "a screen", "guests have a serial console alone"),
    ("devices/sound", "a sound card", "guests have none"),
    ("devices/tpm", "a TPM", "guests have none"),
    ("devices/watchdog", "a watchdog", "guests have none"),
    ("devices/rng", "a random number device", "guests have none"),
    ("devices/smartcard", "a smart card reader", "guests have none"),
    ("devices/channel", "channels", "guests are reached over the network"),
    ("devices/shmem", "shared memory", "guests share none"),
    ("devices/vsock", "a VM socket", "guests are reached over the network"),
    ("devices/iommu", "an IOMMU", "guests have none"),
];

/// What of the domain is lost with elements that the guest itself does not hold.
pub(super) fn lost(domain: &Element, guest: &OldGuest) -> Vec<Lost> {
    let mut lost: Vec<Lost> = Vec::new();
    for (path, what, why) in ELEMENTS {
        if let Some(element) = domain.find(path).filter(|element| is_on(element)) {
            lost.push(Lost::new(SCENARIOS, what, why, Some(element.line)));
        }
    }
    if let Some(loader) = domain
        .find("os/loader")
        .filter(|_| guest.family == Family::Kvm && guest.boot.kind == BootKind::Firmware)
    {
        let why = "the kernel of the guest image is started directly";
        lost.push(Lost::new(SCENARIOS, "firmware of its own", why, Some(loader.line)));
    }
    let kind = domain.find("os/type");
    if let Some(arch) = kind.and_then(|kind| kind.attribute("arch")).filter(|arch| *arch != "x86_64") {
        let line = kind.map(|kind| kind.line);
        let why = "guests are x86_64: a 32-bit guest is measured as a 64-bit one";
        lost.push(Lost::new(
            SCENARIOS,
            format!("the architecture {}", crate::problem::quoted(arch)),
            why,
            line,
        ));
    }
    if let Some(queues) =
        domain.find("devices/interface/driver").filter(|driver| driver.attribute("queues").is_some())
    {
        let line = Some(queues.line);
        lost.push(Lost::new(SCENARIOS, "several queues of a network card", "network cards have one", line));
    }
    lost
}

/// Controllers are the hypervisor's own business unless they have a model of their own; a quota below 0 is none.
fn is_on(element: &Element) -> bool {
    match element.name.as_str() {
        "controller" => element.attribute("type") == Some("scsi"),
        "quota" => !element.text.trim().starts_with('-') && !element.text.trim().is_empty(),
        "blkiotune" | "memtune" | "numatune" => !element.children.is_empty(),
        _ => true,
    }
}
