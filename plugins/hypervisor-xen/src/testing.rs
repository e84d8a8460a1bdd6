//! What the unit tests have in common. It must never be part of the plugin.

use crossvisor_plugin::model::{Accel, DomainSpec, Name, Network, Volume, VolumeSource};
use crossvisor_plugin::sdk::Chosen;
use roxmltree::{Document, Node};
use serde_json::Value;

pub fn chosen(offer: &str, options: Value) -> Chosen {
    let options = serde_json::from_value(options).expect("options");
    Chosen { offer: Name::new(offer).expect("name"), options }
}

pub fn spec() -> DomainSpec {
    DomainSpec {
        name: Name::new("cv-x-1").expect("name"),
        uuid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427".into(),
        run: Name::new("x").expect("name"),
        number: 1,
        accel: Accel::Xen,
        vcpus: 2,
        memory_mib: 384,
        mac: "52:54:00:00:00:01".into(),
        multiboot: None,
        emulated_cpu: None,
        kernel: "/k".into(),
        initrd: "/i".into(),
        cmdline: "root=LABEL=a&b".into(),
        console_log: "/log/<1>".into(),
        volumes: vec![Volume::new(VolumeSource::File("/v".into()), "raw")],
        network: Network::Bridge { bridge: "br0".into(), host_address: "fe80::1".into() },
    }
}

/// The first element on a path of names below the root.
pub fn find<'a>(document: &'a Document<'_>, path: &str) -> Option<Node<'a, 'a>> {
    let child = |node: Node<'a, 'a>, name| node.children().find(|child| child.has_tag_name(name));
    path.split('/').try_fold(document.root_element(), child)
}
