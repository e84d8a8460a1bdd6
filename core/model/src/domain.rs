//! What a hypervisor plugin is asked to make: a domain with its volumes and its network.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Name;

/// How a machine executes its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Accel {
    /// Hardware virtualisation by KVM.
    Kvm,
    /// QEMU's translator: emulation. Compare shapes, not figures.
    Tcg,
    /// Xen's hypervisor.
    Xen,
    /// No virtualisation: the host itself.
    None,
    /// Not known: measured elsewhere, by others. Never of a domain that is to be made.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl std::fmt::Display for Accel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
            Self::Xen => "xen",
            Self::None => "none",
            Self::Unknown => "unknown",
        })
    }
}

/// The XML namespace of the element `<domain run="…"/>` in the metadata of every domain that is ours.
pub const TAG_NAMESPACE: &str = "https://crossvisor.org/xmlns/domain/1.0";

/// A domain to be made. Paths are on the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DomainSpec {
    pub name: Name,
    /// RFC 4122 text form.
    pub uuid: String,
    /// Ours: the run this domain belongs to; goes into the domain's metadata.
    pub run: Name,
    /// Which of the cell's guests it is, from 1.
    #[serde(default = "first")]
    pub number: u32,
    pub accel: Accel,
    pub vcpus: u32,
    pub memory_mib: u64,
    /// `52:54:00:…`
    pub mac: String,
    /// What is started before the kernel, which is then its first module and the initrd its second: a guest that is a
    /// Xen host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiboot: Option<Multiboot>,
    /// The processor that the guest needs where it is emulated, in QEMU's words: `EPYC,+svm,-monitor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated_cpu: Option<String>,
    pub kernel: PathBuf,
    pub initrd: PathBuf,
    /// Kernel command line without a console argument: the variant knows its console.
    pub cmdline: String,
    /// Where the serial console is written.
    pub console_log: PathBuf,
    /// The first is the root disk.
    pub volumes: Vec<Volume>,
    pub network: Network,
}

fn first() -> u32 {
    1
}

/// A program of the Multiboot specification, version 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Multiboot {
    /// An ELF file on the host.
    pub kernel: PathBuf,
    pub cmdline: String,
    /// What the guest's own kernel command line gets in place of the variant's console.
    pub console: String,
}

/// How a domain reaches the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum Network {
    /// QEMU's user networking: the guest reaches the host at `host_address`; the host reaches the guest by forwards.
    User { host_address: String, forwards: Vec<Forward> },
    /// A bridge of the host, on which the guest takes the IPv6 link-local address that its MAC address makes (RFC 4291,
    /// appendix A); there the host is at `host_address`.
    Bridge { bridge: String, host_address: String },
}

/// A TCP port of the host's loopback that leads into the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forward {
    pub host_port: u16,
    pub guest_port: u16,
}

/// A disk of a domain, as its storage plugin made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Volume {
    pub source: VolumeSource,
    /// `raw`, `qcow2`.
    pub format: String,
    /// libvirt's words: `none`, `writeback`, `writethrough`, `directsync`, `unsafe`. `None`: the hypervisor's default.
    #[serde(default)]
    pub cache: Option<String>,
    /// libvirt's words: `native`, `threads`, `io_uring`. `None`: the hypervisor's default.
    #[serde(default)]
    pub io: Option<String>,
    /// What serves the volume to the domain, in the hypervisor's words: on Xen `phy`, `qdisk`, `tap`. `None`: the
    /// hypervisor's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

impl Volume {
    /// A volume of which all else is the hypervisor's choice.
    #[must_use]
    pub fn new(source: VolumeSource, format: &str) -> Self {
        Self { source, format: format.into(), cache: None, io: None, backend: None }
    }
}

/// What a volume lives on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VolumeSource {
    File(PathBuf),
    Block(PathBuf),
}
