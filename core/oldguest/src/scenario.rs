//! A scenario that repeats a guest's shape, with what it does not repeat as comments.
//!
//! Owns which hypervisors are worth comparing, and the text. It must never let a word of the guest's description become
//! YAML that was not meant: in comments it is one line, elsewhere it is quoted or checked.

use std::collections::BTreeMap;
use std::fmt::Write;

use crossvisor_model::{Bytes, Name};

use crate::cpus;
use crate::guest::{Backing, Disk, Family, Nic, OldGuest, Pinning};
use crate::lost::Lost;
use crossvisor_model::text::is_harmful;

/// Characters of a comment's line.
const LONGEST: usize = 200;
/// Lines that are written of one kind of thing.
const MOST: usize = 50;
/// The most vcpus of a scenario's guest.
const MOST_VCPUS: u32 = 512;

/// The guest image of the scenario.
#[derive(Clone, Debug)]
pub struct Image {
    pub name: Name,
    /// The least memory it boots with.
    pub min_memory: Bytes,
}

/// The text of the scenario. The hosts in it are examples.
#[must_use]
pub fn scenario(guest: &OldGuest, image: &Image) -> String {
    let mut out = Out(String::new());
    head(&mut out, guest);
    body(&mut out, guest, image);
    out.0
}

/// Lines; a string takes them all.
struct Out(String);

impl Out {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.0, "{text}");
    }

    /// A comment of one line, whatever the text holds.
    fn comment(&mut self, text: &str) {
        let more = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
        let text: String =
            text.chars().take(LONGEST).map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect();
        self.line(format!("# {text}{more}").trim_end());
    }

    /// The first items, each as a comment, and how many there are more.
    fn comments(&mut self, indent: &str, items: &[String]) {
        for item in items.iter().take(MOST) {
            self.comment(&format!("{indent}{item}"));
        }
        if let Some(more) = items.len().checked_sub(MOST).filter(|more| *more > 0) {
            self.comment(&format!("{indent}and {more} more"));
        }
    }
}

fn head(out: &mut Out, guest: &OldGuest) {
    out.comment(&format!("The shape of the guest {}, where it was and where it could go.", guest.called()));
    out.comment("");
    out.comment("EDIT before the first run: the values marked EDIT. docs/hosts.md says what the hosts need.");
    out.comment("");
    out.comment("What it has:");
    out.comments("  ", &has(guest));
    out.comment("");
    out.comment("What is not repeated: what is on its disks, and");
    let mut places: BTreeMap<&str, Vec<&Lost>> = BTreeMap::new();
    for lost in &guest.lost {
        places.entry(lost.on).or_default().push(lost);
    }
    for (place, lost) in places {
        out.comment(&match place {
            crate::lost::SCENARIOS => "  everywhere:".to_string(),
            place => format!("  on {place}:"),
        });
        let said = |lost: &&Lost| {
            let line = lost.line.map(|line| format!(" (line {line})")).unwrap_or_default();
            format!("{}{line}: {}", lost.what, lost.why)
        };
        out.comments("    ", &lost.iter().map(said).collect::<Vec<_>>());
    }
}

fn has(guest: &OldGuest) -> Vec<String> {
    let vcpus = if guest.vcpus == 1 { "1 vcpu".into() } else { format!("{} vcpus", guest.vcpus) };
    let memory =
        guest.memory.map_or("memory that is not said".into(), |memory| format!("{memory} of memory"));
    let mut lines = vec![format!("{}, {vcpus}, {memory}", guest.hypervisor)];
    lines.extend(
        guest.pinning.as_ref().map(|pinning| format!("CPUs of the host: {}", cpus::text(&pinning.cpus))),
    );
    lines.extend(guest.boot.cmdline.as_ref().map(|cmdline| format!("kernel command line: {cmdline}")));
    lines.extend(guest.disks.iter().map(disk));
    lines.extend(guest.nics.iter().map(nic));
    lines
}

fn disk(disk: &Disk) -> String {
    let access = if disk.writable { "" } else { ", read only" };
    let target = if disk.target.is_empty() { "no medium" } else { &disk.target };
    let format = disk.format.as_deref().map(|format| format!(" {format}")).unwrap_or_default();
    let backing =
        disk.backing.as_ref().map(|backing| format!(": {} here", backing.offer)).unwrap_or_default();
    format!("{} {}:{format} {target}{access}{backing}", disk.role, disk.device)
}

fn nic(nic: &Nic) -> String {
    let parts = [
        ("model", &nic.model),
        ("bridge", &nic.bridge),
        ("MAC", &nic.mac),
        ("IP", &nic.ip),
        ("rate", &nic.rate),
    ];
    let parts: Vec<_> =
        parts.iter().filter_map(|(key, value)| Some(format!("{key} {}", value.as_ref()?))).collect();
    if parts.is_empty() {
        "network card with defaults".into()
    } else {
        format!("network card: {}", parts.join(", "))
    }
}

fn body(out: &mut Out, guest: &OldGuest, image: &Image) {
    let (name, own) = (scenario_name(guest.called()), guest.hypervisor);
    out.line(&format!("name: {name}"));
    out.line(&format!("description: the shape of a guest of {own}\n"));
    hosts(out, guest);
    let memory = guest.memory.unwrap_or(image.min_memory).max(image.min_memory);
    let vcpus = guest.vcpus.clamp(1, MOST_VCPUS);
    if Some(memory) != guest.memory {
        let had = guest
            .memory
            .map_or("it is not said what the guest has".into(), |had| format!("the guest has {had}"));
        out.comment(&format!("EDIT: {had}; the image {} needs {}", image.name, image.min_memory));
    }
    out.line(&format!("guest: {{image: {}, memory: {memory}, vcpus: {vcpus}}}\n", image.name));
    let variants = variants(own);
    let storages = storages(guest);
    let names: Vec<&str> = storages.iter().map(|(name, _)| name.as_str()).collect();
    out.line("matrix:");
    out.line(&format!("  hypervisor: [{}]", variants.join(", ")));
    out.line(&format!("  storage: [{}]", names.join(", ")));
    out.line("  guests: [1]");
    let twice = Bytes(memory.0.saturating_mul(2));
    out.line(&format!(
        "  # bonnie writes twice the memory, {twice}: the image's disk must have room for that"
    ));
    out.line("  workload: [bonnie, iperf, pi]\n");
    if let Some(options) = guest.pinning.as_ref().and_then(|pinning| pin(pinning, guest.vcpus)) {
        out.line("hypervisors:");
        for variant in variants {
            out.line(&format!("  {variant}: {options} # EDIT: CPUs of the host that it runs on"));
        }
        out.line("");
    }
    out.line("storages:");
    for (name, backing) in &storages {
        out.line(&format!("  {name}: {}", options(backing)));
    }
    let host = if guest.family == Family::Xen { "xen" } else { "kvm" };
    out.line(&format!("\ncompare: {{baseline: {{host: {host}, hypervisor: {own}}}}}"));
}

fn hosts(out: &mut Out, guest: &OldGuest) {
    let bridge = guest.nics.iter().filter_map(|nic| nic.bridge.as_deref()).find(|bridge| is_bridge(bridge));
    let bridge = bridge.unwrap_or(if guest.family == Family::Xen { "xenbr0" } else { "br0" });
    out.line("hosts:");
    for (name, scheme) in [("xen", "xen"), ("kvm", "qemu")] {
        out.line(&format!("  {name}:"));
        out.line(&format!("    uri: \"{scheme}+ssh://root@{name}-host.example/system\" # EDIT"));
        out.line(&format!("    bridge: {} # EDIT", quote(bridge)));
    }
    out.line("");
}

/// A name that `bridge` takes.
fn is_bridge(bridge: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    bridge.len() <= 15 && bridge.chars().all(plain) && bridge.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// The guest's own variant, then what it could move to.
fn variants(own: &'static str) -> Vec<&'static str> {
    let others: &[&str] = match own {
        "xen-pv" | "xen-pv-grub" | "xen-hvm-pv" => &["xen-pvh", "kvm-virtio"],
        "xen-pvh" => &["kvm-virtio"],
        "xen-hvm" => &["xen-hvm-pv", "kvm-e1000-ide", "kvm-virtio"],
        "kvm-virtio" => &["xen-pvh", "xen-hvm-pv"],
        _ => &["kvm-virtio", "xen-hvm", "xen-pvh"],
    };
    [own].into_iter().chain(others.iter().copied()).collect()
}

/// Each different backing of the guest's disks with a name; a file where none has a counterpart.
fn storages(guest: &OldGuest) -> Vec<(String, Backing)> {
    let mut backings: Vec<Backing> = Vec::new();
    for backing in guest.disks.iter().filter_map(|disk| disk.backing.clone()) {
        if !backings.contains(&backing) && backings.len() < MOST {
            backings.push(backing);
        }
    }
    if backings.is_empty() {
        backings.push(Backing { offer: "file", options: BTreeMap::new() });
    }
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let named = |backing: Backing| {
        let count = counts.entry(backing.offer).or_default();
        *count += 1;
        let name = if *count == 1 { backing.offer.to_string() } else { format!("{}-{count}", backing.offer) };
        (name, backing)
    };
    backings.into_iter().map(named).collect()
}

fn options(backing: &Backing) -> String {
    let pairs: Vec<_> =
        backing.options.iter().map(|(key, value)| format!(", {key}: {}", quote(value))).collect();
    let edit = if backing.options.contains_key("vg") {
        " # EDIT: a volume group of the host that it is on"
    } else {
        ""
    };
    format!("{{use: {}{}}}{edit}", backing.offer, pairs.concat())
}

/// The options that pin vcpus, where there are any: one CPU for each where each has its own, or else all for all.
fn pin(pinning: &Pinning, vcpus: u32) -> Option<String> {
    let own = pinning.own(vcpus);
    let (cpus, pin) = own.as_ref().map_or((&pinning.cpus, "shared"), |own| (own, "own"));
    (!cpus.is_empty()).then(|| format!("{{cpus: {}, pin: {pin}}}", quote(&cpus::text(cpus))))
}

/// A double-quoted scalar: JSON's are YAML's.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The scenario's name: a valid one that is as near to the guest's as can be.
#[must_use]
pub fn scenario_name(text: &str) -> String {
    let plain =
        |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(plain).collect();
    let name: String =
        name.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().take(Name::MAX).collect();
    if name.is_empty() { "guest".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_whatever_they_were() {
        for (text, name) in [
            ("Web 1", "web-1"),
            ("10.0.1.200", "10.0.1.200"),
            ("../x", "x"),
            ("日本", "guest"),
            ("a\nb: c", "a-b--c"),
        ] {
            assert_eq!(scenario_name(text), name);
            assert!(Name::new(name).is_ok());
        }
        assert!(Name::new(scenario_name(&"x".repeat(100))).is_ok());
    }
}
