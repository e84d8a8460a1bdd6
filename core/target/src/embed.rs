//! The embedded driver: libvirt's QEMU driver inside this process, with a root folder of its own.
//!
//! <https://libvirt.org/drvqemu.html#embedded-driver>. Owns that folder's configuration. No daemon is needed, and
//! no right that the user does not have.

use std::fs;
use std::path::Path;

use crate::TargetError;

pub const URI: &str = "qemu:///embed";

/// libvirt puts UNIX sockets below the root, and their paths hold 107 bytes at most (unix(7)).
const LONGEST_ROOT: usize = 60;

/// The driver's settings: the console is a plain file (there is no virtlogd), and the guest's process is ours, in
/// no cgroup, namespace or security label.
const CONFIGURATION: &str = r#"stdio_handler = "file"
user = "root"
group = "root"
security_driver = "none"
security_default_confined = 0
remember_owner = 0
dynamic_ownership = 0
cgroup_controllers = []
namespaces = []
"#;

/// Makes the root folder ready; what the driver has cached there stays.
///
/// # Errors
/// [`TargetError::Io`] when it cannot be written or its path is too long for the driver's sockets.
pub fn prepare(root: &Path) -> Result<(), TargetError> {
    if root.as_os_str().len() > LONGEST_ROOT {
        let source = std::io::Error::other(format!(
            "the path is longer than {LONGEST_ROOT} bytes, too long for libvirt's sockets: set CROSSVISOR_STATE to a shorter one"
        ));
        return Err(TargetError::Io { what: root.display().to_string(), source });
    }
    let etc = root.join("etc");
    fs::create_dir_all(&etc).map_err(TargetError::io(format!("make {}", etc.display())))?;
    let file = etc.join("qemu.conf");
    if fs::read_to_string(&file).is_ok_and(|text| text == CONFIGURATION) {
        return Ok(());
    }
    fs::write(&file, CONFIGURATION).map_err(TargetError::io(format!("write {}", file.display())))
}
