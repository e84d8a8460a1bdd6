//! What can go wrong on the way to a machine.

use std::path::PathBuf;

use thiserror::Error;

/// Why a machine could not be reached or did not do what it was asked.
#[derive(Debug, Error)]
pub enum TargetError {
    #[error("{what}: did not finish before its deadline")]
    Deadline { what: String },
    #[error("{what}: interrupted")]
    Cancelled { what: String },
    #[error("cannot start '{program}': {source}")]
    Start { program: String, source: std::io::Error },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("ssh to {address}: {message}")]
    Ssh { address: String, message: String },
    /// A connection that was taken and then closed before the server said who it is: the server may be busy.
    #[error("ssh to {address}: the connection was closed before the server answered: {message}")]
    SshDropped { address: String, message: String },
    #[error(
        "ssh to {address}: {user} may not log in: {message}: add the public key to that user's authorized_keys there, or name the right one with IdentityFile in the SSH configuration or 'keyfile=' in the URI"
    )]
    Login { address: String, user: String, message: String },
    #[error(
        "ssh to {address}: its host key is not the one that this machine was given: another one answers there: refusing to go on"
    )]
    HostKey { address: String },
    #[error(
        "ssh to {address}: its host key {fingerprint} is in no known_hosts file under the name '{name}': log in once by hand with 'ssh' and compare the fingerprint, or add what 'ssh-keyscan' prints once you have compared it"
    )]
    UnknownHostKey { address: String, name: String, fingerprint: String },
    #[error(
        "ssh to {address}: its host key {fingerprint} is not the one in {place}: somebody may be in between: refusing to go on; if the host really has a new key, remove that line and log in once by hand"
    )]
    ChangedHostKey { address: String, fingerprint: String, place: String },
    #[error(
        "ssh to {address}: its host key {fingerprint} is marked as revoked in {place}: refusing to go on"
    )]
    RevokedHostKey { address: String, fingerprint: String, place: String },
    #[error("SSH configuration for '{destination}': {message}")]
    SshConfig { destination: String, message: String },
    #[error("libvirt: {what}: {message}")]
    Libvirt { what: String, message: String },
    #[error(
        "domain {name} exists already and was not made by this run: it is left alone; give it another name or remove it, then start again"
    )]
    DomainExists { name: String },
    #[error(
        "another process uses the embedded libvirt driver in {0}: wait until it has ended, or set CROSSVISOR_STATE to another folder"
    )]
    Busy(PathBuf),
    #[error("{what}: more than {limit} bytes of output")]
    TooMuchOutput { what: String, limit: usize },
    #[error("{what}: ended before it answered: {tail}")]
    EndedEarly { what: String, tail: String },
    #[error(
        "'{uri}' cannot be used: {reason}: there are 'qemu:///embed' (CROSSVISOR_STATE chooses its folder), 'qemu:///system', 'qemu:///session', 'xen:///system', and with '+ssh://[user@]host[:port]' the latter three on other machines"
    )]
    Uri { uri: String, reason: String },
}

impl TargetError {
    /// Adds what was being done to an I/O error.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled { .. })
    }

    /// Another machine answers than the one that was meant, or nobody knows whether: trying again is no use.
    pub(crate) const fn is_host_key(&self) -> bool {
        matches!(
            self,
            Self::HostKey { .. }
                | Self::UnknownHostKey { .. }
                | Self::ChangedHostKey { .. }
                | Self::RevokedHostKey { .. }
        )
    }
}
