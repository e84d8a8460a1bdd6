//! The inputs that operations are tried with: what a run would send, made up.

use std::path::Path;

use crossvisor_model::{
    Accel, DomainSpec, Forward, Name, Network, Offer, Options, Place, Volume, VolumeSource,
};
use crossvisor_plugin::envelope::VERSION;
use crossvisor_plugin::{
    AliveInput, Call, CreateInput, DefineInput, InspectInput, Instance, ParseInput, Peer, RecordInput,
    Request, SourcesInput, StageInput, WorkInput,
};
use serde_json::Value;

/// Names that only this crate makes up, so that they are found again in what the plugin answers.
pub(crate) const FOLDER: &str = "/var/lib/crossvisor/live/check-4711";
pub(crate) const NAME: &str = "cv-check-v1-g1";
pub(crate) const GOLDEN: &str = "/var/cache/crossvisor/golden-4711.img";
pub(crate) const SSH_PORT: u16 = 42_117;
pub(crate) const BRIDGE: &str = "br4711";
/// Bytes of the image.
const GOLDEN_BYTES: u64 = 2 << 30;
/// Of each guest.
const MEMORY_MIB: u64 = 384;

/// A first request.
pub(crate) fn request(offer: &Offer, options: &Options, call: Call) -> Request {
    Request {
        v: VERSION,
        offer: offer.name.clone(),
        options: options.clone(),
        call,
        state: Value::Null,
        results: Vec::new(),
    }
}

fn volume() -> Volume {
    Volume {
        source: VolumeSource::File(format!("{FOLDER}/{NAME}.raw").into()),
        format: "raw".into(),
        cache: Some("none".into()),
        io: Some("threads".into()),
        backend: None,
    }
}

/// QEMU's user networking with a way to the guest's SSH port.
pub(crate) fn user() -> Network {
    let forwards = vec![Forward { host_port: SSH_PORT, guest_port: 22 }];
    Network::User { host_address: "10.0.2.2".into(), forwards }
}

pub(crate) fn bridge() -> Network {
    Network::Bridge { bridge: BRIDGE.into(), host_address: "fe80::5054:ff:fe47:11fe".into() }
}

/// A domain on a host that runs guests by `accel`.
fn domain(name: &Name, accel: Accel, network: Network) -> DomainSpec {
    DomainSpec {
        name: name.clone(),
        uuid: "6f2c1a90-3b1d-4d0e-9d5b-0c2a5e8f4711".into(),
        run: name.clone(),
        number: 1,
        multiboot: None,
        emulated_cpu: None,
        accel,
        vcpus: 1,
        memory_mib: MEMORY_MIB,
        mac: "52:54:00:47:11:01".into(),
        kernel: "/var/cache/crossvisor/vmlinuz-4711".into(),
        initrd: format!("{FOLDER}/{NAME}.initrd").into(),
        cmdline: "root=LABEL=crossvisor rw quiet".into(),
        console_log: format!("{FOLDER}/{NAME}.console").into(),
        volumes: vec![volume()],
        network,
    }
}

pub(crate) fn sources(place: Place) -> Call {
    let probe = format!("{FOLDER}/crossvisor-probe").into();
    Call::Sources(SourcesInput { place, driver: "qemu".into(), probe, interval_s: 1.0 })
}

/// What the source of the host's kernel would have printed.
pub(crate) fn record(source: Name, text: &str) -> Call {
    let (place, domains) = (Place::Host, std::collections::BTreeMap::new());
    Call::Record(RecordInput { source, place, text: text.into(), domains })
}

pub(crate) fn stage(name: &Name) -> Call {
    Call::Stage(StageInput {
        golden: GOLDEN.into(),
        golden_bytes: GOLDEN_BYTES,
        folder: FOLDER.into(),
        name: name.clone(),
        guests: 3,
        memory_bytes: MEMORY_MIB << 20,
        vcpus: 1,
    })
}

/// With `own_boot` the domain has an identity disk.
pub(crate) fn define(name: &Name, accel: Accel, network: Network, own_boot: bool) -> Call {
    let mut domain = domain(name, accel, network);
    let identity = || Volume::new(VolumeSource::File(format!("{FOLDER}/{NAME}.identity").into()), "raw");
    domain.volumes.extend(own_boot.then(identity));
    Call::Define(DefineInput { domain })
}

pub(crate) fn alive(name: &Name, accel: Accel) -> Call {
    Call::Alive(AliveInput { domain: domain(name, accel, user()) })
}

pub(crate) fn create(name: &Name, golden: &Path) -> Call {
    Call::Create(CreateInput {
        golden: golden.into(),
        golden_bytes: GOLDEN_BYTES,
        folder: FOLDER.into(),
        name: name.clone(),
    })
}

pub(crate) fn inspect() -> Call {
    Call::Inspect(InspectInput { volume: volume() })
}

/// One of the instances of a cell; on the bare host where `bare`.
pub(crate) fn instance(index: u32, bare: bool) -> Instance {
    Instance {
        index,
        place: if bare { Place::Host } else { Place::Guest(index) },
        folder: format!("/var/tmp/crossvisor/check-{index}").into(),
        probe: "/usr/local/bin/crossvisor-probe".into(),
        memory_bytes: MEMORY_MIB << 20,
        cpus: 1,
        peer: Peer {
            address: if bare { "127.0.0.1".into() } else { "10.0.2.2".into() },
            listen: "127.0.0.1".into(),
            port: 42_200 + u16::try_from(index).unwrap_or_default(),
        },
        address: bare.then(|| "127.0.0.1".into()),
    }
}

pub(crate) fn work(instances: &[Instance]) -> WorkInput {
    WorkInput { instances: instances.to_vec() }
}

pub(crate) fn parse(round: &str, exit: Option<i32>, stdout: &str, stderr: &str) -> Call {
    Call::Parse(ParseInput {
        round: round.into(),
        instance: instance(1, false),
        exit,
        stdout: stdout.into(),
        stderr: stderr.into(),
        wall_s: 1.25,
    })
}
