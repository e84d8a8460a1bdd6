//! The domain XML of a variant: <https://libvirt.org/formatdomain.html>.
//!
//! Owns every element and attribute that is written. It must never leave a value unescaped.

use std::io::{Cursor, Error as IoError};
use std::path::Path;

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::domain::TAG_NAMESPACE;
use crossvisor_plugin::model::{Accel, DomainSpec, Network, Volume, VolumeSource};
use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::Variant;

const QEMU_NAMESPACE: &str = "http://libvirt.org/schemas/domain/qemu/1.0";
/// A PCI slot far above those that libvirt hands out by itself.
const NIC_SLOT: &str = "0x1d";

type Xml = Writer<Cursor<Vec<u8>>>;

/// The XML of a domain.
///
/// # Errors
/// [`Failure`] for an accelerator that libvirt's QEMU driver does not have.
pub fn domain(variant: &Variant, spec: &DomainSpec) -> Result<String, Failure> {
    let kind = match spec.accel {
        Accel::Kvm => "kvm",
        Accel::Tcg => "qemu",
        other => return Err(Failure::new(format!("hypervisor-kvm cannot run with accel '{other}'"))),
    };
    let mut xml = Writer::new_with_indent(Cursor::new(Vec::new()), b' ', 2);
    write_domain(&mut xml, kind, variant, spec).map_err(|e| Failure::new(format!("domain XML: {e}")))?;
    String::from_utf8(xml.into_inner().into_inner()).map_err(|e| Failure::new(format!("domain XML: {e}")))
}

fn write_domain(xml: &mut Xml, kind: &str, variant: &Variant, spec: &DomainSpec) -> Result<(), IoError> {
    let attributes = [("type", kind), ("xmlns:qemu", QEMU_NAMESPACE)];
    xml.create_element("domain").with_attributes(attributes).write_inner_content(|xml| {
        text(xml, "name", spec.name.as_str())?;
        text(xml, "uuid", &spec.uuid)?;
        xml.create_element("metadata").write_inner_content(|xml| {
            let tag = [("xmlns:crossvisor", TAG_NAMESPACE), ("run", spec.run.as_str())];
            xml.create_element("crossvisor:domain").with_attributes(tag).write_empty().map(drop)
        })?;
        let memory = xml.create_element("memory").with_attribute(("unit", "MiB"));
        memory.write_text_content(BytesText::new(&spec.memory_mib.to_string()))?;
        text(xml, "vcpu", &spec.vcpus.to_string())?;
        boot(xml, spec)?;
        xml.create_element("features").write_inner_content(|xml| {
            empty(xml, "acpi", &[])?;
            empty(xml, "apic", &[])
        })?;
        if spec.accel == Accel::Kvm {
            empty(xml, "cpu", &[("mode", "host-passthrough")])?;
        }
        text(xml, "on_poweroff", "destroy")?;
        text(xml, "on_crash", "destroy")?;
        devices(xml, variant, spec)?;
        network(xml, variant, spec)
    })?;
    Ok(())
}

fn boot(xml: &mut Xml, spec: &DomainSpec) -> Result<(), IoError> {
    xml.create_element("os").write_inner_content(|xml| {
        let machine = xml.create_element("type").with_attributes([("arch", "x86_64"), ("machine", "pc")]);
        machine.write_text_content(BytesText::new("hvm"))?;
        text(xml, "kernel", &spec.kernel.to_string_lossy())?;
        text(xml, "initrd", &spec.initrd.to_string_lossy())?;
        text(xml, "cmdline", &format!("{} console=ttyS0", spec.cmdline))
    })?;
    Ok(())
}

fn devices(xml: &mut Xml, variant: &Variant, spec: &DomainSpec) -> Result<(), IoError> {
    xml.create_element("devices").write_inner_content(|xml| {
        for (index, volume) in (0u8..).zip(&spec.volumes) {
            disk(xml, variant, volume, index)?;
        }
        empty(xml, "controller", &[("type", "usb"), ("model", "none")])?;
        console(xml, &spec.console_log)?;
        empty(xml, "memballoon", &[("model", "none")])?;
        xml.create_element("rng").with_attribute(("model", "virtio")).write_inner_content(|xml| {
            let backend = xml.create_element("backend").with_attribute(("model", "random"));
            backend.write_text_content(BytesText::new("/dev/urandom")).map(drop)
        })?;
        Ok(())
    })?;
    Ok(())
}

fn disk(xml: &mut Xml, variant: &Variant, volume: &Volume, index: u8) -> Result<(), IoError> {
    let (kind, attribute, path) = match &volume.source {
        VolumeSource::File(path) => ("file", "file", path),
        VolumeSource::Block(path) => ("block", "dev", path),
    };
    xml.create_element("disk").with_attributes([("type", kind), ("device", "disk")]).write_inner_content(
        |xml| {
            let mut driver = vec![("name", "qemu"), ("type", volume.format.as_str())];
            driver.extend(volume.cache.as_deref().map(|mode| ("cache", mode)));
            driver.extend(volume.io.as_deref().map(|mode| ("io", mode)));
            empty(xml, "driver", &driver)?;
            empty(xml, "source", &[(attribute, &path.to_string_lossy())])?;
            empty(xml, "target", &[("dev", &device_name(variant.disk_bus, index)), ("bus", variant.disk_bus)])
        },
    )?;
    Ok(())
}

/// `vda`, `sdb`, `hdc`.
fn device_name(bus: &str, index: u8) -> String {
    let prefix = match bus {
        "virtio" => "vd",
        "ide" => "hd",
        _ => "sd",
    };
    format!("{prefix}{}", char::from(b'a' + index))
}

fn console(xml: &mut Xml, log: &Path) -> Result<(), IoError> {
    xml.create_element("serial").with_attribute(("type", "file")).write_inner_content(|xml| {
        empty(xml, "source", &[("path", &log.to_string_lossy())])?;
        empty(xml, "target", &[("port", "0")])
    })?;
    Ok(())
}

/// User networking with forwards: libvirt 9.0 has no element for it without passt, so QEMU is told directly.
fn network(xml: &mut Xml, variant: &Variant, spec: &DomainSpec) -> Result<(), IoError> {
    let forwards = match &spec.network {
        Network::User { forwards, .. } => forwards.as_slice(),
        Network::Bridge { .. } => return Ok(()),
    };
    let forwards =
        forwards.iter().map(|f| format!(",hostfwd=tcp:127.0.0.1:{}-:{}", f.host_port, f.guest_port));
    let netdev = format!("user,id=net0{}", forwards.collect::<String>());
    let device = format!("{},netdev=net0,mac={},bus=pci.0,addr={NIC_SLOT},romfile=", variant.nic, spec.mac);
    xml.create_element("qemu:commandline").write_inner_content(|xml| {
        for value in ["-netdev", &netdev, "-device", &device] {
            empty(xml, "qemu:arg", &[("value", value)])?;
        }
        Ok(())
    })?;
    Ok(())
}

fn text(xml: &mut Xml, element: &str, content: &str) -> Result<(), IoError> {
    xml.create_element(element).write_text_content(BytesText::new(content)).map(drop)
}

fn empty(xml: &mut Xml, element: &str, attributes: &[(&str, &str)]) -> Result<(), IoError> {
    xml.create_element(element).with_attributes(attributes.iter().copied()).write_empty().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VARIANTS;
    use crossvisor_plugin::model::{Forward, Name};

    fn spec() -> DomainSpec {
        DomainSpec {
            name: Name::new("cv-x-1").expect("name"),
            uuid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427".into(),
            run: Name::new("x").expect("name"),
            accel: Accel::Tcg,
            vcpus: 2,
            memory_mib: 384,
            mac: "52:54:00:00:00:01".into(),
            kernel: "/k".into(),
            initrd: "/i".into(),
            cmdline: "root=LABEL=a&b".into(),
            console_log: "/log/<1>".into(),
            volumes: vec![Volume {
                source: VolumeSource::File("/v \"1\"".into()),
                format: "raw".into(),
                cache: Some("none".into()),
                io: None,
                backend: None,
            }],
            network: Network::User {
                host_address: "10.0.2.2".into(),
                forwards: vec![Forward { host_port: 2222, guest_port: 22 }],
            },
        }
    }

    #[test]
    fn every_variant_has_its_own_disk_and_network_card() {
        let expected = [("vda", "virtio-net-pci"), ("vda", "e1000"), ("sda", "e1000"), ("hda", "e1000")];
        for (variant, (device, nic)) in VARIANTS.iter().zip(expected) {
            let xml = domain(variant, &spec()).expect("xml");
            let document = roxmltree::Document::parse(&xml).expect("well-formed");
            let find = |name: &str| document.descendants().find(|node| node.has_tag_name(name));
            let disk = find("disk").expect("disk");
            let target = disk.children().find(|node| node.has_tag_name("target")).expect("target");
            assert_eq!(target.attribute("dev"), Some(device));
            assert!(xml.contains(&format!("{nic},netdev=net0,mac=52:54:00:00:00:01")), "{xml}");
            assert!(xml.contains("hostfwd=tcp:127.0.0.1:2222-:22"), "{xml}");
        }
    }

    #[test]
    fn values_are_escaped_and_the_domain_is_tagged() {
        let xml = domain(&VARIANTS[0], &spec()).expect("xml");
        let document = roxmltree::Document::parse(&xml).expect("well-formed");
        let root = document.root_element();
        assert_eq!(root.attribute("type"), Some("qemu"));
        let text = |name: &str| document.descendants().find(|n| n.has_tag_name(name)).and_then(|n| n.text());
        assert_eq!(text("cmdline"), Some("root=LABEL=a&b console=ttyS0"));
        let tag = document.descendants().find(|n| n.has_tag_name((TAG_NAMESPACE, "domain"))).expect("tag");
        assert_eq!(tag.attribute("run"), Some("x"));
        let sources: Vec<_> = document.descendants().filter(|n| n.has_tag_name("source")).collect();
        assert_eq!(sources[0].attribute("file"), Some("/v \"1\""));
        assert_eq!(sources[1].attribute("path"), Some("/log/<1>"));
    }

    #[test]
    fn an_accelerator_of_another_hypervisor_is_refused() {
        let spec = DomainSpec { accel: Accel::Xen, ..spec() };
        assert!(domain(&VARIANTS[0], &spec).is_err());
    }
}
