//! No host key is accepted that nobody has vouched for: known, unknown, changed, revoked, hashed.

use std::path::PathBuf;

use crate::server::{Server, ssh_keygen, try_address};
use crossvisor_target::TargetError;
use crossvisor_target::ssh::{HostKey, SshAddress};

fn known_in(server: &Server, files: &[PathBuf]) -> SshAddress {
    let name = format!("[127.0.0.1]:{}", server.port);
    SshAddress { host_key: HostKey::Known { files: files.into(), name }, ..server.address() }
}

#[test]
fn a_pinned_key_is_the_only_one_that_is_accepted() {
    let (server, other) = (Server::start(""), Server::start(""));
    try_address(server.address()).expect("logged in");
    let stolen = SshAddress { host_key: other.address().host_key, ..server.address() };
    assert!(matches!(try_address(stolen), Err(TargetError::HostKey { .. })));
}

#[test]
fn a_key_of_a_known_hosts_file_is_accepted_plain_and_hashed() {
    let server = Server::start("");
    let file = server.write("known", &format!("# a comment\nother ssh-ed25519 AAAA\n{}", server.known()));
    let files = [server.file("missing"), file.clone()];
    try_address(known_in(&server, &files)).expect("plain");
    ssh_keygen(&["-H", "-f", &file.display().to_string()]);
    assert!(!std::fs::read_to_string(&file).expect("file").contains("127.0.0.1"));
    try_address(known_in(&server, &files)).expect("hashed");
}

#[test]
fn an_unknown_key_is_refused_with_its_fingerprint_and_what_to_do() {
    let server = Server::start("");
    let error = try_address(known_in(&server, &[server.file("missing")])).expect_err("unknown");
    assert!(matches!(error, TargetError::UnknownHostKey { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("SHA256:") && text.contains("ssh-keyscan"), "{text}");
}

#[test]
fn a_changed_key_is_refused_with_its_file_and_line() {
    let (server, other) = (Server::start(""), Server::start(""));
    let theirs = other.known().replace(&other.port.to_string(), &server.port.to_string());
    let file = server.write("known", &format!("# a comment\n{theirs}"));
    let error = try_address(known_in(&server, std::slice::from_ref(&file))).expect_err("changed");
    assert!(
        matches!(&error, TargetError::ChangedHostKey { place, .. } if *place == format!("{}, line 2", file.display())),
        "{error}"
    );
}

#[test]
fn a_revoked_key_is_refused_although_it_is_known() {
    let server = Server::start("");
    let file = server.write("known", &format!("{}@revoked {}", server.known(), server.known()));
    let error = try_address(known_in(&server, &[file])).expect_err("revoked");
    assert!(
        matches!(&error, TargetError::RevokedHostKey { place, .. } if place.ends_with(", line 2")),
        "{error}"
    );
}

#[test]
fn the_server_is_asked_for_the_kind_of_key_that_is_known() {
    let folder = tempfile::tempdir().expect("folder");
    let second = folder.path().join("second").display().to_string();
    ssh_keygen(&["-q", "-t", "ecdsa", "-N", "", "-f", &second]);
    let server = Server::start(&format!("HostKey {second}"));
    let key = std::fs::read_to_string(format!("{second}.pub")).expect("key");
    let file = server.write("known", &format!("[127.0.0.1]:{} {key}", server.port));
    try_address(known_in(&server, &[file])).expect("logged in");
}
