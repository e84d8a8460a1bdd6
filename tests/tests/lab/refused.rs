//! What is refused before anything is made: the message says what is wrong and what to do.

use std::fs;
use std::path::Path;
use std::process::Command;

use crossvisor_tests::examples::must;
use crossvisor_tests::{KeptHost, Lab};

use crate::{RUN, exits, scenario};

pub fn before_anything_is_made(lab: &Lab, host: &KeptHost<'_>) {
    let before = host.inventory();
    let kept = "{x: {up: xen}}";
    refused(lab, "no-group", kept, &lvm("elsewhere", 1), &["no volume group 'elsewhere'", "it has cv"]);
    refused(lab, "small-group", kept, &lvm("cv", 4), &["volume group cv", "4 guests need"]);
    let folder = tempfile::tempdir().expect("folder");
    let (config, alias) = host.ssh_config();
    let with = |key: &str, value: &Path| {
        let line = |line: &str| match line.starts_with(key) {
            true => format!("{key} {}\n", value.display()),
            false => format!("{line}\n"),
        };
        let path = folder.path().join(format!("other-{key}"));
        fs::write(&path, config.lines().map(line).collect::<String>()).expect("SSH configuration");
        format!(
            "{{x: {{uri: 'xen+ssh://root@{alias}/system', ssh_config: {}, bridge: cvbr0}}}}",
            path.display()
        )
    };
    let (key, known) = (folder.path().join("key"), folder.path().join("known_hosts"));
    must(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key));
    let public = fs::read_to_string(key.with_extension("pub")).expect("public key");
    fs::write(&known, format!("{alias} {public}")).expect("known hosts");
    let hosts = with("UserKnownHostsFile", &known);
    refused(
        lab,
        "new-host-key",
        &hosts,
        &lvm("cv", 1),
        &["host key", "is not the one in", "line 1", "remove"],
    );
    let hosts = with("IdentityFile", &key);
    refused(lab, "wrong-key", &hosts, &lvm("cv", 1), &["root may not log in", "authorized_keys"]);
    host.assert_has_only(&before);
}

fn refused(lab: &Lab, name: &str, hosts: &str, rest: &str, words: &[&str]) {
    let path = lab.scenario(name, &scenario(name, hosts, rest));
    let said = exits(&lab.start_run(&path, name).wait(RUN), 3);
    for word in words {
        assert!(said.contains(word), "{name}: no '{word}' in: {said}");
    }
}

fn lvm(group: &str, guests: u32) -> String {
    format!(
        "matrix: {{hypervisor: [xen-pv], storage: [lvm], guests: [{guests}], workload: [pi]}}\n\
         storages: {{lvm: {{vg: {group}}}}}\nworkloads: {{pi: {{digits: 1000, repeat: 1}}}}\n"
    )
}

/// Asks for Xen on the KVM host that a run is using.
pub fn a_host_without_xen(lab: &Lab, run: &str) {
    let config = lab.state().join("live").join(run).join("h1/ssh_config");
    let text = fs::read_to_string(&config).expect("SSH configuration");
    let alias = text.lines().find_map(|line| line.strip_prefix("Host ")).expect("alias");
    let uri = format!("xen+ssh://root@{alias}/system");
    let output = lab
        .crossvisor()
        .args(["doctor", "--host", &uri, "--bridge", "cvbr0", "--ssh-config"])
        .arg(&config)
        .output();
    let output = output.expect("doctor");
    exits(&output, 3);
    let said = String::from_utf8_lossy(&output.stdout);
    for words in ["BAD   libvirt", "BAD   virtualisation", "booted under Xen?", "ok    bridge"] {
        assert!(said.contains(words), "no '{words}' in: {said}");
    }
}
