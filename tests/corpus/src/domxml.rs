//! What the words of claims about libvirt's domain XML mean.
//!
//! Owns their way to the guests that are read. It must never know a file.

use crossvisor_oldguest::{OldGuest, Reading, Severity, libvirt};

use crate::{Claim, Kind, Row, Verdict, guest};

pub struct DomXml;

impl Kind for DomXml {
    type Found = Vec<Reading>;

    fn read(_: &Row, content: &[u8]) -> Vec<Reading> {
        libvirt(&String::from_utf8_lossy(content))
    }

    fn check(claim: &Claim, found: &Vec<Reading>, _: &Row) -> Verdict {
        if claim.key == "documents" {
            return Verdict::number(
                &claim.value,
                Some(found.iter().filter(|reading| reading.guest.is_some()).count() as f64),
            );
        }
        // What holds of a file of several documents holds of the last: the guest as it stayed.
        let Some(reading) = found.iter().rev().find(|reading| reading.guest.is_some()) else {
            return Verdict::Wrong(format!("no guest; {found:?}"));
        };
        match &reading.guest {
            Some(guest) => of_guest(claim, guest, reading),
            None => Verdict::Wrong("no guest".into()),
        }
    }
}

fn of_guest(claim: &Claim, old: &OldGuest, reading: &Reading) -> Verdict {
    let wanted = claim.value.as_str();
    let text = |found: &Option<String>| Verdict::text(wanted, found.as_deref());
    let named = |name: &str| old.other.get(name).and_then(|value| value.as_str());
    let pinning = old.pinning.clone().unwrap_or_default();
    let joined = |cpus: Option<&Vec<u32>>| {
        cpus.map(|cpus| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(","))
    };
    match (claim.subject.as_str(), claim.key.as_str()) {
        (_, "") => sentence(wanted, old, reading),
        ("vcpupin", vcpu) => {
            let cpus = vcpu.parse().ok().and_then(|vcpu: u32| pinning.each.get(&vcpu));
            Verdict::text(wanted, joined(cpus).as_deref())
        }
        (_, "emulatorpin") => Verdict::text(wanted, joined(pinning.emulator.as_ref()).as_deref()),
        ("os", "type") => Verdict::text(wanted, named("os type")),
        ("virt", "type") => Verdict::of(old.hypervisor == format!("xen-{wanted}"), old.hypervisor),
        (_, "name") => text(&old.name),
        (_, "uuid") => text(&old.uuid),
        (_, "memory") => guest::size(claim, old.max_memory.or(old.memory)),
        (_, "current") => guest::size(claim, old.memory),
        (_, "vcpus") => Verdict::number(wanted, Some(f64::from(old.vcpus))),
        (_, "kernel") => text(&old.boot.kernel),
        (_, "loader") => text(&old.boot.loader),
        (_, "cmdline" | "console") => {
            let word = if claim.key == "cmdline" { wanted.into() } else { format!("{}={wanted}", claim.key) };
            Verdict::of(
                old.boot.cmdline.as_deref().is_some_and(|line| line.contains(&word)),
                format!("{:?}", old.boot),
            )
        }
        (_, "machine") => Verdict::text(wanted, named("machine")),
        (_, "mac") => nic(old, |nic| nic.mac.as_deref() == Some(wanted)),
        (_, "bridge") => nic(old, |nic| nic.bridge.as_deref() == Some(wanted)),
        (_, "disks") => guest::disks(claim, old),
        ("disk", "driver") | (_, "disk") => guest::disk(wanted, old),
        (words, "cache") => {
            let is_default = old.disks.iter().all(|disk| disk.cache.is_none());
            guest::disk(words, old)
                .and(Verdict::of(is_default == (wanted == "default"), format!("{:?}", old.disks)))
        }
        (device, limit) if limit.ends_with("_sec") => {
            let disk = old.disks.iter().find(|disk| disk.device == device);
            let found = disk.and_then(|disk| disk.limits.get(limit)).map(|limit| *limit as f64);
            Verdict::number(wanted.split(' ').next().unwrap_or_default(), found)
        }
        (_, device) => guest::disk(&format!("{device} {wanted}"), old),
    }
}

fn nic(old: &OldGuest, is: impl Fn(&crossvisor_oldguest::Nic) -> bool) -> Verdict {
    Verdict::of(old.nics.iter().any(is), format!("{:?}", old.nics))
}

/// A claim in words.
fn sentence(words: &str, old: &OldGuest, reading: &Reading) -> Verdict {
    match words {
        "warn: PV cannot boot from cdrom" => {
            guest::told(&reading.problems, Severity::Warning, &["PV", "cannot boot", "cdrom"])
        }
        "error: document truncated" => {
            guest::told(&reading.problems, Severity::Error, &["the document is cut off"])
        }
        _ => match words.split_once(' ') {
            Some(("nic", model)) => nic(old, |nic| nic.model.as_deref() == Some(model)),
            _ => guest::disk(words, old),
        },
    }
}
