//! One item of `vif`.
//!
//! Owns the grammar of xl-network-configuration(5). It must never make up an address.

use crate::guest::Nic;
use crate::problem::{Place, Problems, quoted};

/// Keys that are kept as they are.
const OTHERS: [&str; 10] =
    ["vifname", "backend", "gatewaydev", "netdev", "mtu", "devid", "accel", "policy", "vlan", "uuid"];

/// Reads one item; an empty one is a card with defaults.
pub(super) fn vif(item: &str, at: Place, problems: &mut Problems) -> Nic {
    let mut nic = Nic { line: at.line, ..Nic::default() };
    for part in item.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            problems.error(at, format!("{} in a vif is no key with a value: left out", quoted(part)));
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        let text = Some(value.to_string());
        match key {
            "mac" => {
                if !is_mac(value) {
                    problems.error(
                        at,
                        format!("{} is no MAC address: six pairs of hexadecimal digits", quoted(value)),
                    );
                }
                nic.mac = text;
            }
            "type" => nic.kind = text,
            "bridge" => nic.bridge = text,
            "model" => nic.model = text,
            "ip" => nic.ip = text,
            "script" => nic.script = text,
            "rate" => {
                nic.rate_bytes_per_s = rate(value);
                if nic.rate_bytes_per_s.is_none() {
                    problems.error(
                        at,
                        format!("{} is no rate: write it like 10Mb/s or 500KB/s@20ms", quoted(value)),
                    );
                }
                nic.rate = text;
            }
            _ if OTHERS.contains(&key) || key.starts_with("colo") => {
                nic.other.insert(key.into(), value.into());
            }
            _ => problems.error(at, format!("xl knows no {} of a vif: left out", quoted(key))),
        }
    }
    nic
}

pub(super) fn is_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split(':').collect();
    let pair = |pair: &&str| matches!(pair.len(), 1 | 2) && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    pairs.len() == 6 && pairs.iter().all(pair)
}

/// Bytes a second of `10Mb/s`, `250KB/s@20ms`, `1GB/s`: K, M and G are powers of 1000, `b` is a bit. xl lets neither a
/// fraction nor 2³² and more in the number.
fn rate(text: &str) -> Option<u64> {
    let rate = text.split_once('@').map_or(text, |(rate, _)| rate).strip_suffix("/s")?;
    let (rate, bits) = match rate.strip_suffix('b') {
        Some(rate) => (rate, true),
        None => (rate.strip_suffix('B')?, false),
    };
    let scales = [('G', 1_000_000_000), ('M', 1_000_000), ('K', 1000)];
    let scaled = scales.iter().find_map(|(unit, scale)| Some((rate.strip_suffix(*unit)?, *scale)));
    let (digits, scale) = scaled.unwrap_or((rate, 1));
    let number: u32 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let per_s = u64::from(number) * scale;
    (number > 0).then_some(if bits { per_s / 8 } else { per_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_1000_and_bits_are_eighths() {
        for (text, bytes) in [
            ("10240KB/s", Some(10_240_000)),
            ("10Mb/s", Some(1_250_000)),
            ("1GB/s@20ms", Some(1_000_000_000)),
            ("100B/s", Some(100)),
            ("0KB/s", None),
            ("1.5MB/s", None),
            ("10MB", None),
            ("4294967296B/s", None),
            ("", None),
        ] {
            assert_eq!(rate(text), bytes, "{text}");
        }
    }

    #[test]
    fn spaces_and_empty_items_do_no_harm() {
        let mut problems = Problems::default();
        let at = Place { line: 1, column: 1 };
        let nic = vif(" mac = 00:16:3e:00:00:01 , bridge=br1,,ip=192.0.2.7 ", at, &mut problems);
        assert_eq!(nic.mac.as_deref(), Some("00:16:3e:00:00:01"));
        assert_eq!((nic.bridge.as_deref(), nic.ip.as_deref()), (Some("br1"), Some("192.0.2.7")));
        assert_eq!(vif("", at, &mut problems), Nic { line: 1, ..Nic::default() });
        assert!(problems.sorted().is_empty());
        let mut problems = Problems::default();
        vif("mac=00:16:3e, speed=3, e1000, rate=fast", at, &mut problems);
        assert_eq!(problems.sorted().len(), 4);
    }
}
