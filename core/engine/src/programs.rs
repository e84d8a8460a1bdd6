//! Looks for the programs that plugins need on a host before anything is touched.

use std::collections::BTreeSet;

use crossvisor_model::{Exec, Name, Place, Plan};
use crossvisor_target::{Cancel, Machine, TargetError};

use crate::EngineError;
use crate::context::{Plugins, find, offer};
use crate::exit::judge;

/// The Debian package of a program where it is not called like the program.
const PACKAGES: [(&str, &str); 21] = [
    ("blockdev", "util-linux"),
    ("cp", "coreutils"),
    ("dd", "coreutils"),
    ("df", "coreutils"),
    ("id", "coreutils"),
    ("ip", "iproute2"),
    ("losetup", "mount"),
    ("lvchange", "lvm2"),
    ("lvcreate", "lvm2"),
    ("lvremove", "lvm2"),
    ("lvs", "lvm2"),
    ("mkdir", "coreutils"),
    ("qemu-img", "qemu-utils"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("rm", "coreutils"),
    ("sh", "dash"),
    ("stat", "coreutils"),
    ("truncate", "coreutils"),
    ("vgs", "lvm2"),
    ("xl", "xen-utils-common"),
    ("cat", "coreutils"),
];

/// # Errors
/// [`EngineError::Programs`] that names all that are missing and the packages that have them.
pub fn check(host: &Name, machine: &dyn Machine, programs: &BTreeSet<String>) -> Result<(), EngineError> {
    let missing =
        missing(machine, programs).map_err(|source| EngineError::Host { host: host.clone(), source })?;
    if missing.is_empty() {
        return Ok(());
    }
    let packages: BTreeSet<String> = missing.iter().map(|program| package(program)).collect();
    let packages = packages.into_iter().collect();
    Err(EngineError::Programs { host: host.clone(), programs: missing, packages })
}

/// Those of the programs that a machine does not have.
///
/// # Errors
/// [`TargetError`] when it cannot be asked.
pub fn missing(machine: &dyn Machine, programs: &BTreeSet<String>) -> Result<Vec<String>, TargetError> {
    let script = r#"for program; do command -v -- "$program" >/dev/null || printf '%s\n' "$program"; done"#;
    let argv = ["sh", "-c", script, "sh"].into_iter().chain(programs.iter().map(String::as_str));
    let exec = Exec::new(Place::Host, argv, 60.0);
    let result = machine.run(&exec, &Cancel::default())?;
    judge(&exec, &result)?;
    Ok(result.stdout.lines().map(String::from).collect())
}

/// The Debian package that has a program.
pub fn package(program: &str) -> String {
    let other = PACKAGES.iter().find(|(name, _)| *name == program).map(|(_, package)| *package);
    other.unwrap_or(program).to_string()
}

/// The programs that the cells of a host need on it.
pub fn of_host(plan: &Plan, plugins: &Plugins, host: &Name) -> BTreeSet<String> {
    let mut programs = BTreeSet::new();
    for axes in plan.cells.iter().map(|cell| &cell.axes).filter(|axes| axes.host == *host) {
        let found = |uses, name| find(uses, plugins, name).ok().and_then(offer);
        if let Some(workload) = found(&plan.workloads, &axes.workload) {
            programs.extend(workload.host_programs.iter().cloned());
            programs
                .extend(axes.is_bare().then_some(&workload.guest_programs).into_iter().flatten().cloned());
        }
        let hypervisor = found(&plan.hypervisors, &axes.hypervisor);
        let storage = axes.storage.as_ref().and_then(|name| found(&plan.storages, name));
        for offer in hypervisor.into_iter().chain(storage) {
            programs.extend(offer.host_programs.iter().cloned());
        }
    }
    programs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_target::Local;

    #[test]
    fn every_missing_program_is_named_with_its_package() {
        let host = Name::new("here").expect("name");
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        assert!(check(&host, &Local, &set(&["sh", "cp"])).is_ok());
        let error = check(&host, &Local, &set(&["sh", "no-such-1", "no-such-2"])).expect_err("missing");
        assert_eq!(
            error.to_string(),
            "host 'here' lacks no-such-1, no-such-2: install them with 'apt install no-such-1 no-such-2'"
        );
    }
}
