//! How the guests of a host are connected, and the way to them from here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::path::PathBuf;

use crossvisor_model::{Exec, Forward, Network, Place};
use crossvisor_target::ssh::{self, Way};
use crossvisor_target::{Cancel, Destination, Machine, TargetError};

/// The host as QEMU's user network shows it to a guest.
const USER_HOST: &str = "10.0.2.2";
const SSH_PORT: u16 = 22;
/// The network card of a guest that was started with `net.ifnames=0`.
const GUEST_CARD: &str = "eth0";

/// The network of a host's guests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestNetwork {
    /// QEMU's user networking: no bridge and no rights are needed.
    User,
    /// A bridge, on which everyone has the IPv6 link-local address that comes with its MAC address: no DHCP server and
    /// no plan of addresses is needed, and two runs cannot take each other's.
    Bridge { name: String, host: Ipv6Addr, index: u32 },
}

/// From here to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The host is this machine.
    Here,
    /// OpenSSH's way to it: destination and configuration.
    Ssh { destination: Destination, config: Option<PathBuf> },
}

impl GuestNetwork {
    /// The network that a bridge of the host makes.
    ///
    /// # Errors
    /// [`TargetError`] when the bridge is not there or has no link-local address.
    pub fn of_bridge(name: &str, machine: &dyn Machine) -> Result<Self, TargetError> {
        let argv = ["ip", "-6", "-o", "address", "show", "dev", name, "scope", "link"];
        let shown = machine.run(&Exec::new(Place::Host, argv, 15.0), &Cancel::default())?;
        let missing = |tail: String| TargetError::EndedEarly { what: format!("bridge {name}"), tail };
        if shown.exit != Some(0) {
            return Err(missing(format!("the host has no such interface: {}", shown.stderr.trim())));
        }
        let (index, host) = link_local(&shown.stdout).ok_or_else(|| {
            missing(
                "it has no IPv6 link-local address, at which its guests reach the host: give it one with \
                 'sysctl net.ipv6.conf.BRIDGE.disable_ipv6=0' and bring it up"
                    .into(),
            )
        })?;
        Ok(Self::Bridge { name: name.into(), host, index })
    }

    /// As a domain is connected; `ssh_port` is the host's port that leads to the guest's SSH server.
    pub fn of_domain(&self, ssh_port: u16) -> Network {
        match self {
            Self::User => Network::User {
                host_address: USER_HOST.into(),
                forwards: vec![Forward { host_port: ssh_port, guest_port: SSH_PORT }],
            },
            Self::Bridge { name, .. } => {
                Network::Bridge { bridge: name.clone(), host_address: self.host_address() }
            }
        }
    }

    /// The host's address inside a guest.
    pub fn host_address(&self) -> String {
        match self {
            Self::User => USER_HOST.into(),
            Self::Bridge { host, .. } => format!("{host}%{GUEST_CARD}"),
        }
    }

    /// The address of a guest with this MAC address inside another guest; `None` where guests are kept apart.
    pub fn guest_address(&self, mac: &str) -> Option<String> {
        match self {
            Self::User => None,
            Self::Bridge { .. } => Some(format!("{}%{GUEST_CARD}", of_mac(mac))),
        }
    }

    /// What a server on the host listens on, so that guests reach it.
    pub fn listen_address(&self) -> &'static str {
        match self {
            Self::User => "127.0.0.1",
            Self::Bridge { .. } => "::",
        }
    }

    /// The way to the SSH server of a guest with this MAC address.
    pub fn way_to(&self, passage: &Passage, ssh_port: u16, mac: &str) -> Way {
        let local = |socket: SocketAddr| Way::Direct(socket);
        match (passage, self) {
            (Passage::Here, Self::User) => local(SocketAddr::from((Ipv4Addr::LOCALHOST, ssh_port))),
            (Passage::Here, Self::Bridge { index, .. }) => {
                local(SocketAddrV6::new(of_mac(mac), SSH_PORT, 0, *index).into())
            }
            (Passage::Ssh { destination, config }, network) => {
                let to = match network {
                    Self::User => format!("{}:{ssh_port}", IpAddr::from(Ipv4Addr::LOCALHOST)),
                    Self::Bridge { name, .. } => format!("[{}%{name}]:{SSH_PORT}", of_mac(mac)),
                };
                ssh::through(destination, config.as_deref(), &to)
            }
        }
    }
}

/// Index and address in the first line that `ip -o address` shows: `4: br0    inet6 fe80::1/64 scope link`.
fn link_local(shown: &str) -> Option<(u32, Ipv6Addr)> {
    shown.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let index = words.next()?.strip_suffix(':')?.parse().ok()?;
        let address = words.skip_while(|word| *word != "inet6").nth(1)?;
        Some((index, address.split('/').next()?.parse().ok()?))
    })
}

/// The link-local address of a MAC address: RFC 4291, appendix A. The unspecified address for what is no MAC address.
fn of_mac(mac: &str) -> Ipv6Addr {
    let bytes: Vec<u16> = mac.split(':').filter_map(|byte| u16::from_str_radix(byte, 16).ok()).collect();
    match bytes[..] {
        [a, b, c, d, e, f] => {
            let words = [(a ^ 2) << 8 | b, c << 8 | 0xff, 0xfe00 | d, e << 8 | f];
            Ipv6Addr::new(0xfe80, 0, 0, 0, words[0], words[1], words[2], words[3])
        }
        _ => Ipv6Addr::UNSPECIFIED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_local_address_of_a_mac_is_that_of_the_rfc() {
        // The example of RFC 4291, appendix A, with the bits of 52:54:00.
        assert_eq!(of_mac("52:54:00:12:34:56").to_string(), "fe80::5054:ff:fe12:3456");
        assert_eq!(of_mac("00:00:5e:ff:00:01").to_string(), "fe80::200:5eff:feff:1");
        assert_eq!(of_mac("nonsense"), Ipv6Addr::UNSPECIFIED);
    }

    #[test]
    fn index_and_address_of_a_bridge_are_read_from_the_tool() {
        let shown = "4: cvbr0    inet6 fe80::fc54:ff:fe8f:1/64 scope link \\       valid_lft forever";
        let expected = Some((4, "fe80::fc54:ff:fe8f:1".parse().expect("address")));
        assert_eq!(link_local(shown), expected);
        assert_eq!(link_local(""), None);
    }

    #[test]
    fn a_guest_is_reached_directly_here_and_through_the_host_elsewhere() {
        let host = "fe80::1".parse().expect("address");
        let bridge = GuestNetwork::Bridge { name: "br0".into(), host, index: 4 };
        let mac = "52:54:00:12:34:56";
        let direct = |way: Way| match way {
            Way::Direct(socket) => socket.to_string(),
            Way::Through(argv) => argv.join(" "),
        };
        assert_eq!(direct(GuestNetwork::User.way_to(&Passage::Here, 2201, mac)), "127.0.0.1:2201");
        assert_eq!(direct(bridge.way_to(&Passage::Here, 0, mac)), "[fe80::5054:ff:fe12:3456%4]:22");
        let uri: crossvisor_target::Uri = "xen+ssh://root@far/system".parse().expect("uri");
        let far = Passage::Ssh { destination: uri.destination().expect("far"), config: None };
        assert!(direct(bridge.way_to(&far, 0, mac)).contains("[fe80::5054:ff:fe12:3456%br0]:22"));
        assert!(direct(GuestNetwork::User.way_to(&far, 2201, mac)).contains("127.0.0.1:2201"));
        assert_eq!(bridge.host_address(), "fe80::1%eth0");
        assert_eq!(bridge.guest_address(mac).as_deref(), Some("fe80::5054:ff:fe12:3456%eth0"));
        assert_eq!(GuestNetwork::User.guest_address(mac), None);
        assert_eq!((GuestNetwork::User.listen_address(), bridge.listen_address()), ("127.0.0.1", "::"));
    }
}
