//! The lab: a real Xen host and a real KVM host as guests of this machine, and runs on them. Each test has deadlines
//! and leaves nothing behind, also when it fails. No figure of a measurement is ever asserted.

mod cells;
mod faults;
mod refused;

use std::process::Output;
use std::time::Duration;

use crossvisor_model::{Accel, CellStatus};
use crossvisor_tests::examples::must;
use crossvisor_tests::{KeptHost, Lab, Parts, wait_until};

/// One run, also where the guest's image is built for it.
const RUN: Duration = Duration::from_secs(2400);
/// Until work is measured that does not end on its own.
const UNDER_WAY: Duration = Duration::from_secs(900);

#[test]
fn a_xen_host_that_is_kept_runs_cells_and_survives_what_goes_wrong() {
    let lab = Lab::new();
    let mut parts = Parts::new("xen");
    let mut host = None;
    parts.part("host up", || host = Some(KeptHost::up(&lab, "xen", "xen-host")));
    if let Some(host) = host {
        parts.part("cells", || cells::all_variants_and_backings(&lab, &host));
        parts.part("refused", || refused::before_anything_is_made(&lab, &host));
        parts.part("snapshot overflow", || faults::a_snapshot_overflows(&lab, &host));
        parts.part("not ours", || faults::what_is_not_ours_stays(&lab, &host));
        parts.part("two runs", || faults::two_runs_and_libvirt_is_restarted(&lab, &host));
        parts.part("host killed", || faults::the_host_dies(&lab, &host));
        parts.part("host down", || {
            host.down();
            // The run that lost its host could remove nothing; now there is nothing to be removed.
            must(lab.crossvisor().arg("clean"));
            nothing_is_left(&lab);
        });
    }
    parts.end();
}

#[test]
fn a_kvm_host_that_is_made_for_the_run_has_kvm_or_says_that_it_has_not() {
    let lab = Lab::new();
    let mut parts = Parts::new("kvm");
    parts.part("cells", || {
        let text = scenario("kvm", "{k: {guest: kvm-host}}", KVM_CELLS);
        let mut run = lab.start_run(&lab.scenario("kvm", &text), "kvm");
        wait_until("the work is measured", RUN, || lab.is_measuring("kvm") || run.has_ended());
        if !run.has_ended() {
            refused::a_host_without_xen(&lab, "kvm");
        }
        let output = run.wait(RUN);
        exits(&output, 0);
        let record = lab.record("kvm");
        assert_eq!(record.outcomes.len(), 7);
        let facts = &record.provenance.hosts["k"];
        let accel = facts.accel.expect("a host that runs guests tells how");
        assert_eq!(accel, if facts.kvm == "usable" { Accel::Kvm } else { Accel::Tcg }, "{}", facts.kvm);
        cells::assert_good(&record, accel);
        cells::assert_report(&lab, &record, "k");
    });
    parts.part("nothing is left", || nothing_is_left(&lab));
    parts.end();
}

const KVM_CELLS: &str = "
matrix:
  hypervisor: [kvm-virtio]
  storage: [lvm, snapshot]
  guests: [1, 2]
  workload: [bonnie, pi, neighbours]
  exclude: [{storage: lvm, guests: 2}, {workload: neighbours, guests: 1}]
storages: {lvm: {vg: cv}, snapshot: {vg: cv}}
workloads:
  bonnie: {size: 16MiB, ram: 8MiB, fast: true, files: 0}
  pi: {digits: 1000, repeat: 1}
  neighbours: {use: iperf, between: guests, time: 1s}
";

/// A scenario on small guests.
fn scenario(name: &str, hosts: &str, rest: &str) -> String {
    format!(
        "name: {name}\nhosts: {hosts}\nguest: {{image: debian-12, memory: 256MiB}}\nrepeat: 1\n\
         deadlines: {{create: 10m, boot: 15m, prepare: 5m, run: 10m, collect: 3m, destroy: 3m}}\n{rest}"
    )
}

/// # Panics
/// When the program ended otherwise, with what it said.
fn exits(output: &Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{}\n{said}", String::from_utf8_lossy(&output.stdout));
    said
}

fn statuses(lab: &Lab, run: &str) -> Vec<CellStatus> {
    lab.record(run).outcomes.into_iter().map(|outcome| outcome.status).collect()
}

fn nothing_is_left(lab: &Lab) {
    lab.assert_clean();
    assert_eq!(lab.domains(), Vec::<String>::new());
}
