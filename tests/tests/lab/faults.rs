//! What goes wrong while a run goes on: its cells fail with a reason, and nothing of it is left.

use std::fs;
use std::time::Duration;

use crossvisor_model::{CellStatus, Phase};
use crossvisor_tests::examples::must;
use crossvisor_tests::{KeptHost, Lab, Running, wait_until};

use crate::{RUN, UNDER_WAY, exits, scenario, statuses};

const KEPT: &str = "{x: {up: xen}}";
/// More than any deadline here allows.
const ENDLESS: &str = "workloads: {pi: {digits: 20000, repeat: 1000}}";
/// A run ends by itself once its host is lost.
const LOST: Duration = Duration::from_secs(300);

fn start(lab: &Lab, name: &str, rest: &str) -> Running {
    lab.start_run(&lab.scenario(name, &scenario(name, KEPT, rest)), name)
}

fn start_endless(lab: &Lab, name: &str, storage: &str) -> Running {
    let mut run = start(
        lab,
        name,
        &format!(
            "matrix: {{hypervisor: [xen-pv], storage: [{storage}], guests: [1], workload: [pi]}}\n\
             storages: {{lvm: {{vg: cv}}, snapshot: {{vg: cv}}}}\n{ENDLESS}\n"
        ),
    );
    wait_until("the work is measured", UNDER_WAY, || lab.is_measuring(name) || run.has_ended());
    assert!(!run.has_ended(), "{name} ended: {:?}", run.wait(LOST));
    run
}

pub fn a_snapshot_overflows(lab: &Lab, host: &KeptHost<'_>) {
    let before = host.inventory();
    let run = start(
        lab,
        "overflow",
        "matrix: {hypervisor: [xen-pv], storage: [snapshot], guests: [1], workload: [bonnie]}\n\
         storages: {snapshot: {vg: cv, store: 32MiB}}\n\
         workloads: {bonnie: {size: 64MiB, ram: 32MiB, fast: true, files: 0}}\n",
    );
    exits(&run.wait(RUN), 1);
    let statuses = statuses(lab, "overflow");
    let [CellStatus::Failed { reason, .. }] = &statuses[..] else { panic!("{statuses:?}") };
    assert!(reason.contains("exception store of 32.0 MiB"), "{reason}");
    assert!(reason.contains("set a larger 'store'"), "{reason}");
    host.assert_has_only(&before);
}

pub fn what_is_not_ours_stays(lab: &Lab, host: &KeptHost<'_>) {
    let before = host.inventory();
    let run = start_endless(lab, "orphan", "snapshot");
    let id = fs::read_to_string(lab.state().join("live/orphan/id")).expect("id");
    let (ours, theirs) = (format!("cv-{id}-v1-g1"), format!("cv-{id}-v2-g1"));
    let decoys = Decoys { host, folder: format!("/var/lib/crossvisor/live/orphan-{id}-x"), name: theirs };
    decoys.make();
    run.kill();
    assert!(host.inventory().contains(&ours));
    let dry = must(lab.crossvisor().args(["clean", "--dry-run"]));
    assert!(dry.contains(&format!("would remove domain {ours} of run orphan")), "{dry}");
    must(lab.crossvisor().arg("clean"));
    decoys.assert_are_there();
    decoys.remove();
    host.assert_has_only(&before);
}

/// Things of somebody else with names like those of a run.
struct Decoys<'a> {
    host: &'a KeptHost<'a>,
    name: String,
    folder: String,
}

impl Decoys<'_> {
    fn make(&self) {
        let Self { host, name, folder } = self;
        let domain = format!(
            "<domain type=\"xen\"><name>{name}</name><memory unit=\"MiB\">16</memory><os>\
             <type arch=\"x86_64\" machine=\"xenpv\">linux</type><kernel>/boot/vmlinuz</kernel></os></domain>"
        );
        host.shell(&format!(
            "set -e; lvcreate -qq -L 4M -n {name} cv; mkdir {folder}; echo mine > {folder}/a.raw; \
             echo '{domain}' > {folder}/domain.xml; virsh -q define {folder}/domain.xml"
        ));
    }

    fn assert_are_there(&self) {
        let Self { host, name, folder } = self;
        let found = host.shell(&format!("set -e; lvs cv/{name}; virsh dominfo {name}; cat {folder}/a.raw"));
        assert!(found.ends_with("mine\n"), "{found}");
    }

    fn remove(&self) {
        let Self { host, name, folder } = self;
        host.shell(&format!("set -e; virsh -q undefine {name}; lvremove -qq -y cv/{name}; rm -r {folder}"));
    }
}

pub fn two_runs_and_libvirt_is_restarted(lab: &Lab, host: &KeptHost<'_>) {
    let before = host.inventory();
    let rest = |storages: &str| {
        format!(
            "matrix: {{hypervisor: [xen-pv], storage: [{storages}], guests: [1], workload: [iperf]}}\n\
             storages: {{lvm: {{vg: cv}}, snapshot: {{vg: cv}}}}\nworkloads: {{iperf: {{time: 1s}}}}\n"
        )
    };
    // One goes on to make another guest after the restart.
    let mut one = start(lab, "one", &rest("snapshot, lvm"));
    let mut other = start(lab, "other", &rest("loop"));
    wait_until("both runs have guests", UNDER_WAY, || {
        let has_guest = |name| lab.events(name).contains(r#""phase":"boot""#);
        (has_guest("one") || one.has_ended()) && (has_guest("other") || other.has_ended())
    });
    assert!(!one.has_ended() && !other.has_ended(), "{:?}, {:?}", one.wait(RUN), other.wait(RUN));
    host.shell("systemctl restart libvirtd");
    exits(&one.wait(RUN), 0);
    exits(&other.wait(RUN), 0);
    assert_eq!(statuses(lab, "one"), [CellStatus::Good, CellStatus::Good]);
    assert_eq!(statuses(lab, "other"), [CellStatus::Good]);
    host.assert_has_only(&before);
}

pub fn the_host_dies(lab: &Lab, host: &KeptHost<'_>) {
    let run = start_endless(lab, "lost", "loop");
    host.kill();
    let said = exits(&run.wait(LOST), 1);
    let statuses = statuses(lab, "lost");
    let [CellStatus::Failed { phase, reason }] = &statuses[..] else { panic!("{statuses:?}") };
    assert_eq!(*phase, Phase::Run);
    assert!(reason.contains("guest 1") && reason.contains("the connection was lost"), "{reason}");
    assert!(said.contains("'crossvisor clean' tries it again"), "{said}");
}
