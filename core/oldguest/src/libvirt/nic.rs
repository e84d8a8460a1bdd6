//! One `<interface>`.
//!
//! Owns its types and limits. It must never make up an address.

use super::place;
use super::tree::Element;
use crate::guest::Nic;
use crate::problem::{Problems, quoted};

/// Reads one network card.
pub(super) fn nic(interface: &Element, problems: &mut Problems) -> Nic {
    let attribute = |path: &str, name: &str| {
        interface.find(path).and_then(|element| element.attribute(name)).map(String::from)
    };
    let mut nic = Nic {
        line: interface.line,
        kind: interface.attribute("type").map(String::from),
        mac: attribute("mac", "address"),
        bridge: attribute("source", "bridge"),
        model: attribute("model", "type"),
        ip: attribute("ip", "address"),
        script: attribute("script", "path"),
        ..Nic::default()
    };
    for (key, path, name) in [
        ("network", "source", "network"),
        ("device", "source", "dev"),
        ("driver", "driver", "name"),
        ("queues", "driver", "queues"),
        ("mtu", "mtu", "size"),
        ("backend", "backenddomain", "name"),
        ("portgroup", "source", "portgroup"),
    ] {
        nic.other.extend(attribute(path, name).map(|value| (key.to_string(), value)));
    }
    // libvirt's unit is 1024 bytes a second.
    let average =
        interface.find("bandwidth").and_then(|limit| limit.find("outbound").or(limit.find("inbound")));
    if let Some((limit, average)) = average.and_then(|limit| Some((limit, limit.attribute("average")?))) {
        nic.rate_bytes_per_s = average.parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024));
        if nic.rate_bytes_per_s.is_none() {
            problems.error(place(limit), format!("{} is no bandwidth in KiB/s", quoted(average)));
        }
        nic.rate = Some(format!("{average} KiB/s"));
    }
    nic
}
