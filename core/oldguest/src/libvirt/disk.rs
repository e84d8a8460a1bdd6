//! One `<disk>`.
//!
//! Owns its types, drivers and limits, and which backing is like it. It must never open what it names.

use super::place;
use super::tree::Element;
use crate::guest::{Backing, Disk, DiskKind, Family, block_backing};
use crate::problem::{Problems, quoted};

/// Words for modes that the storage offers take as they are.
const CACHES: [&str; 5] = ["none", "writeback", "writethrough", "directsync", "unsafe"];
const IOS: [&str; 3] = ["native", "threads", "io_uring"];

/// Reads one disk, cdrom or floppy.
pub(super) fn disk(element: &Element, family: Family, problems: &mut Problems) -> Disk {
    let attribute = |path: &str, name: &str| {
        element.find(path).and_then(|element| element.attribute(name)).map(String::from)
    };
    let kind = match element.attribute("type").unwrap_or("file") {
        "file" => DiskKind::File,
        "block" => DiskKind::Block,
        "network" => DiskKind::Network,
        "volume" => DiskKind::Volume,
        _ => DiskKind::Other,
    };
    let role = element.attribute("device").unwrap_or("disk").to_string();
    let target = source(element, kind);
    let device = attribute("target", "dev").unwrap_or_default();
    let mut disk = Disk {
        line: element.line,
        kind,
        path: Some(target.clone()).filter(|path| path.starts_with('/')),
        writable: role != "cdrom" && element.find("readonly").is_none(),
        format: attribute("driver", "type").filter(|kind| !matches!(kind.as_str(), "aio" | "tapdisk")),
        backend: backend(element, family),
        bus: attribute("target", "bus").or_else(|| bus(&device).map(String::from)),
        cache: attribute("driver", "cache").filter(|cache| cache != "default"),
        io: attribute("driver", "io"),
        limits: limits(element, problems),
        target,
        device,
        role,
        backing: None,
    };
    if disk.target.is_empty() && disk.is_disk() {
        problems.error(place(element), "the disk has no source that can be read: neither file nor device");
    }
    disk.backing = backing(&disk, family);
    disk
}

/// Where the disk's bytes are, as one text.
fn source(disk: &Element, kind: DiskKind) -> String {
    let Some(source) = disk.find("source") else { return String::new() };
    let attribute = |name: &str| source.attribute(name);
    let text = match kind {
        DiskKind::Network => {
            let host = source.find("host").and_then(|host| host.attribute("name"));
            let parts = [attribute("protocol"), host, attribute("name")];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        DiskKind::Volume => {
            Some([attribute("pool"), attribute("volume")].into_iter().flatten().collect::<Vec<_>>().join("/"))
        }
        _ => attribute("file").or(attribute("dev")).or(attribute("dir")).map(String::from),
    };
    text.unwrap_or_default()
}

/// `tap:aio`, `tap2`, `phy`, `file`, `qemu`; on KVM there is nothing but QEMU.
fn backend(disk: &Element, family: Family) -> Option<String> {
    let driver = disk.find("driver")?;
    let name = driver.attribute("name").filter(|_| family == Family::Xen)?;
    match driver.attribute("type").filter(|kind| matches!(*kind, "aio" | "tapdisk")) {
        Some(kind) => Some(format!("{name}:{kind}")),
        None => Some(name.into()),
    }
}

/// The bus of a device that has no other by its name.
fn bus(device: &str) -> Option<&'static str> {
    [("xvd", "xen"), ("vd", "virtio"), ("hd", "ide"), ("sd", "scsi"), ("fd", "fdc")]
        .iter()
        .find_map(|(name, bus)| device.starts_with(name).then_some(*bus))
}

fn limits(disk: &Element, problems: &mut Problems) -> std::collections::BTreeMap<String, u64> {
    let mut limits = std::collections::BTreeMap::new();
    for limit in disk.find("iotune").into_iter().flat_map(|tune| &tune.children) {
        match limit.text.trim().parse() {
            Ok(0) => {}
            Ok(value) => _ = limits.insert(limit.name.clone(), value),
            Err(_) if limit.name == "group_name" => {}
            Err(_) => {
                let (text, name) = (quoted(limit.text.trim()), quoted(&limit.name));
                problems.error(place(limit), format!("{text} is no value of the limit {name}: left out"));
            }
        }
    }
    limits
}

fn backing(disk: &Disk, family: Family) -> Option<Backing> {
    if !disk.is_disk() || disk.target.is_empty() {
        return None;
    }
    let format = disk.format.clone().unwrap_or_else(|| "raw".into());
    let mut backing = match disk.kind {
        DiskKind::Block if format == "raw" => block_backing(disk.path.as_deref()?)?,
        DiskKind::File if disk.backend.as_deref() == Some("file") => {
            Backing { offer: "loop", options: [].into() }
        }
        DiskKind::File if matches!(format.as_str(), "raw" | "qcow2") => {
            Backing { offer: "file", options: [("format", format)].into() }
        }
        _ => return None,
    };
    if family == Family::Kvm {
        let cache = disk.cache.clone().filter(|cache| CACHES.contains(&cache.as_str()));
        let io = disk.io.clone().filter(|io| IOS.contains(&io.as_str()));
        // libvirt has it so as well: native needs a mode that goes past the page cache.
        let direct = matches!(cache.as_deref(), Some("none" | "directsync"));
        let io = io.filter(|io| io != "native" || direct);
        backing.options.extend(cache.map(|cache| ("cache", cache)));
        backing.options.extend(io.map(|io| ("io", io)));
    }
    Some(backing)
}
