//! Hosts as an SSH configuration knows them: aliases, jumps, proxies.

use crate::server::{Server, named, try_address};
use crossvisor_target::ssh::{self, SshAddress, Way};
use crossvisor_target::{TargetError, Uri};

const NO_AGENT: &str = "IdentityAgent none";

#[test]
fn an_alias_is_reached_as_its_configuration_says() {
    let server = Server::start("");
    let known = server.write("the known hosts", &server.known());
    let spaced = server.config("h", std::path::Path::new("unused"), NO_AGENT);
    let spaced =
        spaced.replace("UserKnownHostsFile unused", &format!("UserKnownHostsFile \"{}\"", known.display()));
    let plain = server.config("h", &server.write("known", &server.known()), NO_AGENT);
    for config in [plain, spaced] {
        let config = server.write("config", &config);
        let address = ssh::host(&named("h"), Some(&config)).expect("address");
        assert!(matches!(&address.way, Way::Direct(socket) if socket.port() == server.port));
        try_address(address).expect("logged in");
    }
}

#[test]
fn what_the_uri_says_comes_before_the_configuration() {
    let server = Server::start("");
    let known = server.write("known", &server.known());
    let config = format!(
        "UserKnownHostsFile {}\nGlobalKnownHostsFile none\nIdentityFile none\n{NO_AGENT}",
        known.display()
    );
    let config = server.write("config", &config);
    let user = server.address().user;
    let key = server.file("user").display().to_string();
    let uri: Uri =
        format!("xen+ssh://{user}@127.0.0.1:{}/system?keyfile={key}", server.port).parse().expect("URI");
    let address = ssh::host(&uri.destination().expect("remote"), Some(&config)).expect("address");
    try_address(address).expect("logged in");
}

#[test]
fn a_host_key_alias_is_the_name_to_look_for() {
    let server = Server::start("");
    let known = server.known().replace(&format!("[127.0.0.1]:{}", server.port), "made");
    let known = server.write("known", &known);
    let config = server.config("h", &known, &format!("HostKeyAlias made\n{NO_AGENT}"));
    let config = server.write("config", &config);
    try_address(ssh::host(&named("h"), Some(&config)).expect("address")).expect("logged in");
}

#[test]
fn a_host_behind_another_is_reached_through_it() {
    let (jump, server) = (Server::start(""), Server::start(""));
    let known = server.write("known", &format!("{}{}", jump.known(), server.known()));
    for way in ["ProxyJump jump", "ProxyCommand ssh -F CONFIG -W %h:%p jump"] {
        let way = way.replace("CONFIG", &server.file("config").display().to_string());
        let behind = server.config("behind", &known, &format!("{way}\n{NO_AGENT}"));
        let config = server.write("config", &format!("{behind}{}", jump.config("jump", &known, NO_AGENT)));
        let address = ssh::host(&named("behind"), Some(&config)).expect("address");
        assert!(matches!(address.way, Way::Through(_)), "{address:?}");
        try_address(address).expect("logged in");
    }
}

#[test]
fn a_guest_is_reached_through_its_host() {
    let (host, guest) = (Server::start(""), Server::start(""));
    let known = host.write("known", &host.known());
    let config = host.write("config", &host.config("host", &known, NO_AGENT));
    let way = ssh::through(&named("host"), Some(&config), &format!("[127.0.0.1]:{}", guest.port));
    try_address(SshAddress { way, ..guest.address() }).expect("logged in");
    let way = ssh::through(&named("host"), Some(&config), "[127.0.0.1]:1");
    let error = try_address(SshAddress { way, ..guest.address() }).expect_err("nobody there");
    assert!(matches!(error, TargetError::Ssh { .. }), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[test]
fn a_configuration_that_is_wrong_says_so_in_the_words_of_ssh() {
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("config");
    std::fs::write(&config, "Host h\nNoSuchWord yes\n").expect("config");
    let error = ssh::host(&named("h"), Some(&config)).expect_err("wrong").to_string();
    assert!(error.to_lowercase().contains("nosuchword"), "{error}");
    let error = ssh::host(&named("no-such-host.invalid"), Some(std::path::Path::new("/dev/null")));
    let error = error.expect_err("no address").to_string();
    assert!(error.contains("no-such-host.invalid"), "{error}");
}
