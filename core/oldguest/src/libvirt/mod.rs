//! libvirt's domain XML: `virsh dumpxml`, of any age.
//!
//! Owns what the elements mean for a guest. It must never fill in what libvirt would choose itself.

mod disk;
mod documents;
mod elements;
mod nic;
mod tree;
mod units;

use serde_json::json;

use crate::cpus::{self, CpusError};
use crate::guest::{Boot, BootKind, Family, Format, NumaNode, OldGuest, Pinning};
use crate::lost;
use crate::problem::{Place, Problems, Reading, quoted};
use tree::Element;

/// The longest text that is read, in bytes.
const LONGEST: usize = 64 << 20;
/// The most domains of one text.
const MOST: usize = 1000;

/// Reads every domain of a text. A domain that is described twice is there twice.
#[must_use]
pub fn libvirt(text: &str) -> Vec<Reading> {
    let refused = |line: usize, message: String| {
        let mut problems = Problems::default();
        problems.error(Place { line, column: 0 }, message);
        vec![Reading { guest: None, problems: problems.sorted() }]
    };
    if text.len() > LONGEST {
        return refused(1, format!("longer than {} MiB: split it", LONGEST >> 20));
    }
    if let Some(line) = documents::declaration(text) {
        return refused(
            line,
            "document types and entities are refused, libvirt writes none: remove the declaration".into(),
        );
    }
    let documents = documents::documents(text);
    if documents.is_empty() {
        return refused(1, "no domain here: expected <domain type='…'> as 'virsh dumpxml' prints it".into());
    }
    if documents.len() > MOST {
        return refused(1, format!("{} domains: split the file into parts of {MOST}", documents.len()));
    }
    documents.into_iter().map(reading).collect()
}

fn reading(document: documents::Document) -> Reading {
    let mut problems = Problems::default();
    let domain = tree::read(document.text, document.before, &mut problems);
    let guest = domain.as_ref().and_then(|domain| guest(domain, &mut problems));
    Reading { guest, problems: problems.sorted() }
}

fn guest(domain: &Element, problems: &mut Problems) -> Option<OldGuest> {
    let at = place(domain);
    if domain.children.is_empty() {
        problems.error(at, "the element <domain> is empty: no description of a guest");
        return None;
    }
    let mut guest = OldGuest::new(Format::Libvirt, domain.line);
    guest.family = family(domain, problems)?;
    guest.name = domain.text_of("name").map(String::from);
    guest.uuid = domain.text_of("uuid").map(String::from);
    for child in &domain.children {
        guest.lines.entry(child.name.clone()).or_insert(child.line);
    }
    vcpus(domain, &mut guest, problems);
    memory(domain, &mut guest, problems);
    guest.boot = boot(domain, guest.family);
    for device in domain.find("devices").into_iter().flat_map(|devices| &devices.children) {
        match device.name.as_str() {
            "disk" => guest.disks.push(disk::disk(device, guest.family, problems)),
            "interface" => guest.nics.push(nic::nic(device, problems)),
            _ => {}
        }
    }
    names(&mut guest, domain);
    guest.pinning = pinning(domain, problems);
    guest.numa = numa(domain);
    guest.hypervisor = variant(domain, &guest);
    others(domain, &mut guest);
    warn(domain, &guest, problems);
    guest.lost = elements::lost(domain, &guest);
    guest.lost.extend(lost::lost(&guest));
    Some(guest)
}

fn place(element: &Element) -> Place {
    Place { line: element.line, column: 0 }
}

/// The words of libvirt under which the common rules look for lines.
fn names(guest: &mut OldGuest, domain: &Element) {
    let of = |path: &str| domain.find(path).map(|element| element.line);
    let found = [
        ("boot", of("os/boot").or(of("os"))),
        ("bootloader", of("bootloader")),
        ("kernel", of("os/kernel")),
        ("maxmem", of("memory")),
        ("maxvcpus", of("vcpu")),
        ("vnuma", of("cpu/numa")),
        ("disk", guest.disks.first().map(|disk| disk.line)),
    ];
    guest.lines.extend(found.into_iter().filter_map(|(key, line)| Some((key.to_string(), line?))));
}

fn family(domain: &Element, problems: &mut Problems) -> Option<Family> {
    match domain.attribute("type") {
        Some("xen") => Some(Family::Xen),
        Some("kvm" | "qemu" | "kqemu") => Some(Family::Kvm),
        None => {
            problems.error(place(domain), "the domain has no type: write <domain type='kvm'> or type='xen'");
            None
        }
        Some(other) => {
            let other = quoted(other);
            problems.error(
                place(domain),
                format!("domains of type {other} have no counterpart: there are xen, kvm and qemu"),
            );
            None
        }
    }
}

fn vcpus(domain: &Element, guest: &mut OldGuest, problems: &mut Problems) {
    let Some(vcpu) = domain.find("vcpu") else { return };
    let count = |text: Option<&str>| {
        text.and_then(|text| text.trim().parse::<u32>().ok()).filter(|count| (1..=4096).contains(count))
    };
    let most = count(Some(&vcpu.text));
    if most.is_none() {
        let text = quoted(vcpu.text.trim());
        problems.error(place(vcpu), format!("{text} is no number of vcpus: taken as 1"));
    }
    let current = count(vcpu.attribute("current"));
    guest.vcpus = current.or(most).unwrap_or(1);
    guest.max_vcpus = most.filter(|_| current.is_some());
}

fn memory(domain: &Element, guest: &mut OldGuest, problems: &mut Problems) {
    let mut size = |path: &str| {
        let element = domain.find(path)?;
        let size = units::size(element.text.trim(), element.attribute("unit"));
        if size.is_none() {
            let unit = element.attribute("unit").unwrap_or("KiB");
            let text = quoted(&format!("{} {unit}", element.text.trim()));
            problems.error(place(element), format!("{text} is no size of memory: left out"));
        }
        size
    };
    let (most, current) = (size("memory"), size("currentMemory"));
    guest.memory = current.or(most);
    guest.max_memory = most.filter(|_| current.is_some());
    if guest.memory.is_none() {
        problems
            .error(place(domain), "the guest's memory is not said: the element <memory> is missing or wrong");
    }
}

fn boot(domain: &Element, family: Family) -> Boot {
    let text = |path: &str| domain.text_of(path).map(String::from);
    let loader = text("bootloader");
    let kernel = text("os/kernel");
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
    let is_pvgrub = |path: &String| {
        base(path).starts_with("pv-grub") || (base(path).starts_with("grub-") && path.contains("xen"))
    };
    let kind = match (&loader, &kernel) {
        (Some(loader), _) if base(loader).starts_with("pygrub") => BootKind::Pygrub,
        (Some(_), _) => BootKind::Other,
        (None, Some(kernel)) if family == Family::Xen && is_pvgrub(kernel) => BootKind::Pvgrub,
        (None, Some(_)) => BootKind::Kernel,
        (None, None) if domain.text_of("os/type") == Some("hvm") => BootKind::Firmware,
        (None, None) => BootKind::Other,
    };
    let order: Vec<&str> = domain
        .find("os")
        .into_iter()
        .flat_map(|os| os.all("boot"))
        .filter_map(|boot| boot.attribute("dev"))
        .collect();
    Boot {
        kind,
        loader: if kind == BootKind::Pvgrub { kernel.clone() } else { loader.or_else(|| text("os/loader")) },
        kernel: kernel.filter(|_| kind != BootKind::Pvgrub),
        initrd: text("os/initrd"),
        cmdline: text("os/cmdline"),
        order: (!order.is_empty()).then(|| order.join(" ")),
    }
}

fn pinning(domain: &Element, problems: &mut Problems) -> Option<Pinning> {
    let mut set = |element: &Element| match cpus::parse(element.attribute("cpuset")?) {
        Ok(cpus) => cpus.filter(|cpus| !cpus.is_empty()),
        Err(CpusError::Part(part) | CpusError::Host(part)) => {
            problems.error(
                place(element),
                format!("{} is no part of a set of CPUs like 0-3,^1: the set is left out", quoted(&part)),
            );
            None
        }
    };
    let mut pinning = Pinning::default();
    let all = domain.find("vcpu").and_then(&mut set);
    if let Some(tune) = domain.find("cputune") {
        for pin in tune.all("vcpupin") {
            let vcpu = pin.attribute("vcpu").and_then(|vcpu| vcpu.parse().ok());
            if let (Some(vcpu), Some(cpus)) = (vcpu, set(pin)) {
                pinning.each.insert(vcpu, cpus);
            }
        }
        pinning.emulator = tune.find("emulatorpin").and_then(&mut set);
    }
    let each: std::collections::BTreeSet<u32> = pinning.each.values().flatten().copied().collect();
    pinning.cpus = all.unwrap_or_else(|| each.into_iter().collect());
    (pinning != Pinning::default()).then_some(pinning)
}

fn numa(domain: &Element) -> Vec<NumaNode> {
    let cells = domain.find("cpu/numa").into_iter().flat_map(|numa| numa.all("cell"));
    let node = |cell: &Element| {
        let siblings = cell.find("distances").into_iter().flat_map(|distances| distances.all("sibling"));
        NumaNode {
            memory: cell.attribute("memory").and_then(|memory| units::size(memory, cell.attribute("unit"))),
            vcpus: cell.attribute("cpus").unwrap_or_default().into(),
            distances: siblings.filter_map(|sibling| sibling.attribute("value")?.parse().ok()).collect(),
        }
    };
    cells.map(node).collect()
}

/// The offer that comes closest to the devices.
fn variant(domain: &Element, guest: &OldGuest) -> &'static str {
    let kind = domain.text_of("os/type").unwrap_or_default();
    let machine = domain.find("os/type").and_then(|kind| kind.attribute("machine")).unwrap_or_default();
    let bus = guest.disks.iter().find(|disk| disk.is_disk()).and_then(|disk| disk.bus.as_deref());
    if guest.family == Family::Xen {
        let by_loader = matches!(guest.boot.kind, BootKind::Pygrub | BootKind::Pvgrub);
        let pv_nic = guest.nics.iter().any(|nic| matches!(nic.model.as_deref(), Some("netfront")));
        return match kind {
            _ if kind == "xenpvh" || machine == "xenpvh" => "xen-pvh",
            "hvm" if bus == Some("xen") || pv_nic => "xen-hvm-pv",
            "hvm" => "xen-hvm",
            _ if by_loader || guest.boot.kernel.is_none() => "xen-pv-grub",
            _ => "xen-pv",
        };
    }
    let model = guest.nics.first().and_then(|nic| nic.model.as_deref()).unwrap_or_default();
    match bus {
        Some("ide" | "fdc") => "kvm-e1000-ide",
        Some("sata") => "kvm-e1000-sata",
        _ if model.is_empty() || model.starts_with("virtio") => "kvm-virtio",
        _ => "kvm-e1000",
    }
}

/// What people want to see beside the shape.
fn others(domain: &Element, guest: &mut OldGuest) {
    let mut add = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            guest.other.insert(key.into(), json!(value));
        }
    };
    let kind = domain.find("os/type");
    add("domain type", domain.attribute("type"));
    add("os type", domain.text_of("os/type"));
    add("machine", kind.and_then(|kind| kind.attribute("machine")));
    add("arch", kind.and_then(|kind| kind.attribute("arch")));
    add("loader", domain.text_of("os/loader"));
    add("emulator", domain.text_of("devices/emulator"));
    add("cpu", domain.find("cpu").and_then(|cpu| cpu.attribute("mode").or(cpu.text_of("model"))));
    for key in ["description", "on_poweroff", "on_reboot", "on_crash"] {
        add(key, domain.text_of(key));
    }
}

/// What works, and is not what it seems.
fn warn(domain: &Element, guest: &OldGuest, problems: &mut Problems) {
    let is_pv = matches!(guest.hypervisor, "xen-pv" | "xen-pv-grub" | "xen-pvh");
    for boot in domain.find("os").into_iter().flat_map(|os| os.all("boot")) {
        if is_pv && boot.attribute("dev").is_some_and(|device| device != "hd") {
            let device = quoted(boot.attribute("dev").unwrap_or_default());
            problems.warning(
                place(boot),
                format!("PV guests have no firmware and cannot boot from {device}: it has no effect"),
            );
        }
    }
    if is_pv && matches!(guest.boot.kind, BootKind::Other) && guest.boot.loader.is_none() {
        problems.warning(place(domain), "the guest has neither kernel nor boot loader: libvirt takes pygrub");
    }
    if let (BootKind::Pygrub, Some(kernel)) = (guest.boot.kind, domain.find("os/kernel")) {
        problems.warning(
            place(kernel),
            "this kernel is a copy that the boot loader made for one boot: the guest's own is on its disk",
        );
    }
    if guest.memory < guest.max_memory {
        let at = domain.find("currentMemory").map_or(place(domain), place);
        problems.warning(
            at,
            "the guest can grow while it runs: its results compare with nothing unless that is off",
        );
    }
    let emulator = guest.pinning.as_ref().and_then(|pinning| pinning.emulator.as_ref());
    let shared: Vec<u32> = emulator
        .into_iter()
        .flatten()
        .copied()
        .filter(|cpu| {
            guest
                .pinning
                .as_ref()
                .is_some_and(|pinning| pinning.each.values().any(|cpus| cpus.as_slice() == [*cpu]))
        })
        .collect();
    if let (false, Some(pin)) = (shared.is_empty(), domain.find("cputune/emulatorpin")) {
        let cpus = cpus::text(&shared);
        problems
            .warning(place(pin), format!("the device model shares CPU {cpus} with a vcpu that has no other"));
    }
    if let Some(disk) = guest.other_address_in_disk() {
        let message = format!(
            "the disk {} bears another address than the guest's name: was it copied?",
            quoted(&disk.target)
        );
        problems.warning(Place { line: disk.line, column: 0 }, message);
    }
}
