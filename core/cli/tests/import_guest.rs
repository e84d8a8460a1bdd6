//! Old guests as scenarios, as a shell sees it.

mod common;

use common::{text, Home};

const WEB: &str =
    "name = 'Web 1'\nmemory = 1024\nvcpus = 2\ncpus = '2-3'\nbootloader = 'pygrub'\nextra = 'quiet'\n\
                   disk = [ 'phy:/dev/vg1/web,xvda,w', '/srv/data.q,qcow2,xvdb,w' ]\n\
                   vif = [ 'mac=00:16:3e:00:00:01,bridge=br7' ]\n";
const DOMAIN: &str = "<domain type='kvm'><name>db</name><uuid>u</uuid><memory unit='GiB'>64</memory><vcpu>4</vcpu>\
                      <os><type arch='x86_64'>hvm</type></os><devices><disk type='file'><driver type='qcow2' cache='none'/>\
                      <source file='/x'/><target dev='vda' bus='virtio'/></disk></devices></domain>\n";

fn write(home: &Home, name: &str, content: &str) {
    std::fs::write(home.work().join(name), content).expect("write");
}

#[test]
fn a_scenario_of_a_guest_can_be_planned() {
    let home = Home::new();
    for (kind, file, content, cells) in [
        (
            "xl",
            "web.cfg",
            WEB.to_string(),
            &["xen/xen-pv-grub/lvm/1/bonnie", "xen/xen-pvh/file/1/iperf", "kvm/kvm-virtio/lvm/1/pi"],
        ),
        (
            "libvirt",
            "db.xml",
            DOMAIN.into(),
            &["kvm/kvm-virtio/file/1/bonnie", "xen/xen-pvh/file/1/iperf", "xen/xen-hvm-pv/file/1/pi"],
        ),
        (
            "xl",
            "hvm.cfg",
            "name = '#\u{2028}no: [\"'\ntype = 'hvm'\nmemory = 64\nvcpus = 900".into(),
            &["xen/xen-hvm/file/1/bonnie", "kvm/kvm-e1000-ide/file/1/iperf", "kvm/kvm-virtio/file/1/pi"],
        ),
    ] {
        write(&home, file, &content);
        let scenario = format!("{file}.yaml");
        let import = home.run(&["import", kind, file, "--out", &scenario]);
        assert_eq!(import.status.code(), Some(0), "{}", text(&import.stderr));
        let plan = home.run(&["plan", &scenario, "--cells"]);
        assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));
        for cell in cells {
            assert!(text(&plan.stdout).contains(cell), "{cell}: {}", text(&plan.stdout));
        }
        let again = home.run(&["import", kind, file, "--out", &scenario]);
        assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    }
}

#[test]
fn the_scenario_says_what_the_guest_has_and_loses() {
    let home = Home::new();
    write(&home, "web.cfg", WEB);
    let import = home.run(&["import", "xl", "web.cfg"]);
    let scenario = text(&import.stdout);
    for line in [
        "name: web-1",
        "guest: {image: debian-12, memory: 1GiB, vcpus: 2}",
        "  xen-pv-grub: {cpus: \"2,3\", pin: shared}",
        "  lvm: {use: lvm, vg: \"vg1\"}",
        "  file: {use: file, format: \"qcow2\"}",
        "    bridge: \"br7\"",
        "#     2 disks at once (line 7): ",
        "#     boot loader 'pygrub' (line 5): ",
        "compare: {baseline: {host: xen, hypervisor: xen-pv-grub}}",
    ] {
        assert!(scenario.lines().any(|own| own.starts_with(line)), "{line}\n{scenario}");
    }
}

#[test]
fn problems_are_told_with_their_place_and_in_the_exit_code() {
    let home = Home::new();
    write(&home, "bad.cfg", &WEB.replace("vcpus = 2", "vcpus = two"));
    let bad = home.run(&["import", "xl", "bad.cfg"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(
        text(&bad.stderr).contains("bad.cfg:3:9: error: 'two' is not in quotes"),
        "{}",
        text(&bad.stderr)
    );
    write(&home, "no.cfg", "nothing\n");
    let none = home.run(&["import", "xl", "no.cfg"]);
    assert_eq!((none.status.code(), text(&none.stdout).as_str()), (Some(2), ""));
    for (arguments, words) in [
        (&["import", "xl", "absent.cfg"] as &[_], "cannot read absent.cfg"),
        (&["import", "xl", "bad.cfg", "--name", "x"], "--name is for results"),
        (&["import", "xen", "bad.cfg"], "xl, libvirt"),
    ] {
        let refused = home.run(arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    }
}

#[test]
fn several_guests_go_into_a_folder() {
    let home = Home::new();
    write(&home, "a.cfg", WEB);
    write(&home, "b.cfg", &WEB.replace("Web 1", "web-1"));
    let printed = home.run(&["import", "xl", "a.cfg", "b.cfg"]);
    assert_eq!(printed.status.code(), Some(2));
    assert!(text(&printed.stderr).contains("2 guests"), "{}", text(&printed.stderr));
    assert!(
        text(&printed.stderr).contains("have the same MAC address 00:16:3e:00:00:01"),
        "{}",
        text(&printed.stderr)
    );
    assert!(text(&printed.stderr).contains("have the same disk /dev/vg1/web"), "{}", text(&printed.stderr));
    let written = home.run(&["import", "xl", "a.cfg", "b.cfg", "--out", "all"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    assert!(home.work().join("all/web-1.yaml").is_file() && home.work().join("all/web-1-2.yaml").is_file());
}

#[test]
fn the_last_description_of_a_domain_counts_and_json_has_all() {
    let home = Home::new();
    write(&home, "db.xml", &format!("{DOMAIN}\n{}", DOMAIN.replace("64", "8")));
    let import = home.run(&["import", "libvirt", "db.xml"]);
    assert_eq!(import.status.code(), Some(0), "{}", text(&import.stderr));
    assert!(text(&import.stdout).contains("memory: 8GiB"), "{}", text(&import.stdout));
    let json = home.run(&["import", "libvirt", "db.xml", "--json"]);
    let lines: Vec<serde_json::Value> =
        text(&json.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["guest"]["memory"], "64GiB");
    assert_eq!(lines[1]["guest"]["disks"][0]["backing"]["options"]["cache"], "none");
}
