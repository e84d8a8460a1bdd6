//! A hypervisor plugin: a guest is a QEMU process of its own, without libvirt. It starts nothing itself.

use std::path::PathBuf;

use crossvisor_plugin::model::{
    Accel, Action, DomainSpec, Exec, Forward, Manifest, Network, Place, Step, StepResult, VolumeSource,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{AliveInput, AliveOutput, DefineInput, Failure, Hypervisor, Resume, Turn, finish};
use serde_json::json;

pub struct Qemu;

crossvisor_plugin::plugin!(hypervisor_qemu, hypervisor, Qemu);

impl Hypervisor for Qemu {
    fn manifest(&self) -> Manifest {
        let manifest = json!({
            "name": "hypervisor-qemu", "version": env!("CARGO_PKG_VERSION"), "kind": "hypervisor",
            "summary": "QEMU by its own command line, without libvirt",
            "offers": [{
                "name": "qemu-plain", "summary": "virtio disk and network",
                "host_programs": ["qemu-system-x86_64", "pgrep", "pkill"],
            }],
        });
        serde_json::from_value(manifest).unwrap_or_else(|e| unreachable!("the manifest is one: {e}"))
    }

    fn define(&self, _: &Chosen, input: &DefineInput, _: &Resume) -> Result<Turn, Failure> {
        let domain = &input.domain;
        let start = Action::Exec(Exec::new(Place::Host, command_line(domain)?, 60.0));
        let kill = find(&["pkill", "--signal", "KILL"], domain);
        finish(vec![Step::new("start the emulator", start).undone_by(kill)], ())
    }

    fn alive(&self, _: &Chosen, input: &AliveInput, resume: &Resume) -> Result<Turn, Failure> {
        match resume.results.first() {
            Some(StepResult::Exec(found)) => finish(Vec::new(), AliveOutput { alive: found.exit == Some(0) }),
            _ => {
                let look = Step::new("look for the emulator", find(&["pgrep"], &input.domain));
                Ok(Turn { steps: vec![look], ..Turn::default() })
            }
        }
    }
}

fn command_line(domain: &DomainSpec) -> Result<Vec<String>, Failure> {
    let DomainSpec { name, uuid, accel, vcpus, memory_mib, kernel, initrd, cmdline, console_log, .. } =
        domain;
    if !matches!(accel, Accel::Kvm | Accel::Tcg) {
        return Err(Failure::new(format!("hypervisor-qemu runs with accel kvm or tcg, not {accel}")));
    }
    let Network::User { forwards, .. } = &domain.network else {
        return Err(Failure::new("hypervisor-qemu joins no bridge: take a host without one"));
    };
    let text = |word: &str| vec![word.to_string()];
    let pair = |option: &str, value: String| vec![option.to_string(), value];
    let cpu = if *accel == Accel::Kvm { pair("-cpu", "host".into()) } else { Vec::new() };
    Ok([
        text("qemu-system-x86_64"),
        text("-nodefaults"),
        text("-no-user-config"),
        pair("-display", "none".into()),
        text("-daemonize"),
        pair("-pidfile", pid_file(domain).display().to_string()),
        pair("-name", name.to_string()),
        pair("-uuid", uuid.clone()),
        pair("-machine", format!("pc,accel={accel}")),
        cpu,
        pair("-smp", vcpus.to_string()),
        pair("-m", memory_mib.to_string()),
        pair("-kernel", kernel.display().to_string()),
        pair("-initrd", initrd.display().to_string()),
        pair("-append", format!("{cmdline} console=ttyS0")),
        pair("-serial", format!("file:{}", console_log.display())),
        pair("-device", "virtio-rng-pci".into()),
        network(&domain.mac, forwards),
        disks(domain),
    ]
    .concat())
}

fn network(mac: &str, forwards: &[Forward]) -> Vec<String> {
    let ports = forwards.iter().map(|f| format!(",hostfwd=tcp:127.0.0.1:{}-:{}", f.host_port, f.guest_port));
    let netdev = format!("user,id=net0{}", ports.collect::<String>());
    let card = format!("virtio-net-pci,netdev=net0,mac={mac},romfile=");
    ["-netdev", &netdev, "-device", &card].map(String::from).into()
}

fn disks(domain: &DomainSpec) -> Vec<String> {
    let disk = |(index, volume): (usize, &crossvisor_plugin::model::Volume)| {
        let (VolumeSource::File(path) | VolumeSource::Block(path)) = &volume.source;
        // QEMU splits the value at commas; one that is doubled is a comma.
        let path = path.to_string_lossy().replace(',', ",,");
        let cache = volume.cache.as_deref().unwrap_or("writeback");
        let io = volume.io.as_deref().unwrap_or("threads");
        let format = &volume.format;
        let drive = format!("file={path},if=none,id=disk{index},format={format},cache={cache},aio={io}");
        let device = format!("virtio-blk-pci,drive=disk{index}");
        ["-drive", &drive, "-device", &device].map(String::from)
    };
    domain.volumes.iter().enumerate().flat_map(disk).collect()
}

/// Beside the console's log, in the run's own folder.
fn pid_file(domain: &DomainSpec) -> PathBuf {
    domain.console_log.with_extension("pid")
}

/// pgrep or pkill for this guest's process and no other: the number in the file, which QEMU keeps locked as long as it
/// runs, and the guest's UUID on its command line. They end with 1 where there is none.
fn find(program: &[&str], domain: &DomainSpec) -> Action {
    let file = pid_file(domain).display().to_string();
    let pattern = format!("-uuid {}", domain.uuid);
    let only = ["--logpidfile", "--pidfile", &file, "--full", "--", &pattern];
    let exec = Exec::new(Place::Host, program.iter().copied().chain(only), 30.0);
    Action::Exec(Exec { ok_exit: vec![0, 1], ..exec })
}
