//! Hosts: machines that run guests, as a scenario names them and as they are reached.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Name};

/// A host as the scenario names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HostSpec {
    /// A machine that is there.
    Reached(HostAddress),
    /// A guest of this machine, made for the run and removed after it.
    Made(HostGuest),
    /// A guest of this machine that `crossvisor host up` has made.
    Kept { up: Name },
}

impl fmt::Display for HostSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reached(HostAddress { uri, ssh_config, bridge }) => {
                f.write_str(uri)?;
                bridge.iter().try_for_each(|bridge| write!(f, ", bridge {bridge}"))?;
                ssh_config.iter().try_for_each(|path| write!(f, ", SSH configuration {}", path.display()))
            }
            Self::Made(HostGuest { guest, memory, vcpus, disk }) => {
                write!(f, "made of guest {guest}")?;
                memory.iter().try_for_each(|memory| write!(f, ", memory {memory}"))?;
                vcpus.iter().try_for_each(|vcpus| write!(f, ", vCPUs {vcpus}"))?;
                disk.iter().try_for_each(|disk| write!(f, ", second disk {disk}"))
            }
            Self::Kept { up } => write!(f, "kept as {up}"),
        }
    }
}

/// How a host is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostAddress {
    /// A libvirt URI. `qemu:///embed` is libvirt's QEMU driver inside this process.
    pub uri: String,
    /// The configuration of OpenSSH for it, instead of the user's and the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_config: Option<PathBuf>,
    /// The bridge that its guests join. Without one they are behind QEMU's user networking, which Xen does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge: Option<String>,
}

impl HostAddress {
    /// An address that is only a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), ssh_config: None, bridge: None }
    }
}

/// The driver that a libvirt URI names: `xen` of `xen+ssh://root@rack/system`.
#[must_use]
pub fn driver(uri: &str) -> &str {
    uri.split([':', '+']).next().unwrap_or(uri)
}

/// Whether a libvirt URI leads to this machine: `qemu:///system` does, `qemu+ssh://rack/system` does not.
#[must_use]
pub fn is_local(uri: &str) -> bool {
    uri.split_once("://").is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// A host that is made of a guest definition; what is left out is as the definition has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostGuest {
    /// The definition's name.
    pub guest: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcpus: Option<u32>,
    /// Length of its second disk, which it makes its volume group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Bytes>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_says_what_kind_it_is() -> Result<(), Box<dyn std::error::Error>> {
        let guest = |memory, vcpus, disk| -> Result<_, crate::NameError> {
            Ok(HostSpec::Made(HostGuest { guest: Name::new("xen-host")?, memory, vcpus, disk }))
        };
        let rack = HostAddress {
            uri: "xen+ssh://rack/system".into(),
            ssh_config: Some("/etc/rack".into()),
            bridge: Some("br0".into()),
        };
        for (host, said) in [
            (HostSpec::Reached(HostAddress::new("qemu:///embed")), "qemu:///embed"),
            (HostSpec::Reached(rack), "xen+ssh://rack/system, bridge br0, SSH configuration /etc/rack"),
            (guest(None, None, None)?, "made of guest xen-host"),
            (
                guest(Some(Bytes(3 << 30)), Some(2), Some(Bytes(8 << 30)))?,
                "made of guest xen-host, memory 3GiB, vCPUs 2, second disk 8GiB",
            ),
            (HostSpec::Kept { up: Name::new("lab")? }, "kept as lab"),
        ] {
            assert_eq!(host.to_string(), said);
        }
        Ok(())
    }

    #[test]
    fn a_uri_tells_its_driver_and_whether_it_is_here() {
        for (uri, name, here) in [
            ("qemu:///embed?root=/x", "qemu", true),
            ("xen:///system", "xen", true),
            ("xen+ssh://root@rack:22/system", "xen", false),
            ("qemu+unix:///system", "qemu", true),
            ("test://", "test", true),
            ("rack", "rack", false),
        ] {
            assert_eq!((driver(uri), is_local(uri)), (name, here), "{uri}");
        }
    }
}
