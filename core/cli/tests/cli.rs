//! The program as a shell sees it, for all that needs no guest.

mod common;

use std::path::Path;
use std::process::Stdio;

use common::{text, Home};

const GOOD: &str = "\
name: one
guest: {image: debian-12, memory: 256MiB}
matrix:
  hypervisor: [bare, kvm-virtio]
  storage: [file]
  guests: [1, 2]
  workload: [pi]
workloads:
  pi: {digits: 100}
repeat: 2
compare: {baseline: {hypervisor: bare}}
";

/// What is in a folder, by name.
fn entries(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("folder");
    entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_command_explains_itself() {
    let home = Home::new();
    for command in [
        "",
        "run",
        "plan",
        "report",
        "guest",
        "guest list",
        "guest build",
        "plugin",
        "plugin list",
        "plugin info",
        "plugin trust",
        "clean",
        "completions",
    ] {
        let mut arguments: Vec<_> = command.split_whitespace().collect();
        arguments.push("--help");
        let output = home.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(
            text(&output.stdout).contains(format!("Usage: crossvisor {command}").trim_end()),
            "{command}"
        );
    }
    let output = home.run(&["--version"]);
    assert_eq!(text(&output.stdout), format!("crossvisor {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_ends_with_2() {
    let home = Home::new();
    for arguments in [
        &["fly"][..],
        &[],
        &["plan"],
        &["plan", "none.yaml"],
        &["plan", "."],
        &["report", "none"],
        &["guest", "build", "none"],
        &["run", "one.yaml", "--name", "../up"],
        &["--plugin", "no-path", "plugin", "list"],
        &["plugin", "info", "none"],
        &["plugin", "trust", "one.yaml"],
    ] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn plan_shows_cells_order_and_actions_and_touches_nothing() {
    let home = Home::new();
    let file = home.scenario(GOOD);
    let output = home.run(&["plan", file]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    let head = "\
one
4 cells, 2 replicates each, in 8 visits; seed of the order 1
guest debian-12 with 256MiB of memory and 1 vCPU
host here: qemu:///embed
memory needed on here: 640 MiB
compared with hypervisor bare

Cells
  here/bare/-/1/pi
  here/bare/-/2/pi
  here/kvm-virtio/file/1/pi
  here/kvm-virtio/file/2/pi

Order
";
    assert!(shown.starts_with(head), "{shown}");
    for part in [
        "\nActions of here/bare/- with 1, 2 copies at once, shown for 1\n",
        "\nActions of here/kvm-virtio/file with 1, 2 guests, shown for 1\n",
        "    define domain ",
        "    undone by ",
    ] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert_eq!(entries(&home.work()), [file]);
    let dry = home.run(&["run", file, "--dry-run"]);
    assert_eq!(text(&dry.stdout), shown);
    assert_eq!(entries(&home.work()), [file]);
    let one = GOOD.replace("bare, ", "").replace("1, 2", "1").replace("repeat: 2", "repeat: 1");
    let shown =
        text(&home.run(&["plan", home.scenario(&one.replace("hypervisor: bare", "guests: 1"))]).stdout);
    assert!(shown.starts_with("one\n1 cell, 1 replicate each, in 1 visit; seed "), "{shown}");
}

#[test]
fn plan_shows_the_disk_that_makes_a_guest_itself_where_it_starts_by_a_boot_loader() {
    let home = Home::new();
    let xen = GOOD.replace("bare, kvm-virtio", "xen-pv, xen-pv-grub").replace("bare", "xen-pv");
    let host = "hosts: {rack: {uri: 'xen+ssh://root@rack/system', bridge: br0}}";
    let output = home.run(&["plan", home.scenario(&format!("{xen}{host}\n")), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for (setup, say, file, loader) in [
        (0, "write the seed", "<initrd>/&lt;work&gt;/cv-run-v1-g1.initrd", false),
        (1, "write the identity disk", "<source file=\"/&lt;work&gt;/cv-run-v1-g1.identity\"/>", true),
    ] {
        let steps = json["outline"]["setups"][setup]["steps"].as_array().expect("steps");
        assert_eq!(steps[0]["say"], say);
        let defined = steps.iter().find(|step| step["do"] == "domain_define").expect("a domain");
        let xml = defined["xml"].as_str().expect("XML");
        assert!(xml.contains(file), "{xml}");
        assert_eq!(xml.contains("<bootloader>pygrub</bootloader>"), loader);
    }
}

#[test]
fn plan_has_a_form_for_programs() {
    let home = Home::new();
    let file = home.scenario(GOOD);
    let json = home.run(&["plan", file, "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["plan"]["cells"].as_array().map(Vec::len), Some(4));
    let steps = json["outline"]["setups"][1]["steps"].as_array().expect("steps");
    let defined = steps.iter().find(|step| step["do"] == "domain_define").expect("a domain");
    assert!(defined["xml"].as_str().expect("XML").contains("<domain"));
    let cells = text(&home.run(&["plan", file, "--cells"]).stdout);
    assert_eq!(cells.lines().next(), Some("here/bare/-/1/pi"));
    assert_eq!(cells.lines().count(), 4);
}

#[test]
fn a_broken_scenario_is_shown_with_its_place_and_ends_with_2() {
    let home = Home::new();
    let file =
        home.scenario(&GOOD.replace("kvm-virtio", "kvm-virtoi").replace("digits: 100", "digits: many"));
    for command in ["plan", "run"] {
        let output = home.run(&[command, file]);
        assert_eq!(output.status.code(), Some(2));
        let shown = text(&output.stderr);
        assert!(shown.starts_with("error: the scenario has 2 problems\n\none.yaml:4:22: error: "), "{shown}");
        assert!(shown.contains("did you mean 'kvm-virtio'"), "{shown}");
        assert!(shown.contains("one.yaml:9:"), "{shown}");
        assert!(!shown.contains("note:"), "{shown}");
        assert_eq!(entries(&home.work()), [file]);
    }
}

#[test]
fn of_many_problems_the_first_are_shown() {
    let home = Home::new();
    for (unknown, head, end) in [(23, "23", "and 3 more"), (5000, "at least 1000", "and at least 980 more")] {
        let keys: String = (0..unknown).map(|i| format!("unknown{i}: 1\n")).collect();
        let shown = text(&home.run(&["plan", home.scenario(&format!("{GOOD}{keys}"))]).stderr);
        assert!(shown.starts_with(&format!("error: the scenario has {head} problems\n")), "{shown}");
        assert!(shown.ends_with(&format!("\n\n{end}\n")), "{shown}");
        assert_eq!(shown.matches(": error: ").count(), 20, "{shown}");
    }
}

#[test]
fn a_plugin_that_is_found_and_does_not_load_is_told_where_it_is_missed() {
    let home = Home::new();
    let file = home.scenario(GOOD);
    let folder = home.0.path().join("plugins");
    std::fs::create_dir(&folder).expect("folder");
    std::fs::write(folder.join("libcrossvisor_hypervisor_kvm.so"), "no library").expect("write");
    let run = |arguments: &[&str]| {
        home.command(arguments).env("CROSSVISOR_PLUGIN_PATH", &folder).output().expect("started")
    };
    let output = run(&["plan", file]);
    assert_eq!(output.status.code(), Some(2));
    let shown = text(&output.stderr);
    assert!(shown.contains("\nnote: cannot load plugin 'hypervisor-kvm' ("), "{shown}");

    let output = run(&["plugin", "list"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).starts_with("warning: cannot load plugin 'hypervisor-kvm'"));
    assert!(!text(&output.stdout).contains("kvm-virtio"));

    let unneeded = home.scenario(&GOOD.replace(", kvm-virtio]", "]"));
    let output = run(&["plan", unneeded]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_plugin_that_is_named_must_load() {
    let home = Home::new();
    let file = home.scenario(GOOD);
    let commands =
        [&["plan", file][..], &["run", file], &["plugin", "list"], &["plugin", "info", "workload-hep"]];
    for command in commands {
        let output = home.run(&[&["--plugin", "other=/etc/passwd"], command].concat());
        assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()), "{command:?}");
        let shown = text(&output.stderr);
        assert!(shown.starts_with("error: cannot load plugin 'other' (/etc/passwd): it is not"), "{shown}");
    }
}

#[test]
fn plugins_and_guests_are_listed() {
    let home = Home::new();
    let listed = home.run(&["plugin", "list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_slice(&listed).expect("JSON");
    let names: Vec<_> =
        listed["plugins"].as_array().expect("list").iter().map(|p| p["name"].as_str()).collect();
    for name in [
        "hypervisor-kvm",
        "hypervisor-xen",
        "storage-file",
        "storage-loop",
        "storage-lvm",
        "storage-snapshot",
        "telemetry-system",
        "telemetry-xen",
        "workload-bonnie",
        "workload-command",
        "workload-fio",
        "workload-hep",
        "workload-iperf",
        "workload-tree",
    ] {
        assert!(names.contains(&Some(name)), "{names:?}");
    }
    let shown = text(&home.run(&["plugin", "list"]).stdout);
    assert!(shown.contains("\n  offers kvm-virtio     "), "{shown}");
    assert!(shown.contains("\n  from   "), "{shown}");
    let guests = text(&home.run(&["guest", "list"]).stdout);
    assert!(guests.starts_with("debian-12\n") && guests.contains("not built"), "{guests}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new();
    let file = home.scenario(GOOD);
    let mut command = home.command(&["plan", file]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn clean_without_any_run_has_nothing_to_remove() {
    let home = Home::new();
    let output = home.run(&["clean"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "nothing to remove\n".into()));
    assert_eq!(entries(home.0.path()).len(), 2, "nothing but the program and the current folder");
}

#[test]
fn completions_are_printed_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = home.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(text(&output.stdout).contains("dry-run"), "{shell}");
    }
}
