//! Domains of libvirt's own test driver: what is not ours is left alone.

use std::path::Path;

use crossvisor_model::HostAddress;
use crossvisor_model::domain::TAG_NAMESPACE;
use crossvisor_target::libvirt::OurDomain;
use crossvisor_target::{Libvirt, TargetError};

/// A domain that is there from the start, and runs.
const THEIRS: &str = "test";

fn open() -> Libvirt {
    let nowhere = Path::new("/nowhere");
    Libvirt::open(&HostAddress::new("test:///default"), nowhere, nowhere).expect("the test driver")
}

fn domain(name: &str, uuid: char, tagged: bool) -> String {
    let uuid = "00000000-0000-4000-8000-00000000000x".replace('x', &uuid.to_string());
    let tag =
        format!("<metadata><crossvisor:domain xmlns:crossvisor='{TAG_NAMESPACE}' run='r1'/></metadata>");
    format!(
        "<domain type='test'><name>{name}</name><uuid>{uuid}</uuid>{}<memory>8192</memory>\
        <os><type>hvm</type></os></domain>",
        if tagged { &tag } else { "" }
    )
}

fn states(libvirt: &Libvirt, name: &str) -> (bool, Option<OurDomain>) {
    let ours = libvirt.ours().expect("domains");
    (libvirt.is_active(name).expect("state"), ours.into_iter().find(|domain| domain.name == name))
}

#[test]
fn a_domain_of_ours_lives_from_define_to_undefine() {
    let (libvirt, name) = (open(), "lives");
    libvirt.define(&domain(name, 'a', true)).expect("defined");
    let ours = |active| OurDomain { name: name.into(), run: "r1".into(), active };
    assert_eq!(states(&libvirt, name), (false, Some(ours(false))));
    for _ in 0..2 {
        libvirt.start(name).expect("started, or ran already");
    }
    assert_eq!(states(&libvirt, name), (true, Some(ours(true))));
    for _ in 0..2 {
        libvirt.stop(name).expect("stopped, or did not run");
        libvirt.undefine(name).expect("undefined, or was not there");
    }
    assert_eq!(states(&libvirt, name), (false, None));
    assert!(matches!(libvirt.start(name), Err(TargetError::Libvirt { .. })));
}

#[test]
fn a_domain_of_somebody_else_is_left_alone() {
    let libvirt = open();
    libvirt.stop(THEIRS).expect("no error");
    libvirt.undefine(THEIRS).expect("no error");
    assert_eq!(states(&libvirt, THEIRS), (true, None));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let libvirt = open();
    let error = libvirt.define(&domain(THEIRS, 'b', true)).expect_err("taken");
    assert!(matches!(error, TargetError::DomainExists { .. }), "{error}");
    assert_eq!(states(&libvirt, THEIRS), (true, None));
}

#[test]
fn a_domain_without_a_name_or_uuid_is_refused() {
    let libvirt = open();
    for xml in ["<domain type='test'/>", "no XML"] {
        assert!(matches!(libvirt.define(xml), Err(TargetError::Libvirt { .. })));
    }
}
