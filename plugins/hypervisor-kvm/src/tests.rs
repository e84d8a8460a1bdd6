//! What domains look like to libvirt, and which are refused.

use crossvisor_plugin::Failure;
use crossvisor_plugin::cpus::placement;
use crossvisor_plugin::model::domain::TAG_NAMESPACE;
use crossvisor_plugin::model::{Accel, DomainSpec, Forward, Multiboot, Name, Network, Volume, VolumeSource};
use crossvisor_plugin::sdk::Chosen;
use roxmltree::{Document, Node};
use serde_json::json;

use crate::refuse::refuse;
use crate::{VARIANTS, Variant, xml};

fn spec() -> DomainSpec {
    let volume = Volume::new(VolumeSource::File("/v \"1\"".into()), "raw");
    DomainSpec {
        name: Name::new("cv-x-1").expect("name"),
        uuid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427".into(),
        run: Name::new("x").expect("name"),
        number: 1,
        multiboot: None,
        emulated_cpu: None,
        accel: Accel::Tcg,
        vcpus: 1,
        memory_mib: 384,
        mac: "52:54:00:00:00:01".into(),
        kernel: "/k".into(),
        initrd: "/i,1".into(),
        cmdline: "root=LABEL=a&b console=x,y".into(),
        console_log: "/log/<1>".into(),
        volumes: vec![Volume { cache: Some("none".into()), ..volume }],
        network: Network::User {
            host_address: "10.0.2.2".into(),
            forwards: vec![Forward { host_port: 2222, guest_port: 22 }],
        },
    }
}

fn xen_host() -> DomainSpec {
    let multiboot = Multiboot {
        kernel: "/xen".into(),
        cmdline: "dom0_mem=1G,max:1G".into(),
        console: "console=hvc0".into(),
    };
    DomainSpec { multiboot: Some(multiboot), emulated_cpu: Some("EPYC,+svm".into()), ..spec() }
}

fn domain(variant: &Variant, spec: &DomainSpec) -> Result<String, Failure> {
    refuse(variant, spec).and_then(|()| xml::domain(variant, spec, None))
}

fn find<'a>(document: &'a Document<'_>, name: &str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name(name)).collect()
}

fn text(document: &Document<'_>, name: &str) -> String {
    find(document, name).first().and_then(|node| node.text()).unwrap_or_default().into()
}

fn arguments(document: &Document<'_>) -> Vec<String> {
    let arguments = document.descendants().filter(|node| node.tag_name().name() == "arg");
    arguments.filter_map(|node| node.attribute("value").map(String::from)).collect()
}

#[test]
fn every_variant_has_its_own_disk_and_network_card() {
    let expected = [("vda", "virtio-net-pci"), ("vda", "e1000"), ("sda", "e1000"), ("hda", "e1000")];
    for (variant, (device, nic)) in VARIANTS.iter().zip(expected) {
        let xml = domain(variant, &spec()).expect("xml");
        let document = Document::parse(&xml).expect("well-formed");
        assert_eq!(find(&document, "target")[0].attribute("dev"), Some(device));
        assert!(xml.contains(&format!("{nic},netdev=net0,mac=52:54:00:00:00:01")), "{xml}");
        assert!(xml.contains("hostfwd=tcp:127.0.0.1:2222-:22"), "{xml}");
        assert!(find(&document, "interface").is_empty());
    }
}

#[test]
fn values_are_escaped_and_the_domain_is_tagged() {
    let xml = domain(&VARIANTS[0], &spec()).expect("xml");
    let document = Document::parse(&xml).expect("well-formed");
    assert_eq!(document.root_element().attribute("type"), Some("qemu"));
    assert_eq!(text(&document, "cmdline"), "root=LABEL=a&b console=x,y console=ttyS0");
    let tag = document.descendants().find(|n| n.has_tag_name((TAG_NAMESPACE, "domain"))).expect("tag");
    assert_eq!(tag.attribute("run"), Some("x"));
    let sources = find(&document, "source");
    assert_eq!(sources[0].attribute("file"), Some("/v \"1\""));
    assert_eq!(sources[1].attribute("path"), Some("/log/<1>"));
}

#[test]
fn a_bridge_is_joined_by_the_card_of_the_variant_and_libvirt_says_it_all() {
    let network = Network::Bridge { bridge: "cvbr0".into(), host_address: "fe80::1%eth0".into() };
    let spec = DomainSpec { network, ..spec() };
    for (variant, model) in VARIANTS.iter().zip(["virtio", "e1000", "e1000", "e1000"]) {
        let xml = domain(variant, &spec).expect("xml");
        let document = Document::parse(&xml).expect("well-formed");
        let card = find(&document, "interface")[0];
        let of = |element: &str, attribute: &str| {
            card.children().find(|node| node.has_tag_name(element)).and_then(|node| node.attribute(attribute))
        };
        assert_eq!(of("mac", "address"), Some("52:54:00:00:00:01"));
        assert_eq!((of("source", "bridge"), of("model", "type")), (Some("cvbr0"), Some(model)));
        assert!(arguments(&document).is_empty());
    }
}

#[test]
fn a_multiboot_program_is_the_kernel_and_the_guests_own_are_its_modules() {
    let xml = domain(&VARIANTS[0], &xen_host()).expect("xml");
    let document = Document::parse(&xml).expect("well-formed");
    assert_eq!(text(&document, "kernel"), "/xen");
    assert_eq!(text(&document, "cmdline"), "dom0_mem=1G,max:1G");
    assert!(find(&document, "initrd").is_empty(), "libvirt takes only one file");
    let modules = "/k root=LABEL=a&b console=x,,y console=hvc0,/i,,1";
    assert_eq!(arguments(&document)[..4], ["-initrd", modules, "-cpu", "EPYC,+svm"]);
}

#[test]
fn the_emulated_processor_is_left_out_where_the_host_has_its_own() {
    let spec = DomainSpec { accel: Accel::Kvm, vcpus: 2, ..xen_host() };
    let xml = domain(&VARIANTS[0], &spec).expect("xml");
    let document = Document::parse(&xml).expect("well-formed");
    assert_eq!(find(&document, "cpu")[0].attribute("mode"), Some("host-passthrough"));
    assert!(!arguments(&document).contains(&"-cpu".into()));
}

#[test]
fn volumes_are_disks_in_their_order_and_may_be_block_devices() {
    let block = Volume {
        backend: Some("qdisk".into()),
        ..Volume::new(VolumeSource::Block("/dev/cv/a".into()), "raw")
    };
    let spec = DomainSpec { volumes: [spec().volumes, vec![block]].concat(), ..spec() };
    let xml = domain(&VARIANTS[3], &spec).expect("xml");
    let document = Document::parse(&xml).expect("well-formed");
    let disks = find(&document, "disk");
    let of = |disk: usize, element: &str, attribute: &str| {
        disks[disk]
            .children()
            .find(|node| node.has_tag_name(element))
            .and_then(|node| node.attribute(attribute))
    };
    assert_eq!((of(0, "target", "dev"), of(1, "target", "dev")), (Some("hda"), Some("hdb")));
    assert_eq!((disks[1].attribute("type"), of(1, "source", "dev")), (Some("block"), Some("/dev/cv/a")));
    assert_eq!((of(0, "driver", "cache"), of(1, "driver", "cache")), (Some("none"), None));
}

#[test]
fn cpus_are_given_to_the_guest_and_to_each_vcpu() {
    let chosen = Chosen {
        offer: Name::new("kvm-virtio").expect("name"),
        options: serde_json::from_value(json!({"cpus": "1-3,5", "pin": "own"})).expect("options"),
    };
    let spec = DomainSpec { number: 2, vcpus: 3, ..spec() };
    let placement = placement(&chosen, &spec).expect("valid");
    let xml = xml::domain(&VARIANTS[0], &spec, placement.as_ref()).expect("xml");
    let document = Document::parse(&xml).expect("well-formed");
    assert_eq!(find(&document, "vcpu")[0].attribute("cpuset"), Some("1,2,3,5"));
    let pins = find(&document, "vcpupin");
    let pins: Vec<_> = pins.iter().map(|pin| (pin.attribute("vcpu"), pin.attribute("cpuset"))).collect();
    assert_eq!(pins, [(Some("0"), Some("5")), (Some("1"), Some("1")), (Some("2"), Some("2"))]);
    let none = xml::domain(&VARIANTS[0], &spec, None).expect("xml");
    assert!(!none.contains("cpuset") && none.contains("<vcpu>3</vcpu>"), "{none}");
}

#[test]
fn what_qemu_cannot_give_is_refused_with_the_reason() {
    let volumes = |count| vec![spec().volumes[0].clone(); count];
    let tap = Volume { backend: Some("tap".into()), ..spec().volumes[0].clone() };
    let cases = [
        (0, DomainSpec { accel: Accel::Xen, ..spec() }, "accel 'xen'"),
        (0, DomainSpec { volumes: volumes(27), ..spec() }, "room for 26 disks, not for 27"),
        (3, DomainSpec { volumes: volumes(5), ..spec() }, "kvm-e1000-ide has room for 4 disks"),
        (0, DomainSpec { volumes: vec![tap], ..spec() }, "backend 'tap'"),
        (0, DomainSpec { vcpus: 2, ..xen_host() }, "has 1 vcpu, not 2"),
        (0, DomainSpec { initrd: "/my images/i".into(), ..xen_host() }, "/my images/i has a space"),
    ];
    for (variant, spec, reason) in cases {
        let failure = domain(&VARIANTS[variant], &spec).expect_err(reason).message;
        assert!(failure.contains(reason), "{failure}");
    }
    let allowed = [
        DomainSpec { volumes: volumes(26), ..spec() },
        DomainSpec { initrd: "/my images/i".into(), vcpus: 2, ..spec() },
    ];
    assert!(allowed.iter().all(|spec| domain(&VARIANTS[0], spec).is_ok()));
}
