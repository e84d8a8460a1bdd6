//! What the loaded plugins and known guests offer, by name: what a scenario can mean.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Bytes, HostGuest, Kind, Manifest, Name, Offer};

/// Every offer of every plugin, every guest image, and every host that is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    pub plugins: BTreeMap<Name, Manifest>,
    pub guests: BTreeMap<Name, GuestOffer>,
    /// Hosts that `crossvisor host up` has made, by the name it gave them.
    #[serde(default)]
    pub kept: BTreeMap<Name, HostGuest>,
}

/// What a scenario must know of a guest image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuestOffer {
    pub summary: String,
    /// The least memory the guest boots with.
    pub min_memory: Bytes,
    /// Set where the guest can be a host.
    #[serde(default)]
    pub host: Option<HostOffer>,
}

/// What a guest is as a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOffer {
    /// The memory that it has by default.
    pub memory: Bytes,
    /// What its own system keeps of it: no guest fits in there.
    pub system_memory: Bytes,
    /// Its libvirt, as it is named on the host itself: `xen:///system`.
    pub uri: String,
    /// The bridge that its guests join.
    pub bridge: String,
}

impl Catalog {
    /// The offer of this name and kind, with the plugin it belongs to.
    #[must_use]
    pub fn offer(&self, kind: Kind, name: &str) -> Option<(&Name, &Offer)> {
        self.offers(kind).find(|(_, offer)| offer.name.as_str() == name)
    }

    /// All offers of a kind that a scenario can use.
    pub fn offers(&self, kind: Kind) -> impl Iterator<Item = (&Name, &Offer)> {
        let of_kind = self.plugins.iter().filter(move |(_, manifest)| manifest.kind == kind);
        of_kind
            .flat_map(|(plugin, manifest)| manifest.offers.iter().map(move |offer| (plugin, offer)))
            .filter(|(_, offer)| !offer.only_imported)
    }
}
