//! What libvirt is told to open for the address of a host.
//!
//! Owns which drivers, transports and words of a URI are allowed, and the script that stands for `ssh` in libvirt.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossvisor_model::HostAddress;

use crate::uri::encode;
use crate::{Local, Machine, TargetError, Uri, quote, ssh};

/// Words of a URI that are handed on to libvirt (<https://libvirt.org/uri.html>). `command` and `no_verify` are not
/// among them: what libvirt runs and trusts is what this program runs and trusts.
const WORDS: [&str; 5] = ["keyfile", "netcat", "socket", "mode", "proxy"];
const TIMEOUT: Duration = Duration::from_secs(15);

/// A URI for libvirt. The script is written into `folder`.
///
/// # Errors
/// [`TargetError::Uri`] for what there is not, another when the script cannot be written.
pub fn uri(address: &HostAddress, folder: &Path) -> Result<String, TargetError> {
    let uri: Uri = address.uri.parse()?;
    let refused = |reason: &str| TargetError::Uri { uri: address.uri.clone(), reason: reason.into() };
    match (uri.driver.as_str(), uri.path.as_str()) {
        ("qemu", "/system" | "/session") | ("xen", "/system") | ("test", "/default") => {}
        _ => return Err(refused("this driver is not known")),
    }
    match (uri.transport.as_deref(), &uri.host) {
        (None, None) if uri.query.is_empty() => Ok(address.uri.clone()),
        (None, None) => Err(refused("a driver of this machine takes no words after '?'")),
        (Some("ssh"), Some(host)) if uri.driver != "test" => remote(address, &uri, host, folder),
        (Some("ssh"), None) => Err(refused("it names no host")),
        _ => Err(refused("other machines are reached with '+ssh'")),
    }
}

fn remote(address: &HostAddress, uri: &Uri, host: &str, folder: &Path) -> Result<String, TargetError> {
    if let Some((word, _)) = uri.query.iter().find(|(word, _)| !WORDS.contains(&word.as_str())) {
        let reason = format!("after '?' there may be {}, not '{word}'", WORDS.join(", "));
        return Err(TargetError::Uri { uri: address.uri.clone(), reason });
    }
    let user = uri.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
    let host = if host.contains(':') { format!("[{}]", host.replace('%', "%25")) } else { host.into() };
    let port = uri.port.map(|port| format!(":{port}")).unwrap_or_default();
    let script = script(address.ssh_config.as_deref(), folder)?;
    let words = uri.query.iter().map(|(word, value)| format!("&{word}={}", encode(value)));
    Ok(format!(
        "{}+ssh://{user}{host}{port}{}?no_tty=1&command={}{}",
        uri.driver,
        uri.path,
        encode(&script.to_string_lossy()),
        words.collect::<String>()
    ))
}

/// `ssh` as this program starts it, one for each configuration. A program writes the script: as long as this process had it open for writing,
/// nobody could run it.
fn script(config: Option<&Path>, folder: &Path) -> Result<PathBuf, TargetError> {
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", quote::line(&ssh::program(config)));
    let mut hasher = DefaultHasher::new();
    config.hash(&mut hasher);
    let path = folder.join(format!("libvirt-ssh-{:016x}", hasher.finish()));
    Local.put(script.as_bytes(), &path, "700", Instant::now() + TIMEOUT)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(uri: &str, config: Option<&str>) -> HostAddress {
        HostAddress { ssh_config: config.map(Into::into), ..HostAddress::new(uri) }
    }

    #[test]
    fn drivers_of_this_machine_are_opened_as_they_are_named() {
        for known in ["qemu:///system", "qemu:///session", "xen:///system", "test:///default"] {
            assert_eq!(uri(&address(known, None), Path::new("/")).expect(known), known);
        }
    }

    #[test]
    fn a_remote_driver_gets_our_ssh_with_the_same_configuration() {
        let folder = tempfile::tempdir().expect("folder");
        let from = address("xen+ssh://root@[::1]:2222/system?keyfile=/a%20key", Some("/it's/config"));
        let opened: Uri = uri(&from, folder.path()).expect("a URI").parse().expect("a URI");
        assert_eq!(
            (opened.host.as_deref(), opened.port, opened.path.as_str()),
            (Some("::1"), Some(2222), "/system")
        );
        let word =
            |word: &str| opened.query.iter().find(|(known, _)| known == word).map(|(_, value)| value.clone());
        assert_eq!(word("keyfile").as_deref(), Some("/a key"));
        let script = std::fs::read_to_string(word("command").expect("command")).expect("script");
        assert!(script.contains(r"'-F' '/it'\''s/config'"), "{script}");
    }

    #[test]
    fn what_there_is_not_is_refused_with_what_there_is() {
        for (bad, why) in [
            ("esx://h/", "driver"),
            ("xen:///session", "driver"),
            ("qemu+tcp://h/system", "+ssh"),
            ("qemu://h/system", "+ssh"),
            ("qemu+ssh:///system", "no host"),
            ("test+ssh://h/default", "+ssh"),
            ("qemu:///system?socket=/x", "no words"),
            ("qemu+ssh://h/system?command=/bin/evil", "'command'"),
            ("qemu+ssh://h/system?no_verify=1", "'no_verify'"),
        ] {
            let error = uri(&address(bad, None), Path::new("/")).expect_err(bad).to_string();
            assert!(error.contains(why) && error.contains("qemu:///embed"), "{error}");
        }
    }
}
