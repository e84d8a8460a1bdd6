//! An SSH server and an agent of the test's own, on the loopback, in a temporary folder, ended with the test.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crossvisor_model::{Exec, Place};
use crossvisor_target::ssh::{HostKey, Login, SshAddress, Way};
use crossvisor_target::{Cancel, Destination, Machine, Ssh, TargetError, port};
use tempfile::TempDir;

pub struct Server {
    child: Child,
    pub port: u16,
    folder: TempDir,
}

impl Server {
    /// `settings` are lines of sshd_config(5).
    pub fn start(settings: &str) -> Self {
        if id("-u") == "0" {
            // Where root's sshd wants an empty folder for its unprivileged part.
            fs::create_dir_all("/run/sshd").expect("/run/sshd");
        }
        let folder = tempfile::tempdir().expect("folder");
        make_key(&folder.path().join("host"));
        make_key(&folder.path().join("user"));
        // Another program may take the port in between.
        let started = (0..5).find_map(|_| Self::listen(folder.path(), settings));
        let (child, port) = started.expect("sshd listens (Debian: openssh-server)");
        Self { child, port, folder }
    }

    fn listen(folder: &Path, settings: &str) -> Option<(Child, u16)> {
        let port = port::free(1).expect("port")[0];
        let file = |name: &str| folder.join(name).display().to_string();
        // Without the user's own start-up files of a shell.
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
            StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
            SetEnv HOME={}\n{settings}\n",
            file("host"),
            file("user.pub"),
            folder.display()
        );
        fs::write(folder.join("sshd_config"), config).expect("configuration");
        let log = fs::File::create(folder.join("log")).expect("log");
        let mut child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &file("sshd_config")])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("sshd (Debian: openssh-server)");
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if child.try_wait().expect("sshd").is_some() || Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                eprintln!("{}", fs::read_to_string(folder.join("log")).expect("log"));
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Some((child, port))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.file(name), text).expect("file");
        self.file(name)
    }

    /// The direct way to it, with its key and a pinned host key.
    pub fn address(&self) -> SshAddress {
        SshAddress {
            way: Way::Direct(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))),
            user: id("-un"),
            login: Login::Key(self.file("user")),
            host_key: HostKey::Pinned(wire_form(&self.file("host.pub"))),
        }
    }

    /// The line of a `known_hosts` file that speaks of it.
    pub fn known(&self) -> String {
        format!("[127.0.0.1]:{} {}", self.port, fs::read_to_string(self.file("host.pub")).expect("host key"))
    }

    /// An SSH configuration in which it is called `name`; `more` are lines of ssh_config(5) for it.
    pub fn config(&self, name: &str, known_hosts: &Path, more: &str) -> String {
        format!(
            "Host {name}\nHostName 127.0.0.1\nPort {}\nUser {}\nIdentityFile {}\nUserKnownHostsFile {}\n\
            GlobalKnownHostsFile none\n{more}\n",
            self.port,
            id("-un"),
            self.file("user").display(),
            known_hosts.display()
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Agent {
    child: Child,
    pub socket: PathBuf,
    _folder: TempDir,
}

impl Agent {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let socket = folder.path().join("agent");
        let child = Command::new("ssh-agent")
            .arg("-D")
            .arg("-a")
            .arg(&socket)
            .stdout(Stdio::null())
            .spawn()
            .expect("ssh-agent");
        let deadline = Instant::now() + Duration::from_secs(20);
        while !socket.exists() {
            assert!(Instant::now() < deadline, "the agent does not come up");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { child, socket, _folder: folder }
    }

    pub fn add(&self, key: &Path) {
        let added = Command::new("ssh-add").arg("-q").arg(key).env("SSH_AUTH_SOCK", &self.socket).status();
        assert!(added.expect("ssh-add").success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn make_key(path: &Path) {
    ssh_keygen(&["-q", "-t", "ed25519", "-N", "", "-f", &path.display().to_string()]);
}

pub fn ssh_keygen(arguments: &[&str]) {
    assert!(Command::new("ssh-keygen").args(arguments).output().expect("ssh-keygen").status.success());
}

fn wire_form(public: &Path) -> Vec<u8> {
    let text = fs::read_to_string(public).expect("public key");
    ssh_key::PublicKey::from_openssh(&text).expect("public key").to_bytes().expect("bytes")
}

fn id(option: &str) -> String {
    let output = Command::new("id").arg(option).output().expect("id");
    String::from_utf8(output.stdout).expect("text").trim().into()
}

pub fn named(host: &str) -> Destination {
    Destination { user: None, host: host.into(), port: None, identities: Vec::new() }
}

/// What a program prints over SSH.
pub fn run(machine: &Ssh, argv: &[&str]) -> Result<String, TargetError> {
    let result = machine.run(&Exec::new(Place::Host, argv.iter().copied(), 30.0), &Cancel::default())?;
    assert_eq!(result.exit, Some(0), "{}", result.stderr);
    Ok(result.stdout.trim().into())
}

/// Logs in and runs something.
pub fn try_address(address: SshAddress) -> Result<(), TargetError> {
    run(&Ssh::new(address), &["echo", "here"]).map(|printed| assert_eq!(printed, "here"))
}

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}
