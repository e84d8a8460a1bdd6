//! Guests that cannot run beside each other, as copied descriptions describe them.
//!
//! Owns the comparison of guests with each other, and of a guest's name with its disks. It must never change a guest.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::guest::{Disk, OldGuest};
use crate::problem::quoted;

/// What two guests have that only one can have: a MAC or IP address, a UUID, a disk to write on. Guests come with the
/// name that people know them by.
#[must_use]
pub fn twins(guests: &[(String, &OldGuest)]) -> Vec<String> {
    let mut first: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, (called, guest)) in guests.iter().enumerate() {
        for own in own(guest) {
            match first.get(&own) {
                Some((other, at)) if *at != index => {
                    found.push(format!(
                        "{} and {} have the same {own}: was one copied from the other?",
                        quoted(other),
                        quoted(called)
                    ));
                }
                Some(_) => {}
                None => _ = first.insert(own, (called, index)),
            }
        }
    }
    found
}

/// What a guest has for itself, in words.
fn own(guest: &OldGuest) -> Vec<String> {
    let uuid = guest.uuid.iter().map(|uuid| format!("UUID {}", uuid.to_ascii_lowercase().replace('-', "")));
    let macs = guest
        .nics
        .iter()
        .filter_map(|nic| Some(format!("MAC address {}", nic.mac.as_deref()?.to_ascii_lowercase())));
    let ips = guest.nics.iter().filter_map(|nic| Some(format!("IP address {}", nic.ip.as_deref()?)));
    let disks = guest.disks.iter().filter(|disk| disk.writable && !disk.target.is_empty());
    let disks = disks.map(|disk| format!("disk {}", disk.path.as_ref().unwrap_or(&disk.target)));
    uuid.chain(macs).chain(ips).chain(disks).collect()
}

impl OldGuest {
    /// A disk whose path holds an address, where the guest is named by another.
    pub(crate) fn other_address_in_disk(&self) -> Option<&Disk> {
        let name: Ipv4Addr = self.name.as_deref()?.parse().ok()?;
        let is_other = |disk: &&Disk| {
            addresses(&disk.target).next().is_some() && addresses(&disk.target).all(|address| address != name)
        };
        self.disks.iter().find(is_other)
    }
}

fn addresses(text: &str) -> impl Iterator<Item = Ipv4Addr> {
    let runs = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    runs.filter_map(|run| run.trim_matches('.').parse().ok())
}
