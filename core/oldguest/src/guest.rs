//! A guest as another tool describes it.
//!
//! Owns the noun that both readers make. It must never know how either of them writes it.

use std::collections::BTreeMap;

use crossvisor_model::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::Lost;

/// What a guest has, as far as its description says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OldGuest {
    pub format: Format,
    /// Where its description begins, from 1.
    pub line: usize,
    pub name: Option<String>,
    pub uuid: Option<String>,
    pub family: Family,
    /// The hypervisor offer that comes closest: `xen-pv`, `kvm-e1000-ide`.
    pub hypervisor: &'static str,
    pub vcpus: u32,
    /// How many vcpus can be added while it runs, those it has included.
    pub max_vcpus: Option<u32>,
    /// When it has booted.
    pub memory: Option<Bytes>,
    /// How far it can grow.
    pub max_memory: Option<Bytes>,
    pub boot: Boot,
    pub disks: Vec<Disk>,
    pub nics: Vec<Nic>,
    pub pinning: Option<Pinning>,
    pub numa: Vec<NumaNode>,
    /// What else is set, by the words of the description. Passwords are left out.
    pub other: BTreeMap<String, Value>,
    /// The lines that values come from, by the words of the description, from 1.
    pub lines: BTreeMap<String, usize>,
    pub lost: Vec<Lost>,
}

/// Who wrote the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Xl,
    Libvirt,
}

/// Whose guest it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    Xen,
    Kvm,
}

/// How it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Boot {
    pub kind: BootKind,
    /// As it was written: `/usr/lib/xen-4.4/bin/pygrub`.
    pub loader: Option<String>,
    pub kernel: Option<String>,
    pub initrd: Option<String>,
    /// The kernel's command line, as it takes effect.
    pub cmdline: Option<String>,
    /// Devices in their order: xl's `cd`, libvirt's `cdrom hd`.
    pub order: Option<String>,
}

/// What is started first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BootKind {
    /// A kernel that the host has.
    Kernel,
    Pygrub,
    Pvgrub,
    /// BIOS or UEFI, from its own disk.
    Firmware,
    /// It is not said, or by a loader that is not known.
    #[default]
    Other,
}

/// A disk, cdrom or floppy.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Disk {
    /// From 1.
    pub line: usize,
    pub kind: DiskKind,
    /// As it was written, without prefixes: a path, a pool and volume, a remote image. Empty: no medium.
    pub target: String,
    /// The absolute path on the host that `target` means.
    pub path: Option<String>,
    /// `xvda`
    pub device: String,
    /// `disk`, `cdrom`, `floppy`, `lun`.
    pub role: String,
    pub writable: bool,
    pub format: Option<String>,
    /// What serves it, in the words of the description: `phy`, `file`, `tap:aio`, `qdisk`, `qemu`.
    pub backend: Option<String>,
    pub bus: Option<String>,
    pub cache: Option<String>,
    pub io: Option<String>,
    /// Limits of throughput by libvirt's words, in bytes or operations a second.
    pub limits: BTreeMap<String, u64>,
    /// What it is here; `None` for what has no volume, and for what has no counterpart.
    pub backing: Option<Backing>,
}

/// What a disk lives on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskKind {
    #[default]
    File,
    Block,
    Network,
    /// Of a storage pool.
    Volume,
    Other,
}

/// A storage offer with its options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Backing {
    pub offer: &'static str,
    pub options: BTreeMap<&'static str, String>,
}

/// A network card.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Nic {
    /// From 1.
    pub line: usize,
    /// As it was written.
    pub mac: Option<String>,
    /// xl's `ioemu`, `vif`, `netfront`; libvirt's `bridge`, `network`.
    pub kind: Option<String>,
    pub bridge: Option<String>,
    pub model: Option<String>,
    pub ip: Option<String>,
    pub script: Option<String>,
    /// As it was written: `10240KB/s@50ms`.
    pub rate: Option<String>,
    /// The same in bytes a second.
    pub rate_bytes_per_s: Option<u64>,
    /// What else is set.
    pub other: BTreeMap<String, String>,
}

/// Where vcpus may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pinning {
    /// CPUs of the host that the guest may use, ascending.
    pub cpus: Vec<u32>,
    /// By vcpu, where they differ; a vcpu that is not in it may use all.
    pub each: BTreeMap<u32, Vec<u32>>,
    /// Of the device model's own threads.
    pub emulator: Option<Vec<u32>>,
}

/// A virtual NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NumaNode {
    pub memory: Option<Bytes>,
    /// As it was written: `0-1`.
    pub vcpus: String,
    pub distances: Vec<u32>,
}

impl Disk {
    /// Whether it is a disk in its own right, which a volume can stand for.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        matches!(self.role.as_str(), "disk" | "lun")
    }
}

impl Pinning {
    /// The CPUs of the vcpus in their order, where each vcpu has one and no two the same.
    #[must_use]
    pub fn own(&self, vcpus: u32) -> Option<Vec<u32>> {
        let one = |vcpu| match self.each.get(&vcpu)?.as_slice() {
            [cpu] => Some(*cpu),
            _ => None,
        };
        let cpus: Vec<u32> = (0..vcpus).map(one).collect::<Option<_>>()?;
        let different: std::collections::BTreeSet<_> = cpus.iter().collect();
        (different.len() == cpus.len()).then_some(cpus)
    }
}

impl OldGuest {
    /// One of which nothing is known yet.
    pub(crate) fn new(format: Format, line: usize) -> Self {
        Self {
            format,
            line,
            name: None,
            uuid: None,
            family: Family::Xen,
            hypervisor: "xen-pv",
            vcpus: 1,
            max_vcpus: None,
            memory: None,
            max_memory: None,
            boot: Boot::default(),
            disks: Vec::new(),
            nics: Vec::new(),
            pinning: None,
            numa: Vec::new(),
            other: BTreeMap::new(),
            lines: BTreeMap::new(),
            lost: Vec::new(),
        }
    }

    /// Its name, or `the guest`.
    #[must_use]
    pub fn called(&self) -> &str {
        self.name.as_deref().unwrap_or("the guest")
    }
}

/// The volume group of `/dev/VG/LV` or `/dev/mapper/VG-LV`; `None` for a path that is no logical volume by its form.
pub(crate) fn volume_group(path: &str) -> Option<String> {
    /// Folders of `/dev` that hold other things, and beginnings of devices that are folders.
    const OTHERS: [&str; 12] =
        ["zvol", "disk", "block", "char", "drbd", "etherd", "loop", "md", "nbd", "rbd", "xen", "cciss"];
    let inside = path.strip_prefix("/dev/")?;
    if let Some(mapped) = inside.strip_prefix("mapper/") {
        // Device-mapper writes '-' of a name as '--'.
        let unescaped = mapped.replace("--", "\0");
        let (group, volume) = unescaped.split_once('-')?;
        return (!group.is_empty() && !volume.is_empty()).then(|| group.replace('\0', "-"));
    }
    let (group, volume) = inside.split_once('/')?;
    let plain = !group.is_empty() && !volume.is_empty() && !volume.contains('/');
    (plain && !OTHERS.contains(&group)).then(|| group.to_string())
}

/// The same as a storage offer.
pub(crate) fn block_backing(path: &str) -> Option<Backing> {
    if path.starts_with("/dev/loop") {
        return Some(Backing { offer: "loop", options: BTreeMap::new() });
    }
    Some(Backing { offer: "lvm", options: BTreeMap::from([("vg", volume_group(path)?)]) })
}
