//! TCP ports that nobody listens on.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;

use crossvisor_model::{Exec, Place};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Cancel, Machine, TargetError};

/// Below the ports that Linux gives to outgoing connections, and above those of most services.
const RANGE: RangeInclusive<u16> = 20_000..=31_999;

/// `count` different ports that nobody listens on now. They are not held: whoever uses one must be ready to fail.
///
/// # Errors
/// [`TargetError::Io`] when the system has none left.
pub fn free(count: usize) -> Result<Vec<u16>, TargetError> {
    let failed = || TargetError::io("find a free TCP port");
    let held: Vec<_> = (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect();
    held.into_iter()
        .map(|listener| Ok(listener.map_err(failed())?.local_addr().map_err(failed())?.port()))
        .collect()
}

/// `count` different ports of a machine that nobody listens on now, drawn at random so that two runs that ask at once
/// hardly meet. They are not held either.
///
/// # Errors
/// [`TargetError`] when the machine does not tell its sockets, or has not so many ports left.
pub fn free_on(machine: &dyn Machine, count: usize) -> Result<Vec<u16>, TargetError> {
    let table = Exec::new(Place::Host, ["cat", "/proc/net/tcp", "/proc/net/tcp6"], 30.0);
    // A machine without IPv6 has no second table.
    let tables = machine.run(&table, &Cancel::default())?.stdout;
    let taken: BTreeSet<u16> = listening(&tables).collect();
    let mut free: Vec<u16> = RANGE.filter(|port| !taken.contains(port)).collect();
    if tables.is_empty() || free.len() < count {
        let source = std::io::Error::other(format!("{} are free between {RANGE:?}", free.len()));
        return Err(TargetError::io(format!("find {count} free TCP ports"))(source));
    }
    (0..count).map(|_| Ok(free.swap_remove(random_below(free.len())?))).collect()
}

fn random_below(end: usize) -> Result<usize, TargetError> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|e| TargetError::io("draw a port")(e.into()))?;
    Ok(usize::from_ne_bytes(bytes) % end)
}

/// Whether a line of `/proc/net/tcp`, `tcp6`, `udp` or `udp6` (proc(5)) tells of a socket that listens on this port.
#[must_use]
pub fn is_listening(proc_net: &str, port: u16) -> bool {
    listening(proc_net).any(|listening| listening == port)
}

fn listening(proc_net: &str) -> impl Iterator<Item = u16> {
    /// `TCP_LISTEN`; and `TCP_CLOSE`, in which a UDP socket without a peer is and no TCP socket is shown.
    const WAITING: [&str; 2] = ["0A", "07"];
    proc_net.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (_, port) = fields.next()?.rsplit_once(':')?;
        WAITING.contains(&fields.nth(1)?).then(|| u16::from_str_radix(port, 16).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ() {
        let mut ports = free(8).expect("ports");
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 8);
    }

    #[test]
    fn ports_of_a_machine_differ_and_are_free() {
        let held = RANGE.rev().find_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok());
        let held = held.expect("listener").local_addr().expect("address").port();
        let mut ports = free_on(&crate::Local, 64).expect("ports");
        assert!(ports.iter().all(|port| RANGE.contains(port)));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 64);
        assert!(!ports.contains(&held));
    }

    #[test]
    fn more_ports_than_there_are_is_an_error() {
        assert!(free_on(&crate::Local, 20_000).is_err());
    }

    #[test]
    fn a_listening_socket_is_seen_until_it_closes() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listener");
        let port = listener.local_addr().expect("address").port();
        let table = || std::fs::read_to_string("/proc/net/tcp").expect("table");
        assert!(is_listening(&table(), port));
        drop(listener);
        assert!(!is_listening(&table(), port));
    }

    #[test]
    fn a_socket_for_datagrams_is_seen_until_it_closes() {
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("socket");
        let port = socket.local_addr().expect("address").port();
        let table = || std::fs::read_to_string("/proc/net/udp").expect("table");
        assert!(is_listening(&table(), port));
        drop(socket);
        assert!(!is_listening(&table(), port));
    }
}
