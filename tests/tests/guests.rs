//! Whole runs on real guests. Each test has a deadline and leaves nothing behind, also when it fails.

use std::fs;
use std::time::Duration;

use crossvisor_model::{Accel, CellStatus, Phase, Value};
use crossvisor_tests::{Lab, Running, examples, wait_until};

const SMALL: &str = "
name: small
guest: {image: debian-12, memory: 256MiB}
matrix:
  hypervisor: [bare, kvm-virtio, kvm-e1000]
  storage: [file]
  guests: [1, 2]
  workload: [bonnie, iperf, pi, uneven]
  exclude: [{hypervisor: kvm-e1000, guests: 1}]
workloads:
  bonnie: {size: 16MiB, ram: 8MiB, fast: true, files: 0}
  iperf: {time: 1s}
  pi: {digits: 1000, repeat: 1}
  uneven: {use: command, argv: [sleep, '{index}']} # the second has twice as much to do as the first
load: until-all-finish
repeat: 1
compare: {baseline: {hypervisor: bare}}
";

#[test]
fn a_run_fills_every_cell_and_leaves_nothing_behind() {
    let lab = Lab::new();
    let output = lab.start_run(&lab.scenario("small", SMALL), "small").wait(Duration::from_secs(900));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    let record = lab.record("small");
    assert!(record.complete);
    assert_eq!(record.outcomes.len(), 20);
    for cell in &record.plan.cells {
        let outcome = record.outcomes.iter().find(|outcome| outcome.cell == cell.id).expect("outcome");
        assert_eq!(outcome.status, CellStatus::Good, "{}", cell.id);
        let headline: Vec<_> =
            record.metrics[&cell.axes.workload].iter().filter(|metric| metric.headline).collect();
        for metric in headline {
            for instance in 1..=cell.axes.guests {
                let sample = record.samples.iter().find(|sample| {
                    sample.cell == cell.id && *sample.metric == *metric.name && sample.instance == instance
                });
                let sample = sample.unwrap_or_else(|| panic!("{} {} {instance}", cell.id, metric.name));
                assert!(!matches!(sample.value, Value::Missing(_)), "{sample:?}");
                assert_eq!(sample.accel == Accel::None, cell.axes.is_bare(), "{sample:?}");
                if cell.axes.workload.as_str() == "uneven" && cell.axes.guests > 1 {
                    let is_whole = sample.overlap.is_some_and(|overlap| overlap > 0.9);
                    assert!(is_whole, "the first was idle before the second was done: {sample:?}");
                }
            }
        }
        let setup = record.setups.iter().find(|setup| setup.cell == cell.id).expect("setup");
        let volumes = if cell.axes.is_bare() { 0 } else { cell.axes.guests as usize };
        assert_eq!(setup.allocated_bytes.iter().flatten().filter(|bytes| **bytes > 1 << 20).count(), volumes);
        assert!(setup.skew_s.values().all(|skew| *skew < 2.0), "{setup:?}");
    }
    assert!(lab.runs().join("small/report.html").is_file());
    lab.assert_clean();
    assert_eq!(lab.domains(), Vec::<String>::new());
}

#[test]
fn a_guest_that_never_comes_up_fails_its_cell_and_the_others_go_on() {
    let lab = Lab::new();
    let scenario = "
name: deaf
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [bare, kvm-virtio], storage: [file], guests: [1], workload: [pi]}
workloads: {pi: {digits: 1000, repeat: 1}}
repeat: 1
deadlines: {boot: 6s}
";
    // On a new machine this is where the image is built.
    let output = lab.start_run(&lab.scenario("deaf", scenario), "deaf").wait(Duration::from_secs(900));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let record = lab.record("deaf");
    let status = |hypervisor: &str| {
        let found = record.outcomes.iter().find(|outcome| outcome.cell.0.contains(hypervisor));
        found.map(|outcome| outcome.status.clone()).expect("outcome")
    };
    assert_eq!(status("bare"), CellStatus::Good);
    let CellStatus::Failed { phase, reason } = status("kvm-virtio") else { panic!("it did not fail") };
    assert_eq!(phase, Phase::Boot);
    assert!(reason.contains("never came up") && reason.contains("console ends:"), "{reason}");
    lab.assert_clean();
}

const OUTSIDE: &str = "
name: outside
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [qemu-plain], storage: [preallocated], guests: [1], workload: [compress]}
workloads: {compress: {size: 8MiB, level: 1}}
repeat: 1
";

#[test]
fn the_example_plugins_run_together_on_a_guest_without_libvirt() {
    let (folder, lab) = (examples::private_folder(), Lab::new());
    let files = examples::build(folder.path());
    let trust = folder.path().join("trusted.json");
    examples::must(lab.crossvisor().env("CROSSVISOR_TRUST", &trust).args(["plugin", "trust"]).args(files));
    let mut run = lab.run(&lab.scenario("outside", OUTSIDE), "outside");
    run.env("CROSSVISOR_TRUST", trust).env("CROSSVISOR_PLUGIN_PATH", folder.path());
    let output = Running::start(&mut run).wait(Duration::from_secs(900));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    let record = lab.record("outside");
    assert_eq!(record.outcomes.iter().map(|o| &o.status).collect::<Vec<_>>(), [&CellStatus::Good]);
    let value = |metric: &str| {
        let found = record.samples.iter().find(|sample| &*sample.metric == metric);
        found
            .and_then(|sample| sample.value.measured())
            .unwrap_or_else(|| panic!("{metric}: {:?}", record.samples))
    };
    assert!(value("rate") > 0.0 && value("time") > 0.0);
    // The data is the same everywhere, and so is what gzip makes of it.
    assert!((20.0..30.0).contains(&value("ratio")), "{}", value("ratio"));
    let allocated = record.setups[0].allocated_bytes[0].expect("allocated");
    assert!(allocated >= 2 << 30, "{allocated} bytes of a 2 GiB volume that was to be allocated whole");
    lab.assert_clean();
    assert_eq!(lab.domains(), Vec::<String>::new());
}

const LONG: &str = "
name: long
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [kvm-virtio], storage: [file], guests: [2], workload: [pi]}
workloads: {pi: {digits: 20000, repeat: 100}}
repeat: 1
";

#[test]
fn clean_removes_what_a_killed_run_left_and_nothing_else() {
    let lab = Lab::new();
    let run = lab.start_run(&lab.scenario("long", LONG), "long");
    wait_until("the work is measured", Duration::from_secs(900), || lab.is_measuring("long"));
    run.kill();
    let decoy_file = lab.state().join("live/not-a-run.raw");
    fs::write(&decoy_file, "mine").expect("decoy");
    assert_eq!(lab.virsh(&["list", "--state-running", "--name"]).split_whitespace().count(), 2);
    let decoy = lab.scenario("decoy", DECOY);
    lab.virsh(&["define", &decoy.to_string_lossy()]);
    let dry = lab.crossvisor().args(["clean", "--dry-run"]).output().expect("clean");
    assert!(String::from_utf8_lossy(&dry.stdout).contains("long"), "{dry:?}");
    assert_eq!(lab.domains().len(), 3, "a dry run touches nothing");

    let clean = lab.crossvisor().arg("clean").output().expect("clean");
    assert_eq!(clean.status.code(), Some(0), "{clean:?}");
    assert_eq!(lab.domains(), ["cv-decoy-v1-g1"], "exactly the decoy is left");
    assert_eq!(fs::read_to_string(&decoy_file).expect("decoy file"), "mine");
    lab.virsh(&["undefine", "cv-decoy-v1-g1"]);
    fs::remove_file(decoy_file).expect("remove");
    lab.assert_clean();
}

/// A domain with a name like ours and without our tag.
const DECOY: &str = "<domain type='qemu'><name>cv-decoy-v1-g1</name>
  <uuid>7b1b6d6e-6a3a-4d0e-9e0b-2f6f5a1c9d10</uuid><memory unit='MiB'>16</memory>
  <os><type arch='x86_64' machine='pc'>hvm</type></os></domain>";

#[test]
fn an_interrupted_run_removes_what_it_made() {
    let lab = Lab::new();
    let mut run = lab.start_run(&lab.scenario("long", LONG), "long");
    wait_until("the work is measured", Duration::from_secs(900), || lab.is_measuring("long"));
    for _ in 0..2 {
        run.interrupt();
        std::thread::sleep(Duration::from_millis(300));
    }
    let output = run.wait(Duration::from_secs(90));
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let record = lab.record("long");
    assert!(matches!(record.outcomes[0].status, CellStatus::Skipped { .. }), "{:?}", record.outcomes);
    lab.assert_clean();
    assert_eq!(lab.domains(), Vec::<String>::new());
}
