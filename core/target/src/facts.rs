//! What a host is: CPU, memory, kernel, mitigations, as its own files tell.

use std::collections::BTreeMap;
use std::time::Duration;

use crossvisor_model::provenance::HostFacts;
use crossvisor_model::{Exec, Place};

use crate::{Cancel, Machine};

const TIMEOUT: Duration = Duration::from_secs(15);

/// Reads the facts; what a host does not tell stays empty.
pub fn host(machine: &dyn Machine, uri: &str) -> HostFacts {
    let cpuinfo = read(machine, "/proc/cpuinfo");
    HostFacts {
        uri: uri.into(),
        cpu_model: field(&cpuinfo, "model name").unwrap_or_default(),
        cpus: u32::try_from(cpuinfo.lines().filter(|line| line.starts_with("processor")).count())
            .unwrap_or_default(),
        memory_bytes: memory_bytes(&read(machine, "/proc/meminfo")),
        kernel: output(machine, &["uname", "-r"]),
        os: os_name(&read(machine, "/etc/os-release")),
        governor: Some(read(machine, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").trim().into())
            .filter(|governor: &String| !governor.is_empty()),
        mitigations: mitigations(machine),
        ..HostFacts::default()
    }
}

/// The first line a program prints of its version; empty where it is not there.
pub fn version(machine: &dyn Machine, argv: &[&str]) -> String {
    output(machine, argv).lines().next().unwrap_or_default().to_string()
}

/// Total memory from the text of `/proc/meminfo`, in bytes; 0 where it is not told.
#[must_use]
pub fn memory_bytes(meminfo: &str) -> u64 {
    let kib = field(meminfo, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}

fn mitigations(machine: &dyn Machine) -> BTreeMap<String, String> {
    let text = output(machine, &["grep", "-r", "", "/sys/devices/system/cpu/vulnerabilities"]);
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter_map(|(path, state)| Some((path.rsplit('/').next()?.to_string(), state.to_string())))
        .collect()
}

fn os_name(os_release: &str) -> String {
    let pretty = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    pretty.unwrap_or_default().trim_matches('"').to_string()
}

/// The value of the first `key : value` line.
fn field(text: &str, key: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_string())
}

fn read(machine: &dyn Machine, path: &str) -> String {
    output(machine, &["cat", "--", path])
}

/// What a program prints; empty where it does not run.
fn output(machine: &dyn Machine, argv: &[&str]) -> String {
    let exec = Exec::new(Place::Host, argv.iter().copied(), TIMEOUT.as_secs_f64());
    machine
        .run(&exec, &Cancel::default())
        .map(|result| result.stdout.trim_end().to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Local;

    #[test]
    fn memory_is_read_in_bytes() {
        assert_eq!(memory_bytes("MemTotal:       24689716 kB\nMemFree: 1 kB\n"), 24_689_716 * 1024);
        assert_eq!(memory_bytes(""), 0);
    }

    #[test]
    fn this_host_tells_what_it_is() {
        let facts = host(&Local, "qemu:///embed");
        assert!(facts.cpus >= 1 && facts.memory_bytes > 1 << 20 && !facts.kernel.is_empty(), "{facts:?}");
    }
}
