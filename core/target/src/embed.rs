//! The embedded driver: libvirt's QEMU driver inside this process, with a root folder of its own.
//!
//! <https://libvirt.org/drvqemu.html#embedded-driver>. Owns that folder's configuration. No daemon is needed, and
//! no right that the user does not have.

mod half_started;

use std::fs::{self, File};
use std::path::Path;

use crate::{TargetError, lock};

pub const URI: &str = "qemu:///embed";

/// libvirt puts UNIX sockets below the root, and their paths hold 107 bytes at most (unix(7)).
const LONGEST_ROOT: usize = 60;

/// The driver's settings: the console is a plain file (there is no virtlogd), and the guest's process is ours, in
/// no cgroup, namespace or security label.
const CONFIGURATION: &str = r#"stdio_handler = "file"
security_driver = "none"
security_default_confined = 0
remember_owner = 0
dynamic_ownership = 0
cgroup_controllers = []
namespaces = []
"#;

/// Root's driver would start guests as another user, who cannot reach their volumes; an ordinary user's cannot choose.
const ROOT_CONFIGURATION: &str = r#"user = "root"
group = "root"
"#;

/// Makes the root folder ready and takes it for this process: the driver serves one at a time. What the driver has
/// cached there stays.
///
/// # Errors
/// [`TargetError::Busy`] when another process has it, [`TargetError::Io`] when it cannot be written or its path is too
/// long for the driver's sockets.
pub fn prepare(root: &Path) -> Result<File, TargetError> {
    if root.as_os_str().len() > LONGEST_ROOT {
        let source = std::io::Error::other(format!(
            "the path is longer than {LONGEST_ROOT} bytes, too long for libvirt's sockets: set CROSSVISOR_STATE to a shorter one"
        ));
        return Err(TargetError::Io { what: root.display().to_string(), source });
    }
    let etc = root.join("etc");
    fs::create_dir_all(&etc).map_err(TargetError::io(format!("make {}", etc.display())))?;
    let file = etc.join("qemu.conf");
    let of_root = if rustix::process::geteuid().is_root() { ROOT_CONFIGURATION } else { "" };
    let configuration = format!("{CONFIGURATION}{of_root}");
    if fs::read_to_string(&file).ok().as_ref() != Some(&configuration) {
        fs::write(&file, configuration).map_err(TargetError::io(format!("write {}", file.display())))?;
    }
    let path = root.join("lock");
    let held = lock::take(&path).map_err(TargetError::io(format!("lock {}", path.display())))?;
    let held = held.ok_or_else(|| TargetError::Busy(root.to_path_buf()))?;
    half_started::forget(root).map_err(TargetError::io(format!("mend {}", root.display())))?;
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_serves_one_at_a_time() {
        let folder = tempfile::tempdir().expect("folder");
        let held = prepare(folder.path()).expect("first");
        assert!(matches!(prepare(folder.path()), Err(TargetError::Busy(_))));
        drop(held);
        assert!(prepare(folder.path()).is_ok());
    }

    #[test]
    fn a_root_too_deep_for_its_sockets_is_refused_with_what_to_do() {
        let error =
            prepare(Path::new(&format!("/tmp/{}", "x".repeat(80)))).expect_err("too long").to_string();
        assert!(error.contains("CROSSVISOR_STATE"), "{error}");
    }
}
