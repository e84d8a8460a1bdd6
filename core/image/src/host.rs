//! A guest as a host: what a definition says of the machine that is made of it.
//!
//! Owns the `host` part of `guest.yaml`. It must never make that machine.

use crossvisor_model::{Bytes, HostOffer, Name, Options};
use serde::Deserialize;

/// How a guest is made a host, and what it is then.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostDefinition {
    /// Its libvirt, as it is named on the host itself: `xen:///system`.
    pub uri: String,
    /// The bridge that its guests join.
    pub bridge: String,
    /// The memory that it has by default.
    pub memory: Bytes,
    /// What its own system keeps of it: no guest fits in there.
    pub system_memory: Bytes,
    /// The virtual processors that it has by default.
    pub vcpus: u32,
    /// The default length of its second disk, which it makes its volume group.
    pub disk: Bytes,
    /// The hypervisor's offer, on the machine it is a guest of, that makes it.
    pub hypervisor: Name,
    /// The storage's offer, on the machine it is a guest of, that makes its root disk.
    pub storage: StorageChoice,
    /// The processor that it needs where it is emulated, in QEMU's words: `EPYC,+svm,-monitor`. Left out: QEMU's own.
    #[serde(default)]
    pub emulated_cpu: Option<String>,
}

/// An offer of a storage plugin with its options in their JSON form: sizes are whole bytes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageChoice {
    pub offer: Name,
    #[serde(default)]
    pub options: Options,
}

impl HostDefinition {
    pub(crate) fn offer(&self) -> HostOffer {
        HostOffer {
            memory: self.memory,
            system_memory: self.system_memory,
            uri: self.uri.clone(),
            bridge: self.bridge.clone(),
        }
    }

    /// # Errors
    /// What is not as it must be, with its key.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { uri, bridge, .. } = self;
        let named = |text: &str, others: &str| {
            text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c)) && !text.starts_with('-')
        };
        if !crossvisor_model::host::is_local(uri) || !named(uri, ":/+-_.") {
            return Err(format!(
                "host.uri: '{uri}' is not a libvirt URI of the host itself, as xen:///system"
            ));
        }
        // The kernel takes 15 bytes.
        if bridge.is_empty() || bridge.len() > 15 || !named(bridge, "-_.") {
            return Err(format!("host.bridge: '{bridge}' is not the name of a network interface"));
        }
        if self.vcpus == 0 {
            return Err("host.vcpus: a host has one or more".into());
        }
        if self.system_memory >= self.memory {
            let (system, all) = (self.system_memory, self.memory);
            return Err(format!("host.system_memory: {system} of {all} leaves nothing for guests"));
        }
        Ok(())
    }
}
