//! One item of `disk`, in all its forms.
//!
//! Owns the grammar of xl-disk-configuration(5) with the prefixes of xm. It must never look at a file system: what a
//! path is, it says by its form alone.

use crate::guest::{Backing, Disk, DiskKind, block_backing};
use crate::problem::{Place, Problems, quoted};

/// Prefixes that choose a format.
const FORMATS: [&str; 6] = ["raw", "qcow", "qcow2", "vhd", "vmdk", "qed"];
/// Formats that xl knows by name.
const XL_FORMATS: [&str; 6] = ["raw", "qcow", "qcow2", "vhd", "qed", "empty"];
/// Prefixes that choose what serves the disk.
const BACKENDS: [&str; 8] = ["phy", "file", "tap", "tap2", "tapdisk", "aio", "ioemu", "sync"];
/// Prefixes that stand for a hotplug script, `block-NAME`.
const SCRIPTS: [&str; 4] = ["iscsi", "nbd", "enbd", "drbd"];
const FLAGS: [&str; 9] = [
    "discard",
    "no-discard",
    "direct-io-safe",
    "colo",
    "no-colo",
    "trusted",
    "untrusted",
    "grant_usage=1",
    "grant_usage=0",
];
const OTHER_KEYS: [&str; 10] = [
    "backend",
    "specification",
    "script",
    "colo-host",
    "colo-port",
    "colo-export",
    "active-disk",
    "hidden-disk",
    "grant_usage",
    "devid",
];

/// Reads one item.
pub(super) fn disk(item: &str, at: Place, problems: &mut Problems) -> Disk {
    let mut spec =
        Spec { at, problems, disk: new_disk(at.line), prefixes: Vec::new(), target: None, access: false };
    let mut rest = item;
    loop {
        rest = rest.trim_start();
        if let Some(target) = rest.strip_prefix("target=") {
            spec.target = Some(target.trim_end().trim_end_matches(',').into());
            break;
        }
        let (part, more) = rest.split_once(',').map_or((rest, None), |(part, more)| (part, Some(more)));
        let (part, is_last) = (part.trim_end(), more.is_none());
        if !(part.is_empty() && is_last) {
            spec.part(part);
        }
        match more {
            Some(more) => rest = more,
            None => break,
        }
    }
    spec.finish()
}

fn new_disk(line: usize) -> Disk {
    Disk { line, role: "disk".into(), writable: true, ..Disk::default() }
}

struct Spec<'a> {
    at: Place,
    problems: &'a mut Problems,
    disk: Disk,
    /// `tap`, `aio`
    prefixes: Vec<String>,
    target: Option<String>,
    /// Whether the access was set.
    access: bool,
}

impl Spec<'_> {
    fn error(&mut self, message: String) {
        self.problems.error(self.at, message);
    }

    fn part(&mut self, part: &str) {
        if part == "cdrom" {
            self.disk.role = "cdrom".into();
        } else if FLAGS.contains(&part) {
        } else if let Some((key, value)) = part.split_once('=').filter(|(key, _)| is_key(key)) {
            self.keyed(key.trim_end(), value.trim_start());
        } else {
            self.positional(part);
        }
    }

    fn keyed(&mut self, key: &str, value: &str) {
        match key {
            "format" => self.format(value),
            "access" => self.access(value),
            "vdev" => self.device(value),
            "backendtype" => {
                if !matches!(value, "phy" | "tap" | "qdisk" | "standalone") {
                    self.error(format!("xl has no backendtype {}: phy, qdisk or tap", quoted(value)));
                }
                self.disk.backend = Some(value.into());
            }
            "devtype" => match value {
                "cdrom" | "disk" | "floppy" => self.disk.role = value.into(),
                _ => self.error(format!("{} is no devtype: disk or cdrom", quoted(value))),
            },
            _ if OTHER_KEYS.contains(&key) => {}
            _ => self.error(format!("xl knows no {} of a disk: left out", quoted(key))),
        }
    }

    /// In this order: target, format unless a prefix says it, device, access.
    fn positional(&mut self, part: &str) {
        if self.target.is_none() {
            let target = self.prefixes(part).to_string();
            self.target = Some(target);
        } else if self.prefixes.is_empty() && self.disk.format.is_none() {
            if looks_like_device(part) {
                self.disk.format = Some("raw".into());
                self.device(part);
            } else {
                self.format(part);
            }
        } else if self.disk.device.is_empty() {
            self.device(part);
        } else if !self.access {
            self.access(part);
        } else {
            self.error(format!("{} is one field too many in this disk: left out", quoted(part)));
        }
    }

    /// Takes `tap:aio:` and the like off a target.
    fn prefixes<'b>(&mut self, mut part: &'b str) -> &'b str {
        while let Some((prefix, rest)) = part.split_once(':') {
            let known = BACKENDS.contains(&prefix) || FORMATS.contains(&prefix) || SCRIPTS.contains(&prefix);
            if !known {
                let is_word = prefix.starts_with(|c: char| c.is_ascii_lowercase())
                    && prefix.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
                let lower = prefix.to_ascii_lowercase();
                if is_word || BACKENDS.contains(&lower.as_str()) {
                    self.error(format!("{} is no prefix of a disk that xm or xl knows", quoted(prefix)));
                }
                break;
            }
            if FORMATS.contains(&prefix) {
                self.disk.format = Some(prefix.into());
            }
            self.prefixes.push(prefix.into());
            part = rest;
        }
        part
    }

    fn format(&mut self, value: &str) {
        let lower = value.to_ascii_lowercase();
        if value.is_empty() {
            self.disk.format = Some("raw".into());
        } else if XL_FORMATS.contains(&value) {
            self.disk.format = Some(value.into());
        } else if XL_FORMATS.contains(&lower.as_str()) {
            self.error(format!(
                "xl knows the format in lower case only: {} is taken as '{lower}'",
                quoted(value)
            ));
            self.disk.format = Some(lower);
        } else {
            self.error(format!("xl knows no format {}: {}", quoted(value), XL_FORMATS.join(", ")));
        }
    }

    /// `xvda`, `hdc:cdrom`, `ioemu:hda`.
    fn device(&mut self, value: &str) {
        let value = value.strip_prefix("ioemu:").unwrap_or(value);
        let (device, role) = value.split_once(':').unwrap_or((value, ""));
        self.disk.device = device.into();
        match role {
            "" => {}
            "cdrom" | "disk" | "floppy" => self.disk.role = role.into(),
            _ => self.error(format!("{} is no type of device: disk or cdrom", quoted(role))),
        }
    }

    fn access(&mut self, value: &str) {
        self.access = true;
        match value {
            "r" | "ro" => self.disk.writable = false,
            "w" | "rw" | "" => {}
            "w!" | "r!" => {
                self.disk.writable = value == "w!";
                let message = "'!' lets several guests have this disk at once: xl knows no such access";
                self.problems.warning(self.at, message);
            }
            "cdrom" => self.disk.role = "cdrom".into(),
            _ => self.error(format!("{} is no access of a disk: r or w", quoted(value))),
        }
    }

    fn finish(mut self) -> Disk {
        if self.disk.role == "cdrom" {
            self.disk.writable = false;
        }
        let target = self.target.take().unwrap_or_default();
        if self.disk.device.is_empty() {
            self.error(format!(
                "the disk {} has no device: write '{},raw,xvda,rw'",
                quoted(&target),
                quoted(&target).trim_matches('\'')
            ));
        }
        if target.is_empty() && self.disk.role != "cdrom" {
            self.error("the disk has no target: neither file nor device".into());
        }
        self.place(target);
        self.served();
        self.disk
    }

    /// What the target is, by its form and by what serves it.
    fn place(&mut self, target: String) {
        let serves = |name: &str| self.prefixes.iter().any(|prefix| prefix == name);
        let is_phy = serves("phy") || self.disk.backend.as_deref() == Some("phy");
        let is_file = self.prefixes.iter().any(|prefix| prefix != "phy");
        let script = self.prefixes.iter().any(|prefix| SCRIPTS.contains(&prefix.as_str()));
        self.disk.kind = if script {
            DiskKind::Network
        } else if is_phy || target.starts_with("/dev/") {
            DiskKind::Block
        } else {
            DiskKind::File
        };
        if !script && !target.is_empty() {
            let relative = !target.starts_with('/') && !is_file;
            self.disk.path = Some(if relative { format!("/dev/{target}") } else { target.clone() });
            if relative {
                self.disk.kind = DiskKind::Block;
            }
        }
        self.disk.target = target;
    }

    /// Format, backend and backing, where the item says none.
    fn served(&mut self) {
        if !self.prefixes.is_empty() {
            self.disk.backend = Some(self.prefixes.join(":"));
            self.told_of_prefixes();
        }
        let format = self.disk.format.get_or_insert_with(|| "raw".into()).clone();
        let is_loop = self.prefixes.first().is_some_and(|prefix| prefix == "file");
        let path = self.disk.path.as_deref().unwrap_or_default();
        self.disk.backing = match self.disk.kind {
            _ if self.disk.role != "disk" => None,
            DiskKind::Block => block_backing(path),
            DiskKind::File if is_loop => Some(Backing { offer: "loop", options: [].into() }),
            DiskKind::File if matches!(format.as_str(), "raw" | "qcow2") => {
                Some(Backing { offer: "file", options: [("format", format)].into() })
            }
            _ => None,
        };
    }

    /// What xl makes of a prefix is not what xm made of it.
    fn told_of_prefixes(&mut self) {
        let message = match self.prefixes.first().map(String::as_str) {
            Some("file") => {
                "the prefix 'file:' is deprecated: xm made it a loop device, xl leaves it out and serves the file by qdisk"
            }
            Some("tap" | "tap2" | "tapdisk" | "aio") => {
                "the prefix 'tap:' is deprecated: xm served the file by blktap, xl leaves it out and takes qdisk"
            }
            _ => return,
        };
        self.problems.warning(self.at, message);
    }
}

/// A word that can stand before `=`; a path with `=` in it is none.
fn is_key(key: &str) -> bool {
    let key = key.trim_end();
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_".contains(&byte))
}

/// In the place of a format: `hdc:cdrom`, or a device of xm's form without a prefix, `/root/x.img,hda,w`.
fn looks_like_device(part: &str) -> bool {
    let name = part.strip_prefix("ioemu:").unwrap_or(part);
    let name = name.split(':').next().unwrap_or_default();
    let letters = ["xvd", "hd", "sd", "vd"].iter().find_map(|kind| name.strip_prefix(kind));
    letters.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
