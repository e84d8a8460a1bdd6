//! How a host is reached, as OpenSSH itself says it: `ssh -G` prints what its configuration comes to.
//!
//! It must never read those files itself.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{ATTEMPT, HostKey, Login, SshAddress, Way};
use crate::TargetError;
use crate::uri::Destination;

/// The address of a host, from `config` instead of the user's and the system's configuration where it is given.
///
/// # Errors
/// [`TargetError::SshConfig`] when OpenSSH refuses the configuration or means something that is not done here,
/// [`TargetError::Ssh`] when the host's name has no address.
pub fn host(destination: &Destination, config: Option<&Path>) -> Result<SshAddress, TargetError> {
    let answer = Answer::ask(destination, config)?;
    let way = match (answer.value("proxyjump"), answer.value("proxycommand")) {
        (Some(jumps), _) if jumps != "none" => through_jumps(jumps, config, &answer.end()),
        (_, Some(command)) if command != "none" => {
            Way::Through(vec!["sh".into(), "-c".into(), format!("exec {}", answer.expand(command)?)])
        }
        _ => Way::Direct(resolve(&answer)?),
    };
    Ok(SshAddress {
        way,
        user: answer.user.clone(),
        login: answer.login(destination)?,
        host_key: answer.host_key()?,
    })
}

/// The way to `to` (`host:port` or `[address]:port`) as `destination` reaches it.
#[must_use]
pub fn through(destination: &Destination, config: Option<&Path>, to: &str) -> Way {
    let mut argv = program(config);
    argv.extend(["-W".into(), to.into()]);
    argv.extend(arguments(destination));
    Way::Through(argv)
}

/// What every OpenSSH that is started here is told: never ask a person, never accept a host key, give up in time.
pub(crate) fn program(config: Option<&Path>) -> Vec<String> {
    let mut argv = vec!["ssh".to_string()];
    argv.extend(config.into_iter().flat_map(|file| ["-F".to_string(), file.to_string_lossy().into_owned()]));
    let timeout = format!("ConnectTimeout={}", ATTEMPT.as_secs());
    let options = [
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        &timeout,
        "ServerAliveInterval=10",
        "ServerAliveCountMax=3",
    ];
    argv.extend(options.iter().flat_map(|option| ["-o".to_string(), (*option).to_string()]));
    argv
}

fn arguments(destination: &Destination) -> Vec<String> {
    let mut argv = Vec::new();
    let mut add = |option: &str, value: String| argv.extend([option.to_string(), value]);
    destination.user.iter().for_each(|user| add("-l", user.clone()));
    destination.port.iter().for_each(|port| add("-p", port.to_string()));
    destination.identities.iter().for_each(|key| add("-i", key.to_string_lossy().into_owned()));
    argv.extend(["--".to_string(), destination.host.clone()]);
    argv
}

/// `ProxyJump` (ssh_config(5)): `[user@]host[:port]` or `ssh://…`, several with commas.
fn through_jumps(jumps: &str, config: Option<&Path>, to: &str) -> Way {
    let (before, last) = jumps.rsplit_once(',').map_or((None, jumps), |(before, last)| (Some(before), last));
    let mut argv = program(config);
    argv.extend(before.into_iter().flat_map(|before| ["-J".to_string(), before.to_string()]));
    let last = if last.starts_with("ssh://") { last.to_string() } else { format!("ssh://{last}") };
    argv.extend(["-W".into(), to.into(), "--".into(), last]);
    Way::Through(argv)
}

/// The first of the host's addresses that takes a connection, or the first of all.
fn resolve(answer: &Answer) -> Result<SocketAddr, TargetError> {
    let failed = |message: String| TargetError::Ssh { address: answer.end(), message };
    let found = (answer.name.as_str(), answer.port).to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|e| failed(e.to_string()))?.collect();
    let first = *found.first().ok_or_else(|| failed("its name has no address".into()))?;
    let takes = |socket: &&SocketAddr| TcpStream::connect_timeout(socket, ATTEMPT / 3).is_ok();
    Ok(if found.len() == 1 { first } else { found.iter().find(takes).copied().unwrap_or(first) })
}

/// What `ssh -G` printed.
struct Answer {
    destination: String,
    lines: Vec<(String, String)>,
    name: String,
    user: String,
    port: u16,
}

impl Answer {
    fn ask(destination: &Destination, config: Option<&Path>) -> Result<Self, TargetError> {
        let mut argv = program(config);
        argv.push("-G".into());
        argv.extend(arguments(destination));
        let output = Command::new(&argv[0]).args(&argv[1..]).output().map_err(|source| {
            TargetError::Start { program: "ssh (Debian: openssh-client)".into(), source }
        })?;
        let wrong =
            |message: String| TargetError::SshConfig { destination: destination.host.clone(), message };
        if !output.status.success() {
            return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().into()));
        }
        Self::read(&String::from_utf8_lossy(&output.stdout), &destination.host)
            .ok_or_else(|| wrong("what 'ssh -G' prints has no hostname, user and port".into()))
    }

    fn read(printed: &str, destination: &str) -> Option<Self> {
        let lines = printed.lines().filter_map(|line| line.split_once(' '));
        let lines: Vec<_> = lines.map(|(word, value)| (word.to_string(), value.to_string())).collect();
        let value =
            |word: &str| lines.iter().find(|(known, _)| known == word).map(|(_, value)| value.clone());
        let (name, user, port) = (value("hostname")?, value("user")?, value("port")?.parse().ok()?);
        Some(Self { destination: destination.into(), name, user, port, lines })
    }

    fn values<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(move |(known, _)| known == word).map(|(_, value)| value.as_str())
    }

    fn value<'a>(&'a self, word: &'a str) -> Option<&'a str> {
        self.values(word).next()
    }

    /// `host:port`, or `[address]:port`.
    fn end(&self) -> String {
        if self.name.contains(':') {
            format!("[{}]:{}", self.name, self.port)
        } else {
            format!("{}:{}", self.name, self.port)
        }
    }

    fn login(&self, destination: &Destination) -> Result<Login, TargetError> {
        if let Some(missing) = destination.identities.iter().find(|key| !key.exists()) {
            let message = format!("the key {} that the URI names is not there", missing.display());
            return Err(TargetError::SshConfig { destination: self.destination.clone(), message });
        }
        let files = self.values("identityfile").filter(|file| *file != "none");
        let identities = files.map(|file| self.path(file)).collect::<Result<_, _>>()?;
        let from_environment =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let agent = match self.value("identityagent") {
            Some("none") => None,
            None | Some("SSH_AUTH_SOCK") => from_environment("SSH_AUTH_SOCK"),
            Some(named) => match named.strip_prefix('$') {
                Some(name) => from_environment(name.trim_matches(['{', '}'])),
                None => Some(self.path(named)?),
            },
        };
        Ok(Login::Any { agent, identities, only_identities: self.value("identitiesonly") == Some("yes") })
    }

    fn host_key(&self) -> Result<HostKey, TargetError> {
        let lists =
            ["userknownhostsfile", "globalknownhostsfile"].into_iter().flat_map(|word| self.values(word));
        let files = lists.flat_map(paths).filter(|file| file != "none");
        let name = match self.value("hostkeyalias") {
            Some(alias) => alias.to_string(),
            None if self.port == 22 => self.name.clone(),
            None => format!("[{}]:{}", self.name, self.port),
        };
        Ok(HostKey::Known { files: files.map(|file| self.path(&file)).collect::<Result<_, _>>()?, name })
    }

    fn path(&self, text: &str) -> Result<PathBuf, TargetError> {
        let text = text.trim_matches('"');
        let text = text.strip_prefix("~/").map_or_else(|| text.to_string(), |rest| format!("%d/{rest}"));
        Ok(self.expand(&text)?.into())
    }

    /// The tokens of ssh_config(5) that are of use here.
    fn expand(&self, text: &str) -> Result<String, TargetError> {
        let mut parts = text.split('%');
        let mut expanded = parts.next().unwrap_or_default().to_string();
        while let Some(part) = parts.next() {
            let home = || std::env::var("HOME").unwrap_or_default();
            let token = part.chars().next();
            expanded += &match token {
                Some('h') => self.name.clone(),
                Some('n') => self.destination.clone(),
                Some('p') => self.port.to_string(),
                Some('r') => self.user.clone(),
                Some('d') => home(),
                // Two in a row stand for one.
                None => format!("%{}", parts.next().unwrap_or_default()),
                Some(_) => {
                    return Err(TargetError::SshConfig {
                        destination: self.destination.clone(),
                        message: format!("'{text}' has a token other than %h, %n, %p, %r, %d and %%"),
                    });
                }
            };
            expanded += token.map_or("", |token| &part[token.len_utf8()..]);
        }
        Ok(expanded)
    }
}

/// The paths of a list. `ssh -G` drops the quotes around those with spaces: what does not begin as a path goes on with
/// the one before.
fn paths(list: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for word in list.split(' ') {
        match paths.last_mut() {
            Some(path) if !word.starts_with(['/', '~', '%']) => *path += &format!(" {word}"),
            _ => paths.push(word.into()),
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(more: &str) -> Answer {
        Answer::read(&format!("host h\nuser me\nhostname h.example\nport 2222\n{more}"), "h")
            .expect("an answer")
    }

    #[test]
    fn tokens_stand_for_what_they_mean() {
        let answer = answer("");
        assert_eq!(answer.expand("%r@%h:%p %n 100%%").expect("expanded"), "me@h.example:2222 h 100%");
        assert!(answer.expand("%C").is_err());
        let home = std::env::var("HOME").unwrap_or_default();
        assert_eq!(answer.path("~/.ssh/id").expect("path"), PathBuf::from(format!("{home}/.ssh/id")));
    }

    #[test]
    fn known_hosts_are_looked_up_by_name_and_port_in_all_files() {
        let answer = answer("userknownhostsfile /a b /c\nglobalknownhostsfile none\n");
        let files = vec!["/a b".into(), "/c".into()];
        let expected = HostKey::Known { files, name: "[h.example]:2222".into() };
        assert_eq!(answer.host_key().expect("host key"), expected);
    }

    #[test]
    fn several_jumps_are_passed_on_as_they_are() {
        let Way::Through(argv) = through_jumps("a,me@b:2,c", None, "h:22") else { panic!("not through") };
        assert_eq!(argv[argv.len() - 6..], ["-J", "a,me@b:2", "-W", "h:22", "--", "ssh://c"]);
    }

    #[test]
    fn an_agent_can_be_ruled_out() {
        let nothing = Destination { user: None, host: "h".into(), port: None, identities: Vec::new() };
        let login = answer("identityagent none\nidentitiesonly yes\nidentityfile /k\n").login(&nothing);
        let expected = Login::Any { agent: None, identities: vec!["/k".into()], only_identities: true };
        assert_eq!(login.expect("login"), expected);
        let missing = Destination { identities: vec!["/no such key".into()], ..nothing };
        let error = answer("").login(&missing).expect_err("missing").to_string();
        assert!(error.contains("/no such key"), "{error}");
    }
}
