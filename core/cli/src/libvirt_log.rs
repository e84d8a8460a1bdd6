//! Where libvirt writes its own log.
//!
//! Owns one environment variable, which libvirt reads when it is first used. It must never override what a person
//! has set, and only be used before the first thread starts.

use std::path::Path;

const VARIABLE: &str = "LIBVIRT_LOG_OUTPUTS";

/// Sends the log to a file in `state` instead of standard error, where it would tear the progress apart.
pub fn to_file(state: &Path) {
    if std::env::var_os(VARIABLE).is_none() {
        if let Some(outputs) = outputs(state) {
            std::env::set_var(VARIABLE, outputs);
        }
    }
}

/// Warnings and errors to a file; `None` for a path that libvirt's syntax cannot say.
fn outputs(state: &Path) -> Option<String> {
    let path = std::path::absolute(state.join("libvirt.log")).ok()?.into_os_string().into_string().ok()?;
    let sayable = !path.contains(|c: char| c.is_whitespace() || c == ':');
    sayable.then(|| format!("3:file:{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_that_libvirt_can_read_back_is_used() {
        let text = outputs(Path::new("/var/lib/crossvisor"));
        assert_eq!(text.as_deref(), Some("3:file:/var/lib/crossvisor/libvirt.log"));
        assert_eq!(outputs(Path::new("/a b")), None);
        assert_eq!(outputs(Path::new("/a:b")), None);
    }
}
