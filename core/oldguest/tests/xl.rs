//! Configuration of xm and xl in its many forms, and what is said of each.

use crossvisor_model::Bytes;
use crossvisor_oldguest::{BootKind, OldGuest, Reading, Severity, xl};

fn guest(text: &str) -> OldGuest {
    xl(text).guest.unwrap_or_else(|| panic!("no guest in {text}"))
}

/// Reads lines beside those that every guest needs.
fn with(lines: &str) -> Reading {
    xl(&format!("name = 'g'\nmemory = 512\nkernel = '/k'\n{lines}\n"))
}

fn errors(reading: &Reading) -> Vec<String> {
    let errors = reading.problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(ToString::to_string).collect()
}

/// The only error, which is at this place and says these words.
fn has_error(reading: &Reading, place: &str, words: &str) {
    let errors = errors(reading);
    assert!(
        matches!(errors.as_slice(), [error] if error.starts_with(place) && error.contains(words)),
        "{errors:?}"
    );
}

fn warned(reading: &Reading, words: &str) -> bool {
    reading
        .problems
        .iter()
        .any(|problem| problem.severity == Severity::Warning && problem.message.contains(words))
}

#[test]
fn a_pv_guest_has_its_shape() {
    let reading = xl("# a guest\nname = \"web\"; vcpus = '2'\nmemory = 1024\nbootloader = 'pygrub'\n\
                      disk = [ 'phy:/dev/vg1/web,xvda,w' ,\n  \"file:/srv/x.iso,xvdb:cdrom,r\" ]\nvif = ['']\n");
    let guest = reading.guest.as_ref().expect("guest");
    assert_eq!((guest.name.as_deref(), guest.vcpus, guest.memory), (Some("web"), 2, Some(Bytes(1 << 30))));
    assert_eq!((guest.hypervisor, guest.boot.kind), ("xen-pv-grub", BootKind::Pygrub));
    assert_eq!((guest.disks[0].line, guest.disks[1].line, guest.nics.len()), (5, 6, 1));
    assert_eq!(
        guest.disks[0].backing.as_ref().map(|b| (b.offer, b.options["vg"].as_str())),
        Some(("lvm", "vg1"))
    );
    assert_eq!(
        (guest.disks[1].role.as_str(), guest.disks[1].writable, &guest.disks[1].backing),
        ("cdrom", false, &None)
    );
    assert_eq!(errors(&reading), Vec::<String>::new());
    assert_eq!(guest.lines["memory"], 3);
}

#[test]
fn what_is_quoted_stays_on_its_line() {
    let lines = "bootloader = 'pygrub'\nkernel = ''\ndisk = ['phy:/dev/a,x\\x1b[2J\\n1,w']";
    for problem in with(lines).problems {
        assert!(!problem.message.contains(char::is_control), "{problem:?}");
    }
}

#[test]
fn a_missing_value_has_a_place() {
    for (lines, place) in [("if x:\n  maxmem =", "5:10: "), ("disk +=", "4:1: ")] {
        let errors = errors(&with(lines));
        assert!(errors.contains(&format!("{place}error: a value is missing here")), "{lines}: {errors:?}");
    }
}

#[test]
fn the_variant_is_by_type_loader_and_devices() {
    let variant = |lines: &str| guest(&format!("memory = 1\n{lines}")).hypervisor;
    for (lines, offer) in [
        ("kernel = '/k'", "xen-pv"),
        ("kernel = '/usr/lib/grub-xen/grub-x86_64-xen.bin'", "xen-pv-grub"),
        ("firmware = 'pvgrub64'", "xen-pv-grub"),
        ("type = 'pvh'\nkernel = '/k'", "xen-pvh"),
        ("builder = 'hvm'\ndisk = ['phy:/dev/vg/a,hda,w']", "xen-hvm"),
        ("builder = 'hvm'\nkernel = '/usr/lib/xen/boot/hvmloader'", "xen-hvm"),
        ("type = 'hvm'\ndisk = ['/dev/vg/a,raw,xvda,rw']", "xen-hvm-pv"),
        ("type = 'hvm'\ndisk = ['/x.iso,,xvdb,cdrom']", "xen-hvm"),
        ("type = 'hvm'\nvif = ['type=netfront']", "xen-hvm-pv"),
        ("builder = 'generic'\nkernel = '/k'", "xen-pv"),
    ] {
        assert_eq!(variant(lines), offer, "{lines}");
    }
    has_error(&with("type = 'hvmm'"), "4:1", "no type 'hvmm'");
    has_error(&with("type = 'pv'\nbuilder = 'hvm'"), "5:1", "contradict");
}

#[test]
fn disks_in_all_forms() {
    let read = |item: &str| {
        let reading = with(&format!("disk = [ {item:?} ]"));
        let disk = reading.guest.as_ref().expect("guest").disks[0].clone();
        let access = if disk.writable { "w" } else { "r" };
        let backing = disk.backing.as_ref().map_or("-", |backing| backing.offer);
        let format = disk.format.as_deref().unwrap_or("-");
        let path = disk.path.as_deref().unwrap_or("-");
        (format!("{path} {format} {} {access} {} {backing}", disk.device, disk.role), errors(&reading).len())
    };
    for (item, found) in [
        ("/dev/vg/a,raw,xvda,rw", "/dev/vg/a raw xvda w disk lvm"),
        ("/dev/vg/a,,hda", "/dev/vg/a raw hda w disk lvm"),
        ("/dev/mapper/v--g-a--b,raw,hda", "/dev/mapper/v--g-a--b raw hda w disk lvm"),
        ("/i.iso,,hdc,cdrom", "/i.iso raw hdc r cdrom -"),
        ("/i.iso,,hdc,,cdrom", "/i.iso raw hdc r cdrom -"),
        ("/i.iso,raw,hdc,devtype=cdrom", "/i.iso raw hdc r cdrom -"),
        ("raw:/i.iso,hdc:cdrom,ro", "/i.iso raw hdc r cdrom -"),
        (",hdc:cdrom,r", "- raw hdc r cdrom -"),
        (" format=qcow2 , vdev=xvda, access=r, target=/a,b=c.img", "/a,b=c.img qcow2 xvda r disk file"),
        ("vdev=xvda, /x/a=b.img, qcow2", "/x/a=b.img qcow2 xvda w disk file"),
        ("phy:sdb,ioemu:hda,w", "/dev/sdb raw hda w disk -"),
        ("phy:vg/a,sda1,w", "/dev/vg/a raw sda1 w disk lvm"),
        ("file:/a.img,ioemu:hda,w", "/a.img raw hda w disk loop"),
        ("tap:aio:/a.img,xvda,w", "/a.img raw xvda w disk file"),
        ("tap2:tapdisk:aio:/a.img,xvda,w", "/a.img raw xvda w disk file"),
        ("tap:qcow2:/a.q,xvda,w", "/a.q qcow2 xvda w disk file"),
        ("/dev/loop7,raw,xvda", "/dev/loop7 raw xvda w disk loop"),
        ("/dev/zvol/t/a,raw,xvda", "/dev/zvol/t/a raw xvda w disk -"),
        ("iscsi:iqn.2001-05:a,xvda,w", "- raw xvda w disk -"),
        ("/a.vhd,vhd,xvda,w,backendtype=tap,discard,script=block-x", "/a.vhd vhd xvda w disk -"),
    ] {
        assert_eq!(
            read(item),
            (found.into(), 0),
            "{item}: {:?}",
            with(&format!("disk = [ {item:?} ]")).problems
        );
    }
    for (item, count) in [
        ("/a.q,QCOW2,xvda,rw", 1),
        ("/a,zip,xvda", 1),
        ("/a,raw,xvda,maybe", 1),
        ("/a,raw,xvda,w,x", 1),
        ("nfs:/a,raw,xvda,w", 1),
        ("/a,raw", 1),
        ("", 2),
        ("vdev=xvda,colour=red,/a", 1),
    ] {
        assert_eq!(read(item).1, count, "{item}: {:?}", read(item));
    }
    assert!(read("/a.q,QCOW2,xvda,rw").0.contains("qcow2"));
}

#[test]
fn a_prefix_means_something_else_to_xl() {
    assert!(warned(&with("disk = ['file:/a,xvda,w']"), "loop device"));
    assert!(warned(&with("disk = ['tap:aio:/a,xvda,w']"), "blktap"));
    assert!(!warned(&with("disk = ['phy:/dev/vg/a,xvda,w']"), "deprecated"));
}

#[test]
fn cpus_are_a_set_or_a_set_for_each_vcpu() {
    let cpus = |text: &str| {
        with(text).guest.and_then(|guest| guest.pinning).map(|pinning| (pinning.cpus, pinning.each.len()))
    };
    assert_eq!(cpus("cpus = '0-3,5,^1'"), Some((vec![0, 2, 3, 5], 0)));
    assert_eq!(cpus("cpus = 2"), Some((vec![2], 0)));
    assert_eq!(cpus("cpu = 3"), Some((vec![3], 0)));
    assert_eq!(cpus("cpus = ['1', 2, \"4-5\"]"), Some((vec![1, 2, 4, 5], 3)));
    assert_eq!((cpus("cpus = 'all'"), cpus("cpu = -1"), cpus("")), (None, None, None));
    let reading = with("cpus = '0-3,¹'");
    has_error(&reading, "4:1", "'¹' (U+00B9)");
    assert!(errors(&reading)[0].contains("is '0-3,^1' meant, that is 0,2,3?"));
    assert_eq!(reading.guest.and_then(|guest| guest.pinning), None);
    has_error(&with("cpus = '1,^1'"), "4:1", "leaves no CPU");
}

#[test]
fn plain_python_is_evaluated() {
    let guest = guest(
        "base = '/srv/' \"img\"\nnumber = 3\nname = 'vm%02s' % 'x' if 0 else 'y'\nname = 'vm%d-%s' % (number, 'a')\n\
                       memory = 256 * 2 + 0x10\nkernel = base + '/k'\nvif = ['bridge=br0'] \nvif += ['bridge=br1']\n\
                       disk = [ 'file:%s/%s.img,hda,w' % (base, name), ]\non_crash = on_reboot = '''restart'''\n",
    );
    assert_eq!(guest.name.as_deref(), Some("vm3-a"));
    assert_eq!((guest.memory, guest.nics.len()), (Some(Bytes(528 << 20)), 2));
    assert_eq!(guest.boot.kernel.as_deref(), Some("/srv/img/k"));
    assert_eq!(guest.disks[0].target, "/srv/img/vm3-a.img");
    assert_eq!((&guest.other["on_crash"], &guest.other["on_reboot"]), (&"restart".into(), &"restart".into()));
}

#[test]
fn code_is_not_run_and_its_values_are_not_made_up() {
    let text = "import os\nif os.uname()[4] == 'x':\n  d = 'lib64'\n  memory = 1024\nelse:\n  d = 'lib'\n  memory = 512\n\
                name = 'g'\nkernel = '/usr/' + d + '/k'\ndef f(x):\n  vcpus = 7\n  return x\nvcpus = f(3)\nvif = []\nvif.append('bridge=b')\n";
    let reading = xl(text);
    let guest = reading.guest.as_ref().expect("guest");
    assert_eq!((guest.memory, guest.vcpus, guest.nics.len()), (None, 1, 0));
    let errors = errors(&reading).join("\n");
    assert!(errors.contains("'memory' is one of '1024,512'"), "{errors}");
    assert!(errors.contains("the value of 'vcpus' is not known"), "{errors}");
    assert!(errors.contains("15:1: error: 'vif' is changed by the code"), "{errors}");
    assert!(errors.contains("'kernel' is one of"), "{errors}");
    assert!(warned(&reading, "the block of 'if' is not run"));
}

#[test]
fn damage_of_pasting_is_told_of_with_its_place() {
    has_error(&with("uuid = “x”"), "4:8", "U+201C");
    assert_eq!(guest("memory = 1\nname = 'a’").name.as_deref(), Some("a"));
    assert_eq!(guest("memory = 1\nname = \"it’s\"").name.as_deref(), Some("it’s"));
    has_error(&with("vcpus\u{a0}= 2"), "4:6", "U+00A0");
    has_error(&with("vcpus = 2 maxvcpus = 4"), "4:11", "a second assignment");
    has_error(&with("vcpus = 2\nMaxvcpus = 4"), "5:1", "lower case only");
    has_error(&with("uuid = abc-1"), "4:8", "not in quotes");
    has_error(&with("vif =\n[ 'bridge=b' ]"), "4:5", "the next line");
    has_error(&with("if x:\nhelper = 'a'"), "5:1", "expected an indented block after 'if' in line 4");
    has_error(&with("disk = [ 'phy:/dev/vg/a,xvda,w'\nvcpus = 2"), "4:8", "'[' is not closed");
    has_error(&with("vif = [ 'bridge=a' 'bridge=b' ]"), "4:20", "a comma is missing");
    has_error(&with("vcpus = ]2"), "4:9", "closes nothing");
    has_error(&with("$ cat guest"), "4:1", "no assignment begins");
    has_error(&with("uuid ="), "4:6", "no value");
    has_error(&with("uuid = 'a"), "4:8", "not closed in its line");
    has_error(&with("uuid = 'a' + 1"), "4:12", "do not go together");
    assert_eq!(with("vif = [ 'bridge=a' 'bridge=b' ]").guest.map(|guest| guest.nics.len()), Some(2));
    assert_eq!(
        with("vcpus = 2 maxvcpus = 4").guest.map(|guest| (guest.vcpus, guest.max_vcpus)),
        Some((2, Some(4)))
    );
}

#[test]
fn numbers_are_numbers() {
    has_error(&with("vcpus = -2"), "4:1", "not -2");
    has_error(&with("vcpus = 'many'"), "4:1", "not 'many'");
    has_error(&with("vcpus = []"), "4:1", "'vcpus' is a number");
    has_error(&with("vcpus = 4\nmaxvcpus = 2"), "5:1", "below 'vcpus'");
    let long = errors(&xl("name = 'g'\nkernel = '/k'\nmemory = 99999999999999999999")).join("\n");
    assert!(long.contains("3:10: error: '99999999999999999999' is no whole number"), "{long}");
    has_error(&xl("name = 'g'\nkernel = '/k'"), "1: ", "memory is not said");
    has_error(&xl("name = 'g'\nkernel = '/k'\nmemory = 0"), "3:1", "no guest has that");
}

#[test]
fn what_takes_no_effect_is_told() {
    assert!(warned(&with("initrd = '/i'"), "'ramdisk' meant"));
    assert!(warned(&with("vcpu = 4"), "'vcpus' meant"));
    assert!(warned(&with("cmdline = 'a'\nroot = '/dev/x'"), "no effect"));
    assert!(warned(&with("vcpus = 1\nvcpus = 2"), "set in line 4 too"));
    assert!(warned(&with("maxmem = 1024"), "grow"));
    assert!(warned(&with("bootloader = '/usr/bin/pygrub'\ndisk = ['/a,raw,xvda1']"), "partition"));
    assert!(warned(
        &xl("name = '192.0.2.1'\nmemory = 1\ndisk = ['phy:vg/vm-192.0.2.9,xvda,w']"),
        "another address"
    ));
    assert!(!warned(
        &xl("name = '192.0.2.9'\nmemory = 1\ndisk = ['phy:vg/vm-192.0.2.9,xvda,w']"),
        "another address"
    ));
}

#[test]
fn what_is_lost_is_said_where() {
    let lost = |lines: &str| {
        let guest = with(lines).guest.expect("guest");
        guest
            .lost
            .iter()
            .map(|lost| format!("{} {}: {}", lost.line.unwrap_or(0), lost.on, lost.what))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(lost("vif = ['rate=10Mb/s']").contains("4 scenarios: rate limit '10Mb/s'"));
    assert!(lost("pci = ['01:00.0']").contains("4 scenarios: 'pci'"));
    assert!(!lost("pci = []\nsdl = 0\nvnc = '0'").contains("'pci'"));
    assert!(lost("vif = ['', '']").contains("2 network cards"));
    assert!(lost("vif = ['model=rtl8139']").contains("network card 'rtl8139'"));
    assert!(lost("disk = ['/dev/zvol/a/b,raw,xvda']").contains("no logical volume by its name"));
    assert!(lost("bootloader = 'pygrub'").contains("kvm, xen-pvh, xen-hvm: boot loader 'pygrub'"));
    assert!(lost("vcpus = 2\ncpus = ['1-2', '3']").contains("CPUs that differ"));
    assert!(
        lost("vnuma = [['size=256', 'vcpus=0'], ['size=256', 'vcpus=1']]").contains("2 virtual NUMA nodes")
    );
}

#[test]
fn passwords_stay_where_they_are() {
    let reading =
        with("vncpasswd = 'geheim'\nvfb = ['type=vnc,vncpasswd=geheim,vnc=1']\nvncpasswd2 = geheim x");
    let json = serde_json::to_string(&reading.guest).expect("json");
    assert!(!json.contains("geheim"), "{json}");
    assert!(json.contains("vncpasswd=…,vnc=1"), "{json}");
}

#[test]
fn what_is_no_configuration_is_no_guest() {
    for text in ["", "\0\u{1}\u{2}", "<domain type='xen'><name>a</name></domain>", "hello\nworld", "x = 1"] {
        let reading = xl(text);
        assert_eq!(reading.guest, None, "{text}");
        assert!(
            errors(&reading).iter().any(|error| error.contains("no configuration of xm or xl")),
            "{reading:?}"
        );
    }
}
