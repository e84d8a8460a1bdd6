//! Who measures with whom.
//!
//! Owns the pairs of client and server, with address and port. It must never build a command line.

use crossvisor_plugin::model::Place;
use crossvisor_plugin::{Failure, Instance};

use crate::asked::Between;
use crate::report::Tool;

/// A client and what it connects to.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<'i> {
    pub client: &'i Instance,
    pub address: String,
    pub port: u16,
    /// `None` where the user runs it.
    pub server: Option<Server<'i>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Server<'i> {
    pub place: Place,
    /// `None`: all addresses.
    pub listen: Option<&'i str>,
}

/// The pairs of a cell, in the order of their clients.
///
/// # Errors
/// [`Failure`] when the instances cannot reach one another, or one has no partner.
pub fn pairs<'i>(between: &Between, tool: Tool, instances: &'i [Instance]) -> Result<Vec<Pair<'i>>, Failure> {
    match between {
        Between::Host => Ok(instances.iter().map(with_host).collect()),
        // On the bare host all ends are on the host.
        Between::Guests if instances.iter().all(|instance| instance.place == Place::Host) => {
            Ok(instances.iter().map(with_host).collect())
        }
        Between::Guests => guests(instances),
        Between::Outside { host, port } => outside(host, *port, tool, instances),
    }
}

fn with_host(instance: &Instance) -> Pair<'_> {
    let peer = &instance.peer;
    let server = Server { place: Place::Host, listen: Some(&peer.listen) };
    Pair { client: instance, address: peer.address.clone(), port: peer.port, server: Some(server) }
}

fn guests(instances: &[Instance]) -> Result<Vec<Pair<'_>>, Failure> {
    let two = instances.chunks(2).map(|two| match two {
        [client, server] => pair(client, server),
        _ => Err(Failure::new(format!(
            "between: guests measures pairs of guests, and one of {} has no partner: use an even number of guests",
            instances.len()
        ))),
    });
    two.collect()
}

fn pair<'i>(client: &'i Instance, server: &'i Instance) -> Result<Pair<'i>, Failure> {
    let address = server.address.clone().ok_or_else(|| {
        Failure::new(format!(
            "guest {} cannot reach guest {}: this host has user networking, which keeps guests apart; name a bridge of \
             the host in the scenario (hosts: bridge), or use between: host",
            client.index, server.index
        ))
    })?;
    let at = Server { place: server.place, listen: None };
    Ok(Pair { client, address, port: server.peer.port, server: Some(at) })
}

/// A server of iperf3 takes one client at a time, so that every instance needs one of its own; iperf 2 takes all.
fn outside<'i>(
    host: &str,
    first: u16,
    tool: Tool,
    instances: &'i [Instance],
) -> Result<Vec<Pair<'i>>, Failure> {
    let pair = |(offset, client): (usize, &'i Instance)| {
        let offset = if tool == Tool::Iperf3 { u16::try_from(offset).ok()? } else { 0 };
        let port = first.checked_add(offset)?;
        Some(Pair { client, address: host.into(), port, server: None })
    };
    let pairs: Option<Vec<Pair<'i>>> = instances.iter().enumerate().map(pair).collect();
    pairs.ok_or_else(|| {
        Failure::new(format!(
            "every instance needs a server of its own, on ports from {first} on: {} of them do not fit below 65536",
            instances.len()
        ))
    })
}
