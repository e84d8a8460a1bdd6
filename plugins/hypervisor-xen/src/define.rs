//! Making a domain: whether it can be made as asked, and the steps.
//!
//! Owns what is refused. It must never write XML itself.

use std::path::PathBuf;

use crossvisor_plugin::model::{Accel, Action, DomainSpec, Exec, Network, Place, Step};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{DefineOutput, Failure, Turn, cpus, finish};

use crate::disk::{Disk, disk};
use crate::variant::{Loader, Variant};
use crate::xml::{self, PVGRUB, Start};

/// Where xenconsoled writes the consoles of guests, when it is told to.
const CONSOLES: &str = "/var/log/xen/console";
/// Where libxl keeps what the boot loaders of guests said.
const BOOT_LOADER_LOGS: &str = "/var/log/xen/bootloader.*.log";
const TEST_TIMEOUT_S: f64 = 30.0;
/// Disks that the emulated IDE controller has room for.
const IDE_DISKS: usize = 4;
/// Disks that have one letter in their name.
const PV_DISKS: usize = 26;

/// Defines and starts a domain.
///
/// # Errors
/// [`Failure`] for what Xen cannot give it.
pub fn define(chosen: &Chosen, variant: &Variant, spec: &DomainSpec) -> Result<Turn, Failure> {
    let mode = variant.mode;
    let bridge = check(variant, spec)?;
    let disks = spec.volumes.iter().map(|volume| disk(mode, volume)).collect::<Result<Vec<_>, _>>()?;
    let placement = cpus::placement(chosen, spec)?;
    let loader = variant.loader(chosen)?;
    let xml = xml::domain(Start { mode, loader }, spec, &disks, bridge, placement.as_ref())?;
    let name = spec.name.to_string();
    let define = Step::new("define the domain", Action::DomainDefine { xml })
        .undone_by(Action::DomainUndefine { name: name.clone() });
    let start = Step::new(say_start(loader), Action::DomainStart { name: name.clone() })
        .undone_by(Action::DomainStop { name });
    let log = (!mode.is_hvm()).then(|| console_log(spec));
    let mut steps = vec![define];
    steps.extend(log.clone().map(look_for_consoles));
    steps.extend((loader == Some(Loader::Pvgrub)).then(look_for_pvgrub));
    steps.push(start);
    let volumes = Some(disks.into_iter().map(|Disk { used, .. }| used).collect());
    finish(steps, DefineOutput { console_log: log, volumes })
}

/// The bridge of a domain that can be made.
fn check<'a>(variant: &Variant, spec: &'a DomainSpec) -> Result<&'a str, Failure> {
    let offer = variant.offer;
    if spec.accel != Accel::Xen {
        return Err(Failure::new(format!(
            "{offer} runs under Xen, not with accel '{}': name a host whose libvirt URI begins with xen",
            spec.accel
        )));
    }
    if spec.multiboot.is_some() {
        return Err(Failure::new(format!("{offer} cannot start a guest that is a Xen host itself")));
    }
    let most = if variant.mode.is_hvm() { IDE_DISKS } else { PV_DISKS };
    if spec.volumes.len() > most {
        return Err(Failure::new(format!("{offer} has room for {most} disks, not {}", spec.volumes.len())));
    }
    match &spec.network {
        Network::Bridge { bridge, .. } => Ok(bridge),
        Network::User { .. } => Err(Failure::new(format!(
            "{offer} has no user networking: name a bridge of the host, 'bridge: NAME' beside its URI"
        ))),
    }
}

/// Names the place where to look when pygrub does not find a kernel: its reason does not come through libvirt.
fn say_start(loader: Option<Loader>) -> String {
    match loader {
        Some(Loader::Pygrub) => format!("start the domain by pygrub, which logs to {BOOT_LOADER_LOGS}"),
        Some(Loader::Pvgrub) | None => "start the domain".into(),
    }
}

fn look_for_pvgrub() -> Step {
    let test = Exec::new(Place::Host, ["test", "-f", PVGRUB], TEST_TIMEOUT_S);
    Step::new("look for GRUB as a PV kernel (Debian: grub-xen-host)", Action::Exec(test))
}

fn console_log(spec: &DomainSpec) -> PathBuf {
    PathBuf::from(format!("{CONSOLES}/guest-{}.log", spec.name))
}

/// The log comes into being when the domain starts, so it is in the journal before that; it does no harm when the
/// folder is not there.
fn look_for_consoles(log: PathBuf) -> Step {
    let test =
        Exec { ok_exit: vec![0, 1], ..Exec::new(Place::Host, ["test", "-d", CONSOLES], TEST_TIMEOUT_S) };
    Step::new("look for the folder of console logs", Action::Exec(test))
        .undone_by(Action::RemoveFile { on: Place::Host, path: log })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chosen, find, spec};
    use crate::variant::VARIANTS;
    use crossvisor_plugin::model::domain::TAG_NAMESPACE;
    use crossvisor_plugin::model::{Multiboot, Volume, VolumeSource};
    use serde_json::json;

    fn defined(variant: &Variant, spec: &DomainSpec) -> (String, DefineOutput) {
        let turn = define(&chosen(variant.offer, json!({})), variant, spec).expect("defined");
        let Some(Action::DomainDefine { xml }) = turn.steps.first().map(|step| step.action.clone()) else {
            panic!("no domain is defined first: {:?}", turn.steps)
        };
        (xml, serde_json::from_value(turn.output).expect("output"))
    }

    #[test]
    fn every_variant_has_its_own_machine_console_and_devices() {
        let expected = [
            ("linux", "xenpv", "console=hvc0", "xvda", None),
            ("xenpvh", "xenpvh", "console=hvc0", "xvda", None),
            ("hvm", "xenfv", "console=ttyS0 xen_emul_unplug=never", "hda", Some("e1000")),
            ("hvm", "xenfv", "console=ttyS0", "hda", Some("e1000")),
        ];
        let direct: Vec<_> = VARIANTS.iter().filter(|variant| !variant.own_boot).collect();
        assert_eq!(direct.len(), expected.len());
        for (variant, (kind, machine, arguments, device, nic)) in direct.into_iter().zip(expected) {
            let (xml, output) = defined(variant, &spec());
            let document = roxmltree::Document::parse(&xml).expect("well-formed");
            let attribute = |path, name| find(&document, path).and_then(|node| node.attribute(name));
            let text = |path| find(&document, path).and_then(|node| node.text());
            assert_eq!(document.root_element().attribute("type"), Some("xen"));
            assert_eq!((text("os/type"), attribute("os/type", "machine")), (Some(kind), Some(machine)));
            assert_eq!(text("os/cmdline"), Some(format!("root=LABEL=a&b {arguments}").as_str()));
            assert_eq!(attribute("devices/disk/target", "dev"), Some(device));
            assert_eq!(attribute("devices/disk/driver", "name"), Some("qemu"));
            assert_eq!(attribute("devices/disk/driver", "cache"), None);
            assert_eq!(attribute("devices/interface/source", "bridge"), Some("br0"));
            assert_eq!(attribute("devices/interface/model", "type"), nic);
            let log = (device == "xvda").then(|| "/var/log/xen/console/guest-cv-x-1.log".into());
            assert_eq!(output.console_log, log);
            let serial = (device == "hda").then_some("/log/<1>");
            assert_eq!(attribute("devices/serial/source", "path"), serial);
        }
    }

    #[test]
    fn a_boot_loader_takes_the_place_of_kernel_initrd_and_command_line() {
        let variant = VARIANTS.iter().find(|variant| variant.own_boot).expect("one with a boot loader");
        for (options, loader, kernel, said) in [
            (
                json!({}),
                Some("pygrub"),
                None,
                "start the domain by pygrub, which logs to /var/log/xen/bootloader.*.log",
            ),
            (
                json!({"loader": "pvgrub"}),
                None,
                Some(PVGRUB),
                "look for GRUB as a PV kernel (Debian: grub-xen-host)",
            ),
        ] {
            let turn = define(&chosen(variant.offer, options), variant, &spec()).expect("defined");
            let Action::DomainDefine { xml } = &turn.steps[0].action else { panic!("no domain") };
            let document = roxmltree::Document::parse(xml).expect("well-formed");
            let text = |path| find(&document, path).and_then(|node| node.text());
            assert_eq!((text("bootloader"), text("os/kernel")), (loader, kernel));
            assert_eq!((text("os/type"), text("os/initrd"), text("os/cmdline")), (Some("linux"), None, None));
            assert!(turn.steps.iter().any(|step| step.say == said), "{:?}", turn.steps);
        }
        let unknown = define(&chosen(variant.offer, json!({"loader": "lilo"})), variant, &spec());
        assert!(unknown.expect_err("unknown").message.contains("'pygrub' or 'pvgrub', not 'lilo'"));
    }

    #[test]
    fn the_domain_is_tagged_and_values_are_escaped() {
        let block = VolumeSource::Block("/dev/v \"1\"".into());
        let (xml, output) =
            defined(&VARIANTS[0], &DomainSpec { volumes: vec![Volume::new(block, "raw")], ..spec() });
        let document = roxmltree::Document::parse(&xml).expect("well-formed");
        let tag = document.descendants().find(|node| node.has_tag_name((TAG_NAMESPACE, "domain")));
        assert_eq!(tag.and_then(|tag| tag.attribute("run")), Some("x"));
        let source = find(&document, "devices/disk/source").and_then(|source| source.attribute("dev"));
        assert_eq!(source, Some("/dev/v \"1\""));
        let backend = output.volumes.and_then(|volumes| volumes[0].backend.clone());
        assert_eq!(backend.as_deref(), Some("phy"));
    }

    #[test]
    fn vcpus_are_pinned_one_by_one() {
        let options = json!({"cpus": "1-3", "pin": "own"});
        let spec = DomainSpec { number: 2, ..spec() };
        let turn = define(&chosen("xen-pv", options), &VARIANTS[0], &spec).expect("defined");
        let Action::DomainDefine { xml } = &turn.steps[0].action else { panic!("no domain") };
        let document = roxmltree::Document::parse(xml).expect("well-formed");
        assert_eq!(find(&document, "vcpu").and_then(|vcpu| vcpu.attribute("cpuset")), Some("1,2,3"));
        let pins = document.descendants().filter(|node| node.has_tag_name("vcpupin"));
        let pins: Vec<_> = pins.map(|pin| (pin.attribute("vcpu"), pin.attribute("cpuset"))).collect();
        assert_eq!(pins, [(Some("0"), Some("3")), (Some("1"), Some("1"))]);
    }

    #[test]
    fn what_xen_cannot_do_is_refused() {
        let user = Network::User { host_address: "10.0.2.2".into(), forwards: Vec::new() };
        let multiboot = Multiboot { kernel: "/x".into(), cmdline: String::new(), console: "hvc0".into() };
        let volume = spec().volumes.remove(0);
        for (spec, variant, word) in [
            (DomainSpec { accel: Accel::Kvm, ..spec() }, 0, "not with accel 'kvm'"),
            (DomainSpec { network: user, ..spec() }, 1, "name a bridge"),
            (DomainSpec { multiboot: Some(multiboot), ..spec() }, 2, "Xen host itself"),
            (DomainSpec { volumes: vec![volume.clone(); 5], ..spec() }, 3, "room for 4 disks, not 5"),
            (DomainSpec { volumes: vec![volume; 27], ..spec() }, 0, "room for 26 disks, not 27"),
        ] {
            let failure = define(&chosen("xen", json!({})), &VARIANTS[variant], &spec).expect_err(word);
            assert!(failure.message.contains(word), "{failure}");
        }
    }
}
