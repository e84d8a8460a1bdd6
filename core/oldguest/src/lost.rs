//! What of a guest has no counterpart.
//!
//! Owns the rules that hold for guests of either format. It must never know the words of a format.

use serde::Serialize;

use crate::guest::{BootKind, Disk, DiskKind, Family, Nic, OldGuest};
use crate::problem::quoted;

/// One thing that is not there any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Where it is missing: `scenarios` (nothing repeats it), or the hypervisors that do not have it.
    pub on: &'static str,
    pub what: String,
    pub why: String,
    /// The line that it comes from, from 1.
    pub line: Option<usize>,
}

/// Nothing that Crossvisor makes has it.
pub(crate) const SCENARIOS: &str = "scenarios";
/// Everything but Xen.
pub(crate) const KVM: &str = "kvm";
pub(crate) const XEN: &str = "xen";

impl Lost {
    pub fn new(
        on: &'static str,
        what: impl Into<String>,
        why: impl Into<String>,
        line: Option<usize>,
    ) -> Self {
        Self { on, what: what.into(), why: why.into(), line }
    }
}

/// What is lost of a guest, whoever described it.
pub(crate) fn lost(guest: &OldGuest) -> Vec<Lost> {
    let line = |key: &str| guest.lines.get(key).copied();
    let mut lost = Vec::new();
    let mut add = |on, what: String, why: &str, line| lost.push(Lost::new(on, what, why, line));
    match guest.boot.kind {
        BootKind::Pygrub | BootKind::Pvgrub => {
            let what = format!("boot loader {}", quoted(guest.boot.loader.as_deref().unwrap_or_default()));
            let why =
                "there the kernel is started directly; only xen-pv-grub finds it on the guest's own disk";
            add("kvm, xen-pvh, xen-hvm", what, why, line("bootloader"));
        }
        BootKind::Firmware => {
            let why = "the kernel of the guest image is started directly, without BIOS or UEFI";
            add(SCENARIOS, "boot by firmware from its own disk".into(), why, line("boot"));
        }
        BootKind::Kernel | BootKind::Other => {}
    }
    if let (BootKind::Kernel, Some(kernel)) = (guest.boot.kind, &guest.boot.kernel) {
        add(
            SCENARIOS,
            format!("kernel {}", quoted(kernel)),
            "the kernel of the guest image is started",
            line("kernel"),
        );
    }
    if let (Some(memory), Some(most)) = (guest.memory, guest.max_memory) {
        if most > memory {
            let why =
                "memory is fixed: a guest whose memory changes while it is measured compares with nothing";
            add(SCENARIOS, format!("growing from {memory} to {most} of memory"), why, line("maxmem"));
        }
    }
    if guest.max_vcpus.is_some_and(|most| most > guest.vcpus) {
        let most = guest.max_vcpus.unwrap_or_default();
        let why = "the number of vcpus is fixed";
        add(SCENARIOS, format!("vcpus that are added while it runs, up to {most}"), why, line("maxvcpus"));
    }
    if !guest.numa.is_empty() {
        let why = "guests have one NUMA node";
        add(SCENARIOS, format!("{} virtual NUMA nodes", guest.numa.len()), why, line("vnuma"));
    }
    let each = guest.pinning.as_ref().filter(|pinning| !pinning.each.is_empty());
    if each.is_some_and(|pinning| pinning.own(guest.vcpus).is_none()) {
        let why = "vcpus have either one CPU each, or all the same";
        add(SCENARIOS, "CPUs that differ between vcpus".into(), why, line("cpus"));
    }
    lost.extend(disks(guest));
    lost.extend(nics(guest));
    lost
}

fn disks(guest: &OldGuest) -> Vec<Lost> {
    let mut lost = Vec::new();
    let count = guest.disks.iter().filter(|disk| disk.is_disk()).count();
    if count > 1 {
        let why = "a scenario's guest has one disk: each backing is measured on its own";
        lost.push(Lost::new(
            SCENARIOS,
            format!("{count} disks at once"),
            why,
            guest.lines.get("disk").copied(),
        ));
    }
    for disk in &guest.disks {
        let name = if disk.device.is_empty() { quoted(&disk.target) } else { disk.device.clone() };
        let mut add = |on, what: String, why: &str| lost.push(Lost::new(on, what, why, Some(disk.line)));
        if !disk.is_disk() {
            add(SCENARIOS, format!("{} {name}", disk.role), "guests have no such drive");
            continue;
        }
        if disk.backing.is_none() {
            add(SCENARIOS, format!("disk {name} on {}", place(disk)), "no storage backing is like it");
        }
        if !disk.limits.is_empty() {
            let limits: Vec<_> = disk.limits.iter().map(|(key, value)| format!("{key} {value}")).collect();
            let why = "volumes have no limits: results are what the disk gives, and were capped before";
            add(SCENARIOS, format!("limits of disk {name} ({})", limits.join(", ")), why);
        }
        if guest.family == Family::Kvm && (disk.cache.is_some() || disk.io.is_some()) {
            add(XEN, format!("cache and I/O mode of disk {name}"), "Xen has neither: see docs/xen.md");
        }
        if disk.backend.as_deref().is_some_and(|backend| backend.starts_with("tap")) {
            let why = "blktap is not in Xen any more: qdisk serves the file, KVM's QEMU does there";
            add("xen, kvm", format!("blktap under disk {name}"), why);
        }
    }
    lost
}

fn place(disk: &Disk) -> String {
    let target = quoted(&disk.target);
    match disk.kind {
        DiskKind::File => {
            format!("a file of format {}: {target}", disk.format.as_deref().unwrap_or("unknown"))
        }
        DiskKind::Block if !matches!(disk.format.as_deref(), None | Some("raw")) => {
            format!(
                "an image of format {} on a block device: {target}",
                disk.format.as_deref().unwrap_or_default()
            )
        }
        DiskKind::Block => format!("a block device that is no logical volume by its name: {target}"),
        DiskKind::Network => format!("the network: {target}"),
        DiskKind::Volume => format!("a storage pool: {target}"),
        DiskKind::Other => target,
    }
}

fn nics(guest: &OldGuest) -> Vec<Lost> {
    let mut lost = Vec::new();
    let (count, line) = (guest.nics.len(), guest.nics.first().map(|nic| nic.line));
    match count {
        0 => lost.push(Lost::new(SCENARIOS, "having no network", "every guest has one network card", None)),
        1 => {}
        _ => {
            let why = "a scenario's guest has one";
            lost.push(Lost::new(SCENARIOS, format!("{count} network cards"), why, line));
        }
    }
    for nic in &guest.nics {
        let line = Some(nic.line);
        if let Some(rate) = &nic.rate {
            let why =
                "network cards have no limit: iperf measures what the network gives, and was capped before";
            lost.push(Lost::new(
                SCENARIOS,
                format!("rate limit {} of a network card", quoted(rate)),
                why,
                line,
            ));
        }
        if let Some(model) = nic.model.as_deref().filter(|model| !has_model(guest.family, model)) {
            let why = "there are e1000, virtio and Xen's own";
            lost.push(Lost::new(SCENARIOS, format!("network card {}", quoted(model)), why, line));
        }
        if let Some(script) = nic.script.as_deref().filter(|script| !is_plain_script(script)) {
            let why = "guests join a bridge";
            lost.push(Lost::new(SCENARIOS, format!("network script {}", quoted(script)), why, line));
        }
        if let Some(domain) = driver_domain(nic) {
            let what = format!("network card in the driver domain {}", quoted(domain));
            lost.push(Lost::new(SCENARIOS, what, "dom0 serves all devices", line));
        }
    }
    lost
}

fn has_model(family: Family, model: &str) -> bool {
    match family {
        Family::Xen => matches!(model, "e1000" | "netfront" | "xen"),
        Family::Kvm => model.starts_with("e1000") || model.starts_with("virtio"),
    }
}

fn is_plain_script(script: &str) -> bool {
    script.rsplit('/').next() == Some("vif-bridge")
}

fn driver_domain(nic: &Nic) -> Option<&str> {
    nic.other.get("backend").map(String::as_str).filter(|domain| !matches!(*domain, "0" | "Domain-0"))
}
