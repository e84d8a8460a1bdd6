//! What the words of claims about xm/xl configuration mean.
//!
//! Owns their way to the guest that is read. It must never know a file.

use crossvisor_oldguest::{BootKind, OldGuest, Reading, Severity, xl};

use crate::{Claim, Kind, Row, Verdict, guest};

pub struct XenCfg;

const COLLISION: Verdict =
    Verdict::Cannot("one file alone collides with nothing: guests are compared elsewhere");

impl Kind for XenCfg {
    type Found = (Reading, String);

    fn read(_: &Row, content: &[u8]) -> Self::Found {
        let text = String::from_utf8_lossy(content).into_owned();
        (xl(&text), text)
    }

    fn check(claim: &Claim, (found, text): &Self::Found, _: &Row) -> Verdict {
        if claim.value.starts_with("vncpasswd present") {
            return hidden("vncpasswd", text, found);
        }
        match &found.guest {
            Some(guest) if claim.key.is_empty() => sentence(&claim.value, claim, guest, found),
            Some(guest) if claim.note == "collision" => value(claim, guest, found).and(COLLISION),
            Some(guest) => value(claim, guest, found),
            None => Verdict::Wrong(format!("no guest; {:?}", found.problems)),
        }
    }
}

fn value(claim: &Claim, old: &OldGuest, found: &Reading) -> Verdict {
    let wanted = claim.value.as_str();
    let text = |found: &Option<String>| Verdict::text(wanted, found.as_deref());
    let count = |found: usize| Verdict::number(wanted, Some(found as f64));
    let nic = |of: fn(&crossvisor_oldguest::Nic) -> &Option<String>| {
        let all: Vec<_> = old.nics.iter().filter_map(|nic| of(nic).as_deref()).collect();
        let is_right = all.iter().any(|value| value.eq_ignore_ascii_case(wanted));
        Verdict::of(is_right, format!("{all:?}"))
    };
    match (claim.subject.as_str(), claim.key.as_str()) {
        ("pci", "devices") => count(length(old, "pci")),
        ("vnuma", "nodes") => count(old.numa.len()),
        ("distances", row) => {
            let row: usize = row.trim_start_matches("row").parse().unwrap_or(usize::MAX);
            let found = old
                .numa
                .get(row)
                .map(|node| node.distances.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
            Verdict::text(wanted, found.as_deref())
        }
        (key, "entries") => count(length(old, key)),
        ("nic", "type") => nic(|nic| &nic.kind),
        (_, "name") => text(&old.name),
        (_, "memory") => guest::size(claim, old.memory),
        (_, "maxmem") => guest::size(claim, old.max_memory),
        (_, "vcpus") => count_of(wanted, Some(old.vcpus)),
        (_, "maxvcpus") => count_of(wanted, old.max_vcpus),
        (_, "cpus") => cpus(wanted, old, found),
        (_, "disks") => guest::disks(claim, old),
        (_, "disk") => guest::disk(wanted, old),
        (_, "target" | "vdev" | "access" | "format" | "backendtype") => guest::disk(wanted, old),
        (_, "backend") if wanted == "loop" => Verdict::of(
            old.disks.iter().any(|disk| disk.backing.as_ref().is_some_and(|backing| backing.offer == "loop")),
            format!("{:?}", old.disks),
        ),
        (_, "nics") => {
            let named =
                claim.note.split([' ', ',']).filter(|word| word.contains(':') || word.starts_with("xenbr"));
            let has = |word: &str| {
                old.nics
                    .iter()
                    .any(|nic| [&nic.mac, &nic.bridge].iter().any(|own| own.as_deref() == Some(word)))
            };
            let all = named.clone().all(has);
            count_of(wanted, u32::try_from(old.nics.len()).ok())
                .and(Verdict::of(all, format!("{:?}", old.nics)))
        }
        (_, "mac") => nic(|nic| &nic.mac),
        (_, "bridge") => nic(|nic| &nic.bridge),
        (_, "model") => nic(|nic| &nic.model),
        (_, "rate") => nic(|nic| &nic.rate),
        (_, "ip") if old.nics.iter().any(|nic| nic.ip.is_some()) => nic(|nic| &nic.ip),
        (_, "vifname") => Verdict::of(
            old.nics.iter().any(|nic| nic.other.get("vifname").is_some_and(|name| name == wanted)),
            format!("{:?}", old.nics),
        ),
        (_, "type" | "builder") => {
            Verdict::of(old.hypervisor.contains(&format!("xen-{wanted}")), old.hypervisor)
        }
        (_, "kernel") if old.boot.kind == BootKind::Pvgrub => text(&old.boot.loader),
        (_, "kernel") => text(&old.boot.kernel),
        (_, "ramdisk") => text(&old.boot.initrd),
        (_, "bootloader") => text(&old.boot.loader),
        (_, "boot") => text(&old.boot.order),
        (_, key) => guest::other(key, wanted, old).unwrap_or_else(|| cmdline(claim, old)),
    }
}

/// Words of the kernel's command line: `cmdline`, `extra`, and what looks like a claim within them.
fn cmdline(claim: &Claim, old: &OldGuest) -> Verdict {
    let cmdline = old.boot.cmdline.as_deref().unwrap_or_default();
    let word = match claim.key.as_str() {
        "cmdline" | "extra" => claim.value.clone(),
        key => format!("{key}={}", claim.value),
    };
    Verdict::of(!word.is_empty() && cmdline.contains(&word), format!("{cmdline:?} and {:?}", old.other))
}

fn count_of(wanted: &str, found: Option<u32>) -> Verdict {
    Verdict::number(wanted.split(' ').next().unwrap_or_default(), found.map(f64::from))
}

fn length(old: &OldGuest, key: &str) -> usize {
    old.other.get(key).and_then(|value| value.as_array()).map_or(0, Vec::len)
}

/// A set in either form; one that is refused is offered in words where it can be told.
fn cpus(wanted: &str, old: &OldGuest, found: &Reading) -> Verdict {
    let cpus = match wanted.split_once('-').map(|(first, last)| (first.parse::<u32>(), last.parse::<u32>())) {
        Some((Ok(first), Ok(last))) => {
            (first..=last).map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",")
        }
        _ => wanted.to_string(),
    };
    match &old.pinning {
        Some(pinning) => {
            let own: Vec<_> = pinning.cpus.iter().map(u32::to_string).collect();
            Verdict::text(&cpus, Some(&own.join(",")))
        }
        None => guest::told(&found.problems, Severity::Error, &[&cpus, "meant"]),
    }
}

/// Whether a password of the file is kept to it.
fn hidden(key: &str, text: &str, found: &Reading) -> Verdict {
    let password = text.split(key).nth(1).and_then(|rest| rest.split(['"', '\'']).nth(1)).unwrap_or_default();
    let json = serde_json::to_string(found).unwrap_or_default();
    Verdict::of(!password.is_empty() && !json.contains(password), json)
}

/// A claim in words.
fn sentence(words: &str, claim: &Claim, old: &OldGuest, found: &Reading) -> Verdict {
    let error = |words: &[&str]| guest::told(&found.problems, Severity::Error, words);
    let warning = |words: &[&str]| guest::told(&found.problems, Severity::Warning, words);
    if let Some(disk) = words.strip_prefix("disk").and_then(|rest| rest.split_once(' ')) {
        let verdict = guest::disk(disk.1, old);
        return if claim.note.contains("deprecated") {
            verdict.and(warning(&["deprecated"]))
        } else {
            verdict
        };
    }
    match words {
        "warn: name and disk differ" => warning(&["another address than the guest's name"]),
        "warn: pygrub with xvda1 partition image" => warning(&["xvda1", "pygrub", "partition"]),
        "extra and root ignored" => warning(&["'root' and 'extra' have no effect"]),
        "error: name unquoted" => error(&["not in quotes", "line 1"]),
        "error: vif = at line end" => error(&["the value is not in the line of its '='"]),
        "error: format QCOW2 unknown" => error(&["format", "'QCOW2'"]),
        _ if words.starts_with("error at the \"arch_libdir\" line") => error(&["expected an indented block"]),
        _ if words.contains("U+") => {
            let code = words.split(' ').find(|word| word.starts_with("U+")).unwrap_or_default();
            let line = words.split("line ").nth(1).and_then(|rest| rest.split(' ').next());
            let line = line.map_or(String::new(), |line| format!("line {line} "));
            error(&[code, &line])
        }
        _ if words.contains(' ') && !words.contains(':') => guest::disk(words, old),
        _ => Verdict::Wrong("no check for these words".into()),
    }
}
