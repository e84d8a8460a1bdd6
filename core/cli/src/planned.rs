//! From a scenario's file to its plan.
//!
//! Owns the reading of the file and of this machine's memory, and the folder that paths in a scenario start from. It must never print or change anything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crossvisor_model::{Bytes, HostAddress, HostSpec, Name, Plan};

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
    let mut plan = crossvisor_scenario::plan(&scenario, &inventory.catalog(), memory())
        .map_err(|problems| Failure::Scenario { problems, notes: inventory.problems() })?;
    let folder = folder(path).map_err(|source| Failure::Unreadable { path: path.into(), source })?;
    resolve(&mut plan.hosts, &folder);
    Ok(Planned { text, plan })
}

/// The folder that paths in a scenario are relative to: that of its file.
fn folder(path: &Path) -> std::io::Result<PathBuf> {
    let file = std::path::absolute(path)?;
    Ok(file.parent().map_or(file.clone(), Path::to_path_buf))
}

/// Makes the paths of hosts absolute: a plan may be carried out from any folder.
fn resolve(hosts: &mut BTreeMap<Name, HostSpec>, folder: &Path) {
    for host in hosts.values_mut() {
        if let HostSpec::Reached(HostAddress { ssh_config: Some(path), .. }) = host {
            *path = folder.join(&path);
        }
    }
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

/// The memory of this machine, where it tells. Of a Xen host that is what its dom0 has.
fn memory() -> Option<Bytes> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Some(Bytes(crossvisor_target::facts::memory_bytes(&meminfo))).filter(|memory| memory.0 > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_path_of_a_host_is_relative_to_the_folder_of_the_scenario() {
        let name = |text: &str| Name::new(text).expect("name");
        let host = |config: Option<&str>| {
            let ssh_config = config.map(PathBuf::from);
            HostSpec::Reached(HostAddress { ssh_config, ..HostAddress::new("qemu+ssh://rack/system") })
        };
        let given = [("a", Some("x/ssh")), ("b", Some("/etc/ssh/rack")), ("c", None)];
        let mut hosts = given.map(|(key, config)| (name(key), host(config))).into();
        resolve(&mut hosts, &folder(Path::new("/lab/../lab/one.yaml")).expect("folder"));
        let meant = [("a", Some("/lab/../lab/x/ssh")), ("b", Some("/etc/ssh/rack")), ("c", None)];
        assert_eq!(hosts, meant.map(|(key, config)| (name(key), host(config))).into());
        assert!(folder(Path::new("one.yaml")).expect("folder").is_absolute());
    }

    #[test]
    fn this_machine_tells_its_memory() {
        assert!(memory().is_some_and(|memory| memory.mib() > 64));
    }
}
