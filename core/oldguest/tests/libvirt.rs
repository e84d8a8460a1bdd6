//! Domain XML in its many forms, and what is said of each.

use crossvisor_model::Bytes;
use crossvisor_oldguest::{DiskKind, Family, OldGuest, Reading, Severity, libvirt};

/// A domain with these elements below its root and below `<devices>`.
fn domain(kind: &str, elements: &str, devices: &str) -> String {
    format!(
        "<domain type='{kind}'>\n<name>g</name>\n<memory unit='MiB'>512</memory>\n{elements}\n<devices>\n{devices}\n</devices>\n</domain>\n"
    )
}

fn one(text: &str) -> Reading {
    let mut readings = libvirt(text);
    assert_eq!(readings.len(), 1, "{readings:?}");
    readings.remove(0)
}

fn guest(kind: &str, elements: &str, devices: &str) -> OldGuest {
    one(&domain(kind, elements, devices)).guest.expect("guest")
}

fn messages(reading: &Reading, severity: Severity) -> String {
    let all = reading.problems.iter().filter(|problem| problem.severity == severity);
    all.map(|problem| format!("{problem}\n")).collect()
}

const HVM: &str = "<os><type arch='x86_64'>hvm</type></os>";

#[test]
fn the_variant_is_by_type_and_devices() {
    let disk =
        |bus: &str| format!("<disk type='file'><source file='/a'/><target dev='x' bus='{bus}'/></disk>");
    let nic = |model: &str| format!("<interface type='bridge'><model type='{model}'/></interface>");
    for (kind, elements, devices, offer) in [
        ("kvm", HVM, disk("virtio") + &nic("virtio"), "kvm-virtio"),
        ("qemu", HVM, disk("virtio") + &nic("e1000e"), "kvm-e1000"),
        ("kvm", HVM, disk("sata") + &nic("e1000"), "kvm-e1000-sata"),
        ("kvm", HVM, disk("ide"), "kvm-e1000-ide"),
        ("xen", HVM, disk("ide"), "xen-hvm"),
        ("xen", HVM, disk("xen"), "xen-hvm-pv"),
        ("xen", "<os><type>xenpvh</type><kernel>/k</kernel></os>", disk("xen"), "xen-pvh"),
        ("xen", "<os><type>linux</type><kernel>/k</kernel></os>", disk("xen"), "xen-pv"),
        ("xen", "<bootloader>pygrub</bootloader><os><type>linux</type></os>", disk("xen"), "xen-pv-grub"),
    ] {
        assert_eq!(guest(kind, elements, &devices).hypervisor, offer, "{elements} {devices}");
    }
}

#[test]
fn what_is_quoted_stays_on_its_line() {
    let reading = one("<domain type='kvm'><name>g</name><memory unit='a\nb\u{1b}[2J'>512</memory></domain>");
    let errors = messages(&reading, Severity::Error);
    assert!(errors.contains("'512 a\u{fffd}b\u{fffd}[2J' is no size of memory: left out\n"), "{errors:?}");
    assert_eq!(errors.lines().count(), reading.problems.len(), "{errors:?}");
}

#[test]
fn memory_and_vcpus_are_those_of_the_start() {
    let shape = |elements: &str| {
        let text = format!("<domain type='kvm'><name>g</name>{elements}</domain>");
        let guest = one(&text).guest.expect("guest");
        (guest.memory, guest.max_memory, guest.vcpus, guest.max_vcpus)
    };
    let mib = |mib: u64| Some(Bytes(mib << 20));
    assert_eq!(shape("<memory>524288</memory><vcpu>4</vcpu>"), (mib(512), None, 4, None));
    assert_eq!(
        shape(
            "<memory unit='GiB'>2</memory><currentMemory unit='b'>1073741824</currentMemory><vcpu current='2'>8</vcpu>"
        ),
        (mib(1024), mib(2048), 2, Some(8))
    );
    assert_eq!(shape("<memory>many</memory><vcpu>x</vcpu>"), (None, None, 1, None));
}

#[test]
fn disks_in_all_forms() {
    let devices = "\
<disk type='block' device='disk'><driver name='qemu' type='raw' cache='none' io='native'/><source dev='/dev/vg/a'/><target dev='vda' bus='virtio'/>
 <iotune><total_iops_sec>100</total_iops_sec><read_bytes_sec>0</read_bytes_sec></iotune></disk>
<disk type='file' device='cdrom'><target dev='hdc'/><readonly/></disk>
<disk type='network'><source protocol='rbd' name='pool/a'><host name='h'/></source><target dev='vdb'/></disk>
<disk type='volume'><source pool='p' volume='v'/><target dev='vdc'/></disk>
<disk type='file'><driver type='qcow2' cache='default' io='native'/><source file='/a &amp; b.q'/><target dev='vdd'/></disk>";
    let guest = guest("kvm", HVM, devices);
    let [lv, cdrom, rbd, volume, file] = guest.disks.as_slice() else { panic!("{:?}", guest.disks) };
    let options = |disk: &crossvisor_oldguest::Disk| {
        disk.backing.as_ref().map(|backing| format!("{} {:?}", backing.offer, backing.options))
    };
    assert_eq!(options(lv).as_deref(), Some(r#"lvm {"cache": "none", "io": "native", "vg": "vg"}"#));
    assert_eq!(lv.limits.iter().collect::<Vec<_>>(), [(&"total_iops_sec".to_string(), &100)]);
    assert_eq!(
        (cdrom.role.as_str(), cdrom.writable, cdrom.target.as_str(), cdrom.bus.as_deref()),
        ("cdrom", false, "", Some("ide"))
    );
    assert_eq!((rbd.kind, rbd.target.as_str(), options(rbd)), (DiskKind::Network, "rbd h pool/a", None));
    assert_eq!((volume.kind, volume.target.as_str()), (DiskKind::Volume, "p/v"));
    assert_eq!(
        (file.path.as_deref(), options(file).as_deref()),
        (Some("/a & b.q"), Some(r#"file {"format": "qcow2"}"#))
    );
}

#[test]
fn xens_drivers_are_its_backends() {
    let served = |driver: &str| {
        let disk = format!("<disk type='file'>{driver}<source file='/a'/><target dev='xvda'/></disk>");
        let guest = guest("xen", "<bootloader>pygrub</bootloader>", &disk);
        let disk = &guest.disks[0];
        (disk.backend.clone(), disk.format.clone(), disk.backing.as_ref().map(|backing| backing.offer))
    };
    let text = |text: &str| Some(text.to_string());
    assert_eq!(served("<driver name='tap' type='aio'/>"), (text("tap:aio"), None, Some("file")));
    assert_eq!(served("<driver name='file'/>"), (text("file"), None, Some("loop")));
    assert_eq!(served("<driver name='qemu' type='qcow2'/>"), (text("qemu"), text("qcow2"), Some("file")));
    assert_eq!(served("<driver name='tap2' type='vhd'/>"), (text("tap2"), text("vhd"), None));
}

#[test]
fn vcpus_are_pinned_one_by_one() {
    let tune = "<vcpu cpuset='0-7,^3'>2</vcpu><cputune><vcpupin vcpu='0' cpuset='4'/><vcpupin vcpu='1' cpuset='5'/><emulatorpin cpuset='5'/></cputune>";
    let reading = one(&domain("kvm", tune, ""));
    let pinning = reading.guest.as_ref().and_then(|guest| guest.pinning.clone()).expect("pinning");
    assert_eq!((pinning.cpus.len(), pinning.own(2), pinning.own(3)), (7, Some(vec![4, 5]), None));
    assert!(messages(&reading, Severity::Warning).contains("shares CPU 5 with a vcpu"));
    let wrong = one(&domain("kvm", "<vcpu cpuset='0-x'>2</vcpu>", ""));
    assert!(messages(&wrong, Severity::Error).contains("4: error: '0-x' is no part"), "{wrong:?}");
}

#[test]
fn several_documents_with_text_around_them() {
    let text =
        format!("# virsh dumpxml g\n{}\nprompt$ exit\n{}", domain("kvm", "", ""), domain("xen", "", ""));
    let readings = libvirt(&text);
    let lines: Vec<_> = readings
        .iter()
        .filter_map(|reading| Some((reading.guest.as_ref()?.line, reading.guest.as_ref()?.family)))
        .collect();
    assert_eq!(lines, [(2, Family::Kvm), (12, Family::Xen)]);
}

#[test]
fn a_document_that_is_cut_gives_what_it_has() {
    let whole = domain("kvm", HVM, "<disk type='file'><source file='/a'/><target dev='vda'/></disk>");
    let cut = &whole[..whole.find("<target").expect("target")];
    let reading = one(cut);
    assert_eq!(reading.guest.as_ref().map(|guest| guest.disks[0].target.as_str()), Some("/a"));
    assert!(
        messages(&reading, Severity::Error)
            .contains("6: error: the document is cut off or damaged: the element 'disk' of line 6")
    );
    let mixed = one(&whole.replace("</disk>", "</disc>"));
    assert!(mixed.guest.is_some() && messages(&mixed, Severity::Error).contains("no XML"), "{mixed:?}");
    let twice = one(&whole.replace("type='kvm'", "type='kvm' type='xen'"));
    assert!(messages(&twice, Severity::Error).contains("an attribute of <domain>"));
}

#[test]
fn entities_and_other_domains_are_refused() {
    let bomb = format!(
        "<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n{}",
        domain("kvm", "<title>&b;</title>", "")
    );
    assert!(messages(&one(&bomb), Severity::Error).contains("document types and entities are refused"));
    let entity = one(&domain("kvm", "<title>&b;</title>", ""));
    assert!(
        entity.guest.is_some() && messages(&entity, Severity::Error).contains("4: error: the entity 'b'")
    );
    for (text, word) in [
        (domain("lxc", "", ""), "domains of type 'lxc' have no counterpart"),
        ("<domain><name>a</name></domain>".into(), "no type"),
        ("<domain/>".into(), "no domain here"),
        ("<domain>kvm</domain>".into(), "empty"),
        (String::new(), "no domain here"),
        ("{\"a\": 1}".into(), "no domain here"),
    ] {
        let reading = one(&text);
        assert!(
            reading.guest.is_none() && messages(&reading, Severity::Error).contains(word),
            "{text} {reading:?}"
        );
    }
}

#[test]
fn what_is_lost_is_said() {
    let elements = "<memoryBacking><hugepages/></memoryBacking><cputune><shares>9</shares><quota>-1</quota></cputune><os><type arch='i686'>hvm</type></os>";
    let devices = "<interface type='bridge'><bandwidth><outbound average='100'/></bandwidth><driver queues='4'/></interface><hostdev/>";
    let guest = guest("kvm", elements, devices);
    let lost: Vec<_> = guest.lost.iter().map(|lost| lost.what.as_str()).collect();
    for what in [
        "huge pages",
        "shares of the CPU",
        "the architecture 'i686'",
        "devices of the host",
        "several queues of a network card",
    ] {
        assert!(lost.contains(&what), "{what}: {lost:?}");
    }
    assert!(!lost.contains(&"a cap of CPU time"), "{lost:?}");
    assert_eq!(guest.nics[0].rate_bytes_per_s, Some(102_400));
}

#[test]
fn pv_has_no_firmware() {
    let reading = one(&domain("xen", "<os><type>linux</type><boot dev='cdrom'/></os>", ""));
    assert!(messages(&reading, Severity::Warning).contains("cannot boot from 'cdrom'"));
}
