//! Scenarios that are right: what they mean, cell by cell and visit by visit.

mod common;
mod small;

use crossvisor_model::{
    Adaptive, Axes, Bytes, Caches, CellId, HostAddress, HostGuest, HostSpec, Load, Measuring, Plan, Seconds,
    Share, Warmup,
};
use crossvisor_scenario::parse;
use serde_json::json;

use small::{SMALL, said};

const QUICKSTART: &str = include_str!("../../../scenarios/quickstart.yaml");

fn good(text: &str) -> Plan {
    common::planned(text, "scenario.yaml").unwrap_or_else(|problems| panic!("{}", said(&problems)))
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.cells.iter().map(|cell| &*cell.id.0).collect()
}

#[test]
fn the_quickstart_has_these_cells_in_this_order() {
    let plan = good(QUICKSTART);
    let mut lines: Vec<String> = plan.cells.iter().map(|cell| cell.id.to_string()).collect();
    for visit in &plan.order {
        let setup = plan.setup(visit).unwrap();
        let work: Vec<_> = visit.cells.iter().map(|&i| plan.cells[i].axes.workload.as_str()).collect();
        let storage = setup.storage.as_ref().map_or("-", |storage| storage.as_str());
        let place = format!("{}/{}/{storage}/{}", setup.host, setup.hypervisor, setup.guests);
        lines.push(format!("replicate {}: {place}: {}", visit.replicate, work.join(" ")));
    }
    let said = lines.join("\n") + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/quickstart.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &said).unwrap();
    }
    assert_eq!(said, std::fs::read_to_string(path).unwrap());
}

#[test]
fn a_scenario_says_how_it_is_measured_and_what_is_asked_meanwhile() {
    let measured = |lines: &str| good(&format!("{SMALL}{lines}"));
    let telemetry = |plan: &Plan| plan.telemetry.keys().map(ToString::to_string).collect::<Vec<_>>();
    let plain = measured("");
    assert_eq!(plain.measuring, Measuring::default());
    assert_eq!(telemetry(&plain), ["system", "xen"]);
    let all =
        measured("load: until-all-finish\nwarmup: 2\ncaches: keep\nprefill: 64MiB\ntelemetry: system\n");
    let expected = Measuring {
        load: Load::UntilAllFinish,
        warmup: Warmup::Times(2),
        caches: Caches::Keep,
        prefill: Some(Bytes(64 * Bytes::MIB)),
    };
    assert_eq!(all.measuring, expected);
    assert_eq!(telemetry(&all), ["system"]);
    assert_eq!(measured("warmup: 1.5m\n").measuring.warmup, Warmup::For(Seconds(90.0)));
    assert!(measured("telemetry: none\n").telemetry.is_empty());
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), all);
}

#[test]
fn the_quickstart_means_what_it_says() {
    let plan = good(QUICKSTART);
    assert_eq!((plan.repeat, plan.seed, plan.cells.len(), plan.order.len()), (2, 1, 18, 12));
    assert_eq!(plan.hosts[&common::name("here")], HostSpec::Reached(HostAddress::new("qemu:///embed")));
    assert_eq!(plan.guest.memory.mib(), 384);
    let options = |workload: &str| json!(plan.workloads[&common::name(workload)].options);
    let bonnie = json!({"size": 201_326_592, "ram": 100_663_296, "fast": true, "files": 0, "direct": true});
    assert_eq!(options("bonnie"), bonnie);
    assert_eq!(options("iperf"), json!({"time": 2.0}));
    assert_eq!(options("pi"), json!({"digits": 10_000, "repeat": 3}));
    let virtio = plan.cells.iter().find(|cell| !cell.axes.is_bare()).unwrap();
    let baseline = plan.baseline.of(&virtio.axes);
    assert_eq!(baseline.id(), CellId("here/bare/-/1/bonnie".into()));
    assert!(!plan.hypervisors.contains_key(Axes::BARE));
}

#[test]
fn the_example_scenarios_are_right() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut catalog = common::catalog();
    // As much as the hosts that come with the program have.
    catalog.guests.values_mut().filter_map(|guest| guest.host.as_mut()).for_each(|host| {
        host.memory = Bytes(3072 * Bytes::MIB);
        host.system_memory = Bytes(1280 * Bytes::MIB);
    });
    let memory = Bytes(8192 * Bytes::MIB);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let planned = common::planned_on(&catalog, memory, &text, &path.to_string_lossy());
            assert!(planned.is_ok(), "{}", said(&planned.unwrap_err()));
        }
    }
}

#[test]
fn the_bare_host_has_no_storage_and_appears_once() {
    let plan = good(SMALL);
    assert_eq!(
        ids(&plan),
        [
            "here/bare/-/1/pi",
            "here/bare/-/1/disk",
            "here/bare/-/2/pi",
            "here/bare/-/2/disk",
            "here/kvm-virtio/file/1/pi",
            "here/kvm-virtio/file/1/disk",
            "here/kvm-virtio/file/2/pi",
            "here/kvm-virtio/file/2/disk",
            "here/kvm-virtio/qcow/1/pi",
            "here/kvm-virtio/qcow/1/disk",
            "here/kvm-virtio/qcow/2/pi",
            "here/kvm-virtio/qcow/2/disk",
        ]
    );
    assert_eq!((plan.repeat, plan.guest.vcpus), (3, 1));
    let qcow = &plan.storages[&common::name("qcow")];
    assert_eq!(qcow.offer.as_str(), "file");
    assert_eq!(qcow.plugin.as_str(), "storage-fake");
    assert_eq!(json!(qcow.options), json!({"format": "qcow2", "cache": "none"}));
    assert_eq!(json!(plan.storages[&common::name("file")].options), json!({"format": "raw"}));
}

#[test]
fn exclude_takes_away_and_include_adds() {
    let matrix = "matrix:
  exclude: [{storage: qcow, guests: [2, 1], workload: pi}, {hypervisor: bare, guests: 2}]
  include: {hypervisor: kvm-e1000, storage: file, guests: 4, workload: iperf}";
    let plan = good(&SMALL.replace("matrix:", matrix));
    assert_eq!(
        ids(&plan),
        [
            "here/bare/-/1/pi",
            "here/bare/-/1/disk",
            "here/kvm-virtio/file/1/pi",
            "here/kvm-virtio/file/1/disk",
            "here/kvm-virtio/file/2/pi",
            "here/kvm-virtio/file/2/disk",
            "here/kvm-virtio/qcow/1/disk",
            "here/kvm-virtio/qcow/2/disk",
            "here/kvm-e1000/file/4/iperf",
        ]
    );
    assert!(plan.hypervisors.contains_key("kvm-e1000") && plan.workloads.contains_key("iperf"));
}

#[test]
fn a_bare_matrix_needs_no_storage_and_two_hosts_are_both_used() {
    let plan = good(
        "{name: b, guest: {image: debian-12, memory: 256MiB}, repeat: 1,
          hosts: {here: {uri: 'qemu:///embed'}, there: {uri: 'xen+ssh://root@there/system'}},
          matrix: {hypervisor: bare, guests: 1, workload: pi}}",
    );
    assert_eq!(ids(&plan), ["here/bare/-/1/pi", "there/bare/-/1/pi"]);
}

#[test]
fn a_host_is_reached_made_or_kept() {
    let plan = good(
        "{name: h, guest: {image: debian-12, memory: 256MiB}, repeat: 1,
          hosts: {rack: {uri: 'xen+ssh://root@rack/system', ssh_config: rack.conf, bridge: xenbr0.7},
                  made: {guest: kvm-host, memory: 1GiB, vcpus: 2, disk: 4GiB}, plain: {guest: kvm-host},
                  kept: {up: lab}},
          matrix: {hypervisor: bare, guests: 1, workload: pi}}",
    );
    let address = HostAddress {
        uri: "xen+ssh://root@rack/system".into(),
        ssh_config: Some("rack.conf".into()),
        bridge: Some("xenbr0.7".into()),
    };
    let guest = common::name("kvm-host");
    let made = HostGuest {
        guest: guest.clone(),
        memory: Some(Bytes(1 << 30)),
        vcpus: Some(2),
        disk: Some(Bytes(4 << 30)),
    };
    let plain = HostGuest { guest, memory: None, vcpus: None, disk: None };
    let host = |name: &str| plan.hosts[name].clone();
    assert_eq!(host("rack"), HostSpec::Reached(address));
    assert_eq!(host("made"), HostSpec::Made(made));
    assert_eq!(host("plain"), HostSpec::Made(plain));
    assert_eq!(host("kept"), HostSpec::Kept { up: common::name("lab") });
    let text = serde_json::to_string(&plan.hosts).unwrap();
    assert_eq!(serde_json::from_str::<std::collections::BTreeMap<_, _>>(&text).unwrap(), plan.hosts);
}

#[test]
fn a_hypervisor_is_combined_with_the_hosts_that_can_run_it() {
    let plan = good(
        "{name: two, guest: {image: debian-12, memory: 256MiB}, repeat: 1,
          hosts: {kvm: {guest: kvm-host}, kept: {up: lab}, rack: {uri: 'xen:///system', bridge: br0}},
          matrix: {hypervisor: [bare, kvm-virtio, pv], storage: file, guests: 1, workload: pi},
          hypervisors: {pv: {use: xen-pv}}}",
    );
    let all = [
        "kept/bare/-/1/pi",
        "kept/pv/file/1/pi",
        "kvm/bare/-/1/pi",
        "kvm/kvm-virtio/file/1/pi",
        "rack/bare/-/1/pi",
        "rack/pv/file/1/pi",
    ];
    assert_eq!(ids(&plan), all);
}

#[test]
fn a_host_without_a_hypervisor_on_the_axis_may_have_an_included_one() {
    let plan = good(
        "{name: two, guest: {image: debian-12, memory: 256MiB}, repeat: 1,
          hosts: {kvm: {guest: kvm-host}, xen: {guest: xen-host}},
          matrix: {hypervisor: kvm-virtio, storage: file, guests: 1, workload: pi,
                   include: {host: xen, hypervisor: xen-pv, storage: file, guests: 1, workload: pi}}}",
    );
    assert_eq!(ids(&plan), ["kvm/kvm-virtio/file/1/pi", "xen/xen-pv/file/1/pi"]);
}

/// The test machine has 4096 MiB, a made host 1536 MiB of which its own system keeps 1024 MiB.
#[test]
fn made_hosts_take_their_memory_from_this_machine() {
    let with = |kvm: &str, memory: &str| {
        let text = format!(
            "{{name: m, guest: {{image: debian-12, memory: {memory}}},
               hosts: {{here: {{uri: 'qemu:///embed'}}, kvm: {{guest: kvm-host{kvm}}}}},
               matrix: {{hypervisor: kvm-virtio, storage: file, guests: 1, workload: pi}}}}"
        );
        common::planned(&text, "m.yaml").map_err(|problems| said(&problems))
    };
    assert_eq!(with("", "448MiB").map(|plan| plan.cells.len()), Ok(2));
    let small = with("", "449MiB").unwrap_err();
    assert!(small.contains("1 guest needs 513 MiB of memory, host 'kvm' has 512 MiB"), "{small}");
    let here = with(", memory: 3536MiB", "448MiB").unwrap_err();
    assert!(here.contains("1 guest needs 512 MiB of memory, host 'here' has 496 MiB"), "{here}");
    let all = with(", memory: 4033MiB", "256MiB").unwrap_err();
    assert!(all.contains("the hosts to be made need 4097 MiB of memory, this machine has 4096 MiB"), "{all}");
}

#[test]
fn a_scenario_may_ask_for_a_precision() {
    let asked = |lines: &str| good(&format!("{SMALL}{lines}"));
    let plan =
        asked("repeat: {min: 2, max: 5, until: 1.5%}\ncompare: {baseline: {guests: 1}, threshold: 2%}\n");
    assert_eq!((plan.repeat, plan.adaptive), (2, Some(Adaptive { max: 5, until: Share(0.015) })));
    assert_eq!(plan.threshold, Some(Share(0.02)));
    // What may become necessary is in the order already, after what is necessary anyhow.
    let fixed = asked("repeat: 5\ncompare: {baseline: {guests: 1}}\n");
    assert_eq!((&plan.order, fixed.adaptive, fixed.threshold), (&fixed.order, None, None));
    assert_eq!(asked("repeat: {max: 3, until: 0.1 %}\n").repeat, 3);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn every_replicate_visits_every_cell_once_and_the_seed_decides_the_order() {
    let plan = good(SMALL);
    for replicate in 1..=plan.repeat {
        let of_block = plan.order.iter().filter(|visit| visit.replicate == replicate);
        let mut cells: Vec<_> = of_block.flat_map(|visit| visit.cells.clone()).collect();
        cells.sort_unstable();
        assert_eq!(cells, (0..plan.cells.len()).collect::<Vec<_>>());
    }
    for visit in &plan.order {
        let setup = plan.setup(visit).unwrap();
        assert!(visit.cells.iter().all(|&index| plan.cells[index].axes.same_setup(setup)));
    }
    assert_eq!(plan, good(&format!("{SMALL}seed: 1\n")));
    assert_ne!(plan.order, good(&format!("{SMALL}seed: 2\n")).order);
}

#[test]
fn words_that_other_readers_take_for_something_else_are_words() {
    let text = SMALL
        .replace("name: small", "name: no\ndescription: 1e3")
        .replace("[file, qcow]", "[file, off, y, 010]")
        .replace(
            "qcow: {use: file, format: qcow2, cache: none}",
            "off: {use: file, cache: off}, y: {use: file}, 010: {use: file}",
        )
        .replace("use: bonnie, size: 1GiB", "use: bonnie, size: '1GiB', label: on");
    let plan = good(&text);
    assert_eq!((plan.scenario.as_str(), plan.description.as_str()), ("no", "1e3"));
    assert_eq!(plan.storages[&common::name("off")].options["cache"], json!("off"));
    assert!(plan.storages.contains_key("010"));
    assert_eq!(plan.workloads[&common::name("disk")].options["label"], json!("on"));
}

#[test]
fn deadlines_change_one_by_one() {
    let plan = good(&format!("{SMALL}deadlines: {{boot: 1.5m, run: 500ms}}\n"));
    let d = plan.deadlines;
    assert_eq!([d.boot.0, d.run.0, d.create.0, d.destroy.0], [90.0, 0.5, 300.0, 60.0]);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    assert_eq!(good(&SMALL.replace('\n', "\r\n")), good(SMALL));
    assert_eq!(good(&format!("\u{feff}{SMALL}")), good(SMALL));
    let problems = common::planned("\u{feff}name: x\r\nguset: 1\r\n", "b.yaml").unwrap_err();
    assert_eq!((problems[0].line, problems[0].column, problems[0].offset), (1, 1, 3), "{}", said(&problems));
    assert!(said(&problems).contains("b.yaml:2:1: error: the scenario has no key 'guset'\n"));
}

#[test]
fn a_place_after_wide_characters_is_counted_in_characters_and_given_in_bytes() {
    let text = "name: small\ndescription: {äöü: \"ß\u{1b}[3\u{202e}m\", x: 1}\n";
    let problems = parse(text, "u.yaml").unwrap_err();
    let problem = problems.iter().find(|problem| problem.message.starts_with("description")).unwrap();
    assert_eq!((problem.line, problem.column, problem.carets), (2, 14, 21));
    assert_eq!(&text[problem.offset..][..problem.length], "{äöü: \"ß\u{1b}[3\u{202e}m\", x: 1}");
    assert!(!problem.to_string().contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn the_reference_shows_scenarios_that_are_right() {
    let reference = include_str!("../../../docs/scenarios.md");
    let first = reference.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(good(first).cells.len(), 4);
    let hosts = reference.split("```yaml\nhosts:").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let one = first.replace("kvm-virtio]", "kvm-virtio, xen-pv]").replace("[1, 2]", "1");
    assert_eq!(good(&format!("{one}hosts:{hosts}")).hosts.len(), 4);
    let slip = first.replace("kvm-virtio", "kvm-virtoi");
    let problems = common::planned(&slip, "first.yaml").unwrap_err();
    assert!(reference.contains(&format!("```text\n{}\n```", problems[0])), "{}", said(&problems));
}
