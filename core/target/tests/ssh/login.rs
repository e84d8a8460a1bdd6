//! Keys of files and of an agent, in OpenSSH's order.

use std::path::PathBuf;

use crate::server::{Agent, Server, make_key, ssh_keygen, try_address};
use crossvisor_target::TargetError;
use crossvisor_target::ssh::{Login, SshAddress};

fn with(server: &Server, agent: Option<&Agent>, identities: Vec<PathBuf>) -> SshAddress {
    let agent = agent.map(|agent| agent.socket.clone());
    SshAddress { login: Login::Any { agent, identities, only_identities: false }, ..server.address() }
}

#[test]
fn a_wrong_key_is_named_with_what_to_do() {
    let server = Server::start("");
    make_key(&server.file("wrong"));
    let address = SshAddress { login: Login::Key(server.file("wrong")), ..server.address() };
    let error = try_address(address).expect_err("refused");
    assert!(matches!(error, TargetError::Login { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("/wrong: ") && text.contains("authorized_keys"), "{text}");
}

#[test]
fn identities_that_are_missing_or_wrong_are_passed_over() {
    let server = Server::start("");
    make_key(&server.file("wrong"));
    let files = ["missing", "wrong", "user"].map(|name| server.file(name)).to_vec();
    try_address(with(&server, None, files)).expect("logged in");
    let error = try_address(with(&server, None, vec![server.file("missing")])).expect_err("no key");
    assert!(error.to_string().contains("no key"), "{error}");
}

#[test]
fn a_key_with_a_passphrase_works_through_an_agent_only() {
    let (server, agent) = (Server::start(""), Agent::start());
    agent.add(&server.file("user"));
    ssh_keygen(&["-q", "-p", "-P", "", "-N", "a secret", "-f", &server.file("user").display().to_string()]);
    let files = || vec![server.file("user")];
    try_address(with(&server, Some(&agent), Vec::new())).expect("any key of the agent");
    try_address(with(&server, Some(&agent), files())).expect("this key of the agent");
    let error = try_address(with(&server, None, files())).expect_err("no agent").to_string();
    assert!(error.contains("passphrase") && error.contains("ssh-add"), "{error}");
}

/// A server hangs up after six keys that it does not know.
#[test]
fn a_named_key_comes_before_the_others_of_the_agent() {
    let (server, agent) = (Server::start(""), Agent::start());
    for number in 0..8 {
        let key = server.file(&format!("other{number}"));
        make_key(&key);
        agent.add(&key);
    }
    agent.add(&server.file("user"));
    try_address(with(&server, Some(&agent), vec![server.file("user")])).expect("logged in");
}

#[test]
fn an_agent_that_is_gone_leaves_the_files() {
    let server = Server::start("");
    let gone = Some(server.file("no agent"));
    let login = Login::Any { agent: gone, identities: vec![server.file("user")], only_identities: false };
    try_address(SshAddress { login, ..server.address() }).expect("logged in");
}
