//! From a scenario's file to its plan.
//!
//! Owns the reading of the file and of this machine's capacity. It must never print or change anything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crossvisor_model::{Bytes, HostSpec, Name, Plan};
use crossvisor_scenario::HostCapacity;

use crate::exit::Failure;
use crate::inventory::Inventory;

/// More than any scenario; a device without end is not read for ever.
const MAX_BYTES: u64 = 4 << 20;

/// A plan with the text it was made from.
pub struct Planned {
    pub text: String,
    pub plan: Plan,
}

/// Reads and plans a scenario.
///
/// # Errors
/// [`Failure`] when the file cannot be read, or with every problem of the scenario.
pub fn read(path: &Path, inventory: &Inventory) -> Result<Planned, Failure> {
    let text = text(path)?;
    let scenario = crossvisor_scenario::parse(&text, &path.display().to_string())
        .map_err(|problems| Failure::Scenario { problems, notes: Vec::new() })?;
    let hosts = capacities(&scenario.hosts);
    let plan = crossvisor_scenario::plan(&scenario, &inventory.catalog(), &hosts)
        .map_err(|problems| Failure::Scenario { problems, notes: inventory.problems() })?;
    Ok(Planned { text, plan })
}

fn text(path: &Path) -> Result<String, Failure> {
    let unreadable = |source| Failure::Unreadable { path: path.into(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::TooLarge { path: path.into(), most: MAX_BYTES });
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Failure::NotUtf8 { path: path.into(), line: 1 + good.iter().filter(|&&byte| byte == b'\n').count() }
    })
}

/// The capacity of the hosts that are this machine. Under Xen, Linux sees only the memory of dom0, so such a
/// host's capacity is not known.
fn capacities(hosts: &BTreeMap<Name, HostSpec>) -> BTreeMap<Name, HostCapacity> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = Bytes(crossvisor_target::facts::memory_bytes(&meminfo));
    let cpus = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX));
    let here = hosts.iter().filter(|(_, host)| memory.0 > 0 && is_here(host));
    here.map(|(name, _)| (name.clone(), HostCapacity { memory, cpus })).collect()
}

/// Whether a host is this machine.
fn is_here(host: &HostSpec) -> bool {
    matches!(host, HostSpec::Reached(address) if address.uri.starts_with("qemu:///"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_model::HostAddress;

    #[test]
    fn a_byte_that_is_no_text_is_found_by_its_line() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.yaml");
        std::fs::write(&path, b"name: a\nguest: \xff\n").expect("write");
        assert!(matches!(text(&path), Err(Failure::NotUtf8 { line: 2, .. })));
    }

    #[test]
    fn a_file_without_end_is_refused_and_one_of_the_greatest_size_is_not() {
        let refused = text(Path::new("/dev/zero")).expect_err("without end");
        assert_eq!(refused.to_string(), "/dev/zero is larger than 4 MiB: is it a scenario?");
        assert_eq!(refused.exit(), crate::exit::Exit::Usage);
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.yaml");
        std::fs::write(&path, vec![b'#'; 4 << 20]).expect("write");
        assert_eq!(text(&path).map(|text| text.len()).ok(), Some(4 << 20));
    }

    #[test]
    fn only_hosts_that_are_this_machine_have_a_known_capacity() {
        let host = |uri: &str| HostSpec::Reached(HostAddress::new(uri));
        let name = |text: &str| Name::new(text).expect("name");
        let hosts = BTreeMap::from([
            (name("here"), host("qemu:///embed")),
            (name("far"), host("qemu+ssh://far/system")),
            (name("dom0"), host("xen:///system")),
        ]);
        let known = capacities(&hosts);
        assert_eq!(known.keys().map(Name::as_str).collect::<Vec<_>>(), ["here"]);
        assert!(known.values().all(|capacity| capacity.memory.mib() > 64 && capacity.cpus > 0));
    }
}
