//! TCP ports of this machine's loopback.

use std::net::{Ipv4Addr, TcpListener};

use crate::TargetError;

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

/// Whether a line of `/proc/net/tcp` or `tcp6` (proc(5)) tells of a socket that listens on this port.
#[must_use]
pub fn is_listening(proc_net_tcp: &str, port: u16) -> bool {
    const LISTEN: &str = "0A";
    proc_net_tcp.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local_port = fields.next().and_then(|local| local.rsplit_once(':')).map(|(_, port)| port);
        let local_port = local_port.and_then(|port| u16::from_str_radix(port, 16).ok());
        local_port == Some(port) && fields.nth(1) == Some(LISTEN)
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
    fn a_listening_socket_is_seen_until_it_closes() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listener");
        let port = listener.local_addr().expect("address").port();
        let table = || std::fs::read_to_string("/proc/net/tcp").expect("table");
        assert!(is_listening(&table(), port));
        drop(listener);
        assert!(!is_listening(&table(), port));
    }
}
