//! A catalogue and a host to plan against: every kind of option, no real plugin.

use std::collections::BTreeMap;

use crossvisor_model::{
    Better, Bytes, Catalog, GuestOffer, HostGuest, HostOffer, Kind, Manifest, MetricSpec, Name, Offer,
    OptionKind, OptionSpec,
};
use crossvisor_scenario::{Problem, parse, plan};
use serde_json::json;

pub fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn option(name: &str, kind: OptionKind, default: Option<serde_json::Value>) -> OptionSpec {
    OptionSpec { name: name.into(), kind, default, help: String::new() }
}

fn offer(text: &str, options: Vec<OptionSpec>) -> Offer {
    Offer { options, ..Offer::new(name(text), "") }
}

/// Hypervisors that work on one driver of libvirt.
fn hypervisors(driver: &str, offers: &[&str]) -> Vec<Offer> {
    let one = |text: &&str| Offer { drivers: vec![driver.into()], ..offer(text, vec![]) };
    offers.iter().map(one).collect()
}

/// A guest that boots with 256 MiB, and with what it has as a host.
fn guest(text: &str, host: Option<HostOffer>) -> (Name, GuestOffer) {
    (name(text), GuestOffer { summary: String::new(), min_memory: Bytes(256 * Bytes::MIB), host })
}

fn host(uri: &str) -> Option<HostOffer> {
    let [memory, system_memory] = [1536, 1024].map(|mib| Bytes(mib * Bytes::MIB));
    Some(HostOffer { memory, system_memory, uri: uri.into(), bridge: "guests".into() })
}

fn plugin(text: &str, kind: Kind, offers: Vec<Offer>) -> (Name, Manifest) {
    let manifest = Manifest { name: name(text), version: "0".into(), kind, summary: String::new(), offers };
    (name(text), manifest)
}

fn words(of: &[&str]) -> OptionKind {
    OptionKind::Choice { of: of.iter().map(ToString::to_string).collect() }
}

/// Metrics found by a regular expression or a JSON pointer.
fn described() -> OptionKind {
    OptionKind::Metrics {
        sources: vec![option("regex", OptionKind::Pattern, None), option("json", OptionKind::Pointer, None)],
        keys: vec![option("nth", OptionKind::Integer { min: -9, max: 9 }, Some(json!(1)))],
    }
}

/// An offer with a metric of its own.
fn command_offer(options: Vec<OptionSpec>) -> Offer {
    let wall = MetricSpec::new("wall", "time", "s", Better::Lower);
    Offer { metrics: vec![wall], ..offer("command", options) }
}

pub fn catalog() -> Catalog {
    let size = |max_mib: u64| OptionKind::Size { min: Bytes::MIB, max: max_mib * Bytes::MIB };
    let file = vec![
        option("format", words(&["raw", "qcow2"]), Some(json!("raw"))),
        option("cache", words(&["none", "writeback", "off"]), None),
    ];
    let bonnie = vec![
        option("size", size(1 << 20), Some(json!(67_108_864))),
        option("ram", size(1 << 20), None),
        option("fast", OptionKind::Boolean, Some(json!(false))),
        option("files", OptionKind::Integer { min: 0, max: 1024 }, Some(json!(1))),
        option("direct", OptionKind::Boolean, Some(json!(false))),
        option("label", OptionKind::Text, None),
        option("user", OptionKind::Text, None),
    ];
    let iperf = vec![
        option("time", OptionKind::Duration { min: 1.0, max: 3600.0 }, Some(json!(10.0))),
        option("parallel", OptionKind::Integer { min: 1, max: 128 }, None),
        option("window", OptionKind::Size { min: Bytes::KIB, max: Bytes::MIB }, None),
    ];
    let pi = vec![
        option("digits", OptionKind::Integer { min: 10, max: 1_000_000 }, Some(json!(1000))),
        option("repeat", OptionKind::Integer { min: 1, max: 1000 }, Some(json!(5))),
    ];
    let command = vec![
        option("argv", OptionKind::Words { min: 1, max: 4 }, None),
        option("metrics", described(), None),
    ];
    let vg = || vec![option("vg", OptionKind::Text, None)];
    let storages =
        vec![offer("file", file), offer("lvm", vg()), offer("snapshot", vg()), offer("loop", vec![])];
    Catalog {
        plugins: BTreeMap::from([
            plugin(
                "hypervisor-fake",
                Kind::Hypervisor,
                [
                    hypervisors("qemu", &["kvm-virtio", "kvm-e1000"]),
                    hypervisors("xen", &["xen-pv", "xen-pv-grub", "xen-pvh", "xen-hvm", "xen-hvm-pv"]),
                ]
                .concat(),
            ),
            plugin("storage-fake", Kind::Storage, storages),
            plugin(
                "workload-fake",
                Kind::Workload,
                ["cpu", "memread", "memwrite", "db12", "pythia"]
                    .map(|job| offer(job, vec![]))
                    .into_iter()
                    .chain([
                        offer("bonnie", bonnie),
                        offer("iperf", iperf),
                        offer("pi", pi),
                        command_offer(command),
                    ])
                    .collect(),
            ),
            plugin("telemetry-fake", Kind::Telemetry, vec![offer("system", vec![]), offer("xen", vec![])]),
        ]),
        guests: BTreeMap::from([
            guest("debian-12", None),
            guest("debian-12-hep", None),
            guest("debian-12-large", None),
            guest("kvm-host", host("qemu:///system")),
            guest("xen-host", host("xen:///system")),
        ]),
        kept: BTreeMap::from([(
            name("lab"),
            HostGuest { guest: name("xen-host"), memory: None, vcpus: None, disk: None },
        )]),
    }
}

/// The memory of the machine that is planned on.
pub const HERE: Bytes = Bytes(4096 * Bytes::MIB);

/// The plan of a scenario text.
pub fn planned(text: &str, file: &str) -> Result<crossvisor_model::Plan, Vec<Problem>> {
    planned_on(&catalog(), HERE, text, file)
}

/// The plan of a scenario text on a machine with this memory and this catalogue.
pub fn planned_on(
    catalog: &Catalog,
    memory: Bytes,
    text: &str,
    file: &str,
) -> Result<crossvisor_model::Plan, Vec<Problem>> {
    parse(text, file).and_then(|scenario| plan(&scenario, catalog, Some(memory)))
}
