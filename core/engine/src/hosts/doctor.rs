//! What a host has and lacks, and how to mend it. It must never change anything on the host but for a file of a moment
//! in a temporary folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crossvisor_model::host::{driver, is_local};
use crossvisor_model::{Exec, HostAddress, Kind, Name, Place};
use crossvisor_target::accel::Kvm;
use crossvisor_target::{Cancel, TargetError, facts};

use super::host::{Connections, Host};
use super::network::GuestNetwork;
use crate::context::Plugins;
use crate::{Settings, programs};

/// What was found of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Good,
    /// Runs are possible, but something is worse than it could be, or one plugin cannot be used.
    Poor,
    /// No run with guests is possible.
    Bad,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `libvirt`, `bridge`, `lvm` …
    pub what: String,
    pub health: Health,
    pub found: String,
    /// What to do about it; empty where nothing is to be done.
    pub mend: String,
}

impl Finding {
    fn good(what: &str, found: impl Into<String>) -> Self {
        Self { what: what.into(), health: Health::Good, found: found.into(), mend: String::new() }
    }

    fn ill(what: &str, health: Health, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.into(), health, found: found.into(), mend: mend.into() }
    }
}

/// Looks at a host.
#[must_use]
pub fn examine(
    name: &Name,
    address: &HostAddress,
    settings: &Settings,
    plugins: &Plugins,
    cancel: &Cancel,
) -> Vec<Finding> {
    let connections = Connections::new(settings, &settings.state);
    let host = match Host::attach(name, address, false, &connections, PathBuf::from("/tmp")) {
        Ok(host) => host,
        Err(error) => return vec![unreached(&error)],
    };
    if let Err(error) = run(&host, &["true"]) {
        return vec![unreached(&error)];
    }
    let mut findings = vec![machine(&host, address)];
    let libvirt = libvirt(&connections, address);
    let connected = libvirt.health == Health::Good;
    findings.push(libvirt);
    findings.push(acceleration(&host, settings, cancel, connected));
    findings.extend(network(&host));
    findings.extend(folders(&host));
    findings.extend(programs_of(&host, plugins));
    findings
}

fn unreached(error: &dyn std::fmt::Display) -> Finding {
    let mend = "mend this first: nothing else can be looked at";
    Finding::ill("the way there", Health::Bad, error.to_string(), mend)
}

fn run(host: &Host, argv: &[&str]) -> Result<String, TargetError> {
    let exec = Exec::new(Place::Host, argv.iter().copied(), 30.0);
    let result = host.machine.run(&exec, &Cancel::default())?;
    crate::exit::judge(&exec, &result)?;
    Ok(result.stdout)
}

fn machine(host: &Host, address: &HostAddress) -> Finding {
    let facts = facts::host(&*host.machine, &address.uri);
    let found = format!(
        "{}, Linux {}, {} x {}, {} MiB",
        facts.os,
        facts.kernel,
        facts.cpus,
        facts.cpu_model,
        facts.memory_bytes >> 20
    );
    Finding::good("machine", found)
}

fn libvirt(connections: &Connections<'_>, address: &HostAddress) -> Finding {
    let driver = driver(&address.uri);
    let versions = connections.get(address).and_then(|libvirt| libvirt.versions());
    match versions {
        Ok(versions) => {
            let text: Vec<_> =
                versions.into_iter().map(|(what, version)| format!("{what} {version}")).collect();
            Finding::good("libvirt", text.join(", "))
        }
        Err(error) => {
            let packages = format!("libvirt-daemon-system libvirt-daemon-driver-{driver}");
            let mend = format!(
                "on Debian: 'apt install {packages}' there, and let the user you log in as use libvirt \
                 (root, or a member of the group libvirt)"
            );
            Finding::ill("libvirt", Health::Bad, error.to_string(), mend)
        }
    }
}

fn acceleration(host: &Host, settings: &Settings, cancel: &Cancel, connected: bool) -> Finding {
    let what = "virtualisation";
    if driver(&host.address.uri) == "xen" {
        return match connected {
            true => Finding::good(what, "Xen"),
            false => Finding::ill(what, Health::Bad, "libvirt's Xen driver does not answer", XEN),
        };
    }
    match host.kvm(settings, cancel) {
        Ok(Kvm::Usable) => Finding::good(what, "KVM"),
        Ok(Kvm::Unusable(why)) => Finding::ill(what, Health::Poor, why, KVM),
        Err(error) => Finding::ill(what, Health::Poor, error.to_string(), KVM),
    }
}

const XEN: &str =
    "is this host booted under Xen? 'xl info' tells; on Debian: 'apt install xen-system-amd64' and reboot";
const KVM: &str = "guests are emulated, their figures are not those of KVM: turn on virtualisation in the firmware, \
    load kvm_intel or kvm_amd, and use a host that is no guest itself or nests";

fn network(host: &Host) -> Option<Finding> {
    let Some(bridge) = &host.address.bridge else {
        let mend = "Xen guests need one: say 'bridge: NAME' in the scenario, or '--bridge NAME' here";
        let missing = || Finding::ill("bridge", Health::Bad, "none is named", mend);
        return (driver(&host.address.uri) == "xen").then(missing);
    };
    Some(match GuestNetwork::of_bridge(bridge, &*host.machine) {
        Ok(network) => Finding::good("bridge", format!("{bridge}, the host is {}", network.host_address())),
        Err(error) => {
            let mend = format!(
                "'ip link add {bridge} type bridge' and 'ip link set {bridge} up', or name another: see docs/hosts.md"
            );
            Finding::ill("bridge", Health::Bad, error.to_string(), mend)
        }
    })
}

/// Room for volumes and images on a host elsewhere; here the program makes its own folders.
fn folders(host: &Host) -> Option<Finding> {
    if is_local(&host.address.uri) {
        return None;
    }
    let what = "folders";
    let script = "for d in /var/lib /var/cache; do test -w $d || { echo $d; exit 1; }; done";
    if let Err(error) = run(host, &["sh", "-c", script]) {
        let mend = "log in as root: runs keep their volumes in /var/lib/crossvisor and images in /var/cache/crossvisor";
        return Some(Finding::ill(what, Health::Bad, error.to_string(), mend));
    }
    let free = run(host, &["df", "--output=avail", "-B", "1M", "/var/lib"]).unwrap_or_default();
    let free = free.lines().nth(1).unwrap_or_default().trim().to_string();
    Some(Finding::good(what, format!("/var/lib has {free} MiB free")))
}

/// What each plugin that can be used with the host's driver needs on it.
fn programs_of(host: &Host, plugins: &Plugins) -> Vec<Finding> {
    let driver = driver(&host.address.uri);
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for plugin in plugins.values() {
        for offer in &plugin.manifest.offers {
            let fits = offer.drivers.is_empty() || offer.drivers.iter().any(|known| known == driver);
            let guest_programs = match plugin.manifest.kind {
                // The bare host does the same work.
                Kind::Workload => offer.guest_programs.as_slice(),
                Kind::Hypervisor | Kind::Storage | Kind::Telemetry => &[],
            };
            if fits {
                let programs = offer.host_programs.iter().chain(guest_programs).cloned();
                needs.entry(offer.name.to_string()).or_default().extend(programs);
            }
        }
    }
    let all: BTreeSet<String> = needs.values().flatten().cloned().collect();
    let missing = match programs::missing(&*host.machine, &all) {
        Ok(missing) => missing,
        Err(error) => return vec![Finding::ill("programs", Health::Bad, error.to_string(), "")],
    };
    let finding = |(offer, programs): (String, BTreeSet<String>)| {
        let lacking: Vec<_> = missing.iter().filter(|program| programs.contains(*program)).collect();
        if lacking.is_empty() {
            return Finding::good(&offer, "every program it needs is there");
        }
        let packages: BTreeSet<_> = lacking.iter().map(|program| programs::package(program)).collect();
        let packages = packages.into_iter().collect::<Vec<_>>().join(" ");
        let lacking = lacking.into_iter().cloned().collect::<Vec<_>>().join(", ");
        let mend = format!("'apt install {packages}' there, or do without {offer}");
        Finding::ill(&offer, Health::Poor, format!("lacks {lacking}"), mend)
    };
    needs.into_iter().map(finding).collect()
}
