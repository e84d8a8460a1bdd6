//! What is known of the hosts before any of them is asked: their libvirt drivers and what they have for guests.
//!
//! Owns the checks of hosts against guest definitions, kept hosts and hypervisors. It must never ask a host.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_model::host::{driver, is_local};
use crossvisor_model::{Bytes, Catalog, Cell, GuestOffer, HostGuest, HostOffer, HostSpec, Kind, Name, Use};

use crate::fit::GUEST_OVERHEAD;
use crate::reader::Reader;
use crate::scenario::{Host, Scenario};
use crate::source::Spanned;
use crate::suggest;

/// The only driver of libvirt whose guests need no bridge, and on which a host sees all its memory.
const QEMU: &str = "qemu";

/// The libvirt drivers of hosts and of hypervisors; where nothing is known, everything fits.
pub(crate) struct Ground<'a> {
    hosts: BTreeMap<&'a Name, &'a str>,
    hypervisors: BTreeMap<&'a Name, &'a [String]>,
}

impl<'a> Ground<'a> {
    pub fn new(scenario: &'a Scenario, catalog: &'a Catalog, uses: &'a BTreeMap<Name, Use>) -> Self {
        let hosts = scenario.hosts.iter();
        let hypervisors = uses.iter().filter_map(|(name, used)| {
            let (_, offer) = catalog.offer(Kind::Hypervisor, used.offer.as_str())?;
            (!offer.drivers.is_empty()).then_some((name, offer.drivers.as_slice()))
        });
        Self {
            hosts: hosts.filter_map(|(name, host)| Some((name, host_driver(&host.spec, catalog)?))).collect(),
            hypervisors: hypervisors.collect(),
        }
    }

    /// Whether a hypervisor (or `bare`) can run on a host.
    pub fn fits(&self, host: &Name, hypervisor: &Name) -> bool {
        match (self.hosts.get(host), self.hypervisors.get(hypervisor)) {
            (Some(driver), Some(drivers)) => drivers.iter().any(|known| known == driver),
            _ => true,
        }
    }

    /// Reports the hypervisors of the matrix that no host of it can run; when there are none, the hosts that can run
    /// none of them.
    pub fn check(&self, reader: &mut Reader, scenario: &Scenario, hosts: &[&Name]) {
        let axes = &scenario.matrix.axes;
        let fits = |host: &Name, name: &Spanned<Name>| self.fits(host, &name.value);
        let idle: Vec<_> =
            axes.hypervisor.iter().filter(|name| !hosts.iter().any(|host| fits(host, name))).collect();
        for name in &idle {
            if reader.is_full() {
                break;
            }
            self.misfit(reader, name, hosts, "any host of the matrix");
        }
        let included = |host: &Name| {
            scenario
                .matrix
                .include
                .iter()
                .filter_map(|point| point.host.as_ref())
                .any(|named| named.value == *host)
        };
        for host in hosts.iter().copied().filter(|_| idle.is_empty()) {
            if axes.hypervisor.iter().any(|name| fits(host, name)) || included(host) {
                continue;
            }
            let written = axes.host.iter().find(|named| named.value == *host).map(|named| named.span);
            let Some(span) = written.or_else(|| Some(scenario.hosts.get(host)?.span)) else { continue };
            let message = format!("host '{host}' can run no hypervisor of the matrix");
            let driver = self.driver(host);
            let help =
                format!("its libvirt driver is {driver}: add a hypervisor for it, or leave the host out");
            reader.problem(span, message, help);
        }
    }

    /// Reports a hypervisor that cannot run on `hosts`, which `place` calls so.
    pub fn misfit(&self, reader: &mut Reader, hypervisor: &Spanned<Name>, hosts: &[&Name], place: &str) {
        let needs =
            self.hypervisors.get(&hypervisor.value).map(|drivers| drivers.join(" or ")).unwrap_or_default();
        let have: Vec<_> = hosts.iter().map(|host| format!("{} ({host})", self.driver(host))).collect();
        let help = format!(
            "it needs libvirt's driver {needs}, there is {}: add such a host, or leave '{}' out",
            have.join(", "),
            hypervisor.value
        );
        reader.problem(hypervisor.span, format!("'{}' cannot run on {place}", hypervisor.value), help);
    }

    fn driver(&self, host: &Name) -> &str {
        self.hosts.get(host).copied().unwrap_or("unknown")
    }

    /// Guests must have a network: on most drivers that is a bridge.
    pub fn bridges(&self, reader: &mut Reader, scenario: &Scenario, cells: &[Cell]) {
        let with_guests: BTreeSet<&Name> =
            cells.iter().filter(|cell| !cell.axes.is_bare()).map(|cell| &cell.axes.host).collect();
        for (name, host) in scenario.hosts.iter().filter(|(name, _)| with_guests.contains(name)) {
            let HostSpec::Reached(address) = &host.spec else { continue };
            let driver = driver(&address.uri);
            if address.bridge.is_none() && driver != QEMU {
                let help = format!(
                    "libvirt's {driver} driver has no user networking: say which bridge of the host its guests join, \
                     as 'bridge: …'; see docs/hosts.md"
                );
                reader.problem(host.form, format!("host '{name}' has no bridge for its guests"), help);
            }
        }
    }
}

/// The definition that a made or kept host is of, and what is written of it.
fn definition<'a>(spec: &'a HostSpec, catalog: &'a Catalog) -> Option<(&'a HostGuest, &'a HostOffer)> {
    let guest = match spec {
        HostSpec::Reached(_) => None,
        HostSpec::Made(guest) => Some(guest),
        HostSpec::Kept { up } => catalog.kept.get(up),
    }?;
    Some((guest, catalog.guests.get(&guest.guest)?.host.as_ref()?))
}

fn host_driver<'a>(spec: &'a HostSpec, catalog: &'a Catalog) -> Option<&'a str> {
    match spec {
        HostSpec::Reached(address) => Some(driver(&address.uri)),
        _ => definition(spec, catalog).map(|(_, offer)| driver(&offer.uri)),
    }
}

/// What a made or kept host has in all, and what of it is for guests.
fn memory(spec: &HostSpec, catalog: &Catalog) -> Option<(Bytes, Bytes)> {
    let (guest, offer) = definition(spec, catalog)?;
    let all = guest.memory.unwrap_or(offer.memory);
    Some((all, Bytes(all.0.saturating_sub(offer.system_memory.0))))
}

/// What each host has for guests, as far as that is known: `here`, the memory of this machine, less what the hosts
/// take that are made on it, and what these have beside their own systems. Reports made hosts that do not fit.
pub(crate) fn capacities<'a>(
    reader: &mut Reader,
    scenario: &'a Scenario,
    catalog: &Catalog,
    here: Option<Bytes>,
) -> BTreeMap<&'a Name, Bytes> {
    let taken = taken(reader, scenario, catalog, here);
    let known = |host: &Host| match &host.spec {
        HostSpec::Reached(address) if is_local(&address.uri) && driver(&address.uri) == QEMU => {
            here.map(|here| Bytes(here.0.saturating_sub(taken.0)))
        }
        spec => memory(spec, catalog).map(|(_, free)| free),
    };
    scenario.hosts.iter().filter_map(|(name, host)| Some((name, known(host)?))).collect()
}

/// What the hosts take that are made on this machine, which must have it.
fn taken(reader: &mut Reader, scenario: &Scenario, catalog: &Catalog, here: Option<Bytes>) -> Bytes {
    let made = scenario.hosts.iter().filter(|(_, host)| matches!(host.spec, HostSpec::Made(_)));
    let made: Vec<_> =
        made.filter_map(|(name, host)| Some((name, host, memory(&host.spec, catalog)?.0))).collect();
    let taken = made.iter().flat_map(|(.., all)| [all.0, GUEST_OVERHEAD.0]).fold(0, u64::saturating_add);
    if let (Some(here), Some((_, last, _))) = (here.filter(|here| taken > here.0), made.last()) {
        let each: Vec<_> = made.iter().map(|(name, _, all)| format!("{name} {all}")).collect();
        let message = format!(
            "the hosts to be made need {} MiB of memory, this machine has {} MiB",
            taken.div_ceil(Bytes::MIB),
            here.mib()
        );
        let help = format!(
            "they take {}, and {GUEST_OVERHEAD} beside each: give them less memory, or use one in a scenario",
            each.join(", ")
        );
        reader.problem(last.memory, message, help);
    }
    Bytes(taken)
}

/// Reports hosts that cannot be made or are not kept.
pub(crate) fn known(reader: &mut Reader, scenario: &Scenario, catalog: &Catalog) {
    for (name, host) in &scenario.hosts {
        match &host.spec {
            HostSpec::Reached(_) => {}
            HostSpec::Made(guest) => made(reader, name, host, guest, catalog),
            HostSpec::Kept { up } if !catalog.kept.contains_key(up) => {
                let known: Vec<_> = catalog.kept.keys().map(Name::as_str).collect();
                let there = suggest::among(up.as_str(), "these hosts are up", &known);
                let help = format!("{there}; 'crossvisor host up' makes one");
                reader.problem(host.form, format!("no host '{up}' is up"), help);
            }
            HostSpec::Kept { .. } => {}
        }
    }
}

fn made(reader: &mut Reader, name: &Name, host: &Host, guest: &HostGuest, catalog: &Catalog) {
    let can_be = |guest: &&GuestOffer| guest.host.is_some();
    let offer = catalog.guests.get(&guest.guest);
    let Some(offer) = offer.filter(can_be) else {
        let what = match offer {
            Some(_) => format!("the guest '{}' cannot be a host", guest.guest),
            None => format!("there is no guest '{}' to make host '{name}' of", guest.guest),
        };
        let able: Vec<_> =
            catalog.guests.iter().filter(|(_, guest)| can_be(guest)).map(|(name, _)| name.as_str()).collect();
        reader.problem(
            host.form,
            what,
            suggest::among(guest.guest.as_str(), "those that can be hosts are", &able),
        );
        return;
    };
    if let Some(memory) = guest.memory.filter(|memory| *memory < offer.min_memory) {
        let message = format!("host '{name}' does not boot with {memory} of memory");
        reader.problem(host.memory, message, format!("give it at least {}", offer.min_memory));
    }
}
