//! Programs on guests and hosts over SSH: sessions with deadlines, and a host key known beforehand.
//!
//! Owns the sessions of one machine. It must never accept a host key that nobody has vouched for.

mod config;
mod known_hosts;
mod link;
mod login;
mod process;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::machine::{Machine, Process};
use crate::{Cancel, TargetError, quote};

pub(crate) use config::program;
pub use config::{host, through};
use link::Link;
use process::SshProcess;

/// One attempt to log in may take this long; a guest that is just coming up may swallow the first ones.
const ATTEMPT: Duration = Duration::from_secs(15);
/// Between "no such port" and the next try.
const RETRY: Duration = Duration::from_millis(50);
/// Between looks whether the machine still runs.
const LOOK: Duration = Duration::from_secs(1);
/// How long a connection that was taken may stay without the server's first words while a machine comes up.
const BANNER: Duration = Duration::from_millis(1500);
/// A server that is asked by many at once closes some connections at random (`MaxStartups`, sshd_config(5)).
const ATTEMPTS: u32 = 10;

/// Where and as whom to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshAddress {
    pub way: Way,
    pub user: String,
    pub login: Login,
    pub host_key: HostKey,
}

/// What carries the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    Direct(SocketAddr),
    /// A program whose standard input and output are the connection.
    Through(Vec<String>),
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Direct(socket) => socket.fmt(f),
            Self::Through(argv) => write!(f, "'{}'", argv.join(" ")),
        }
    }
}

/// What proves to the server who logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// A private key in OpenSSH's form, without a passphrase.
    Key(PathBuf),
    /// What OpenSSH would try, in its order: the agent's keys that are also identities, the agent's other keys, the
    /// identities' files.
    Any {
        /// The agent's socket.
        agent: Option<PathBuf>,
        /// Private keys in OpenSSH's form; those that are missing are passed over.
        identities: Vec<PathBuf>,
        /// Leaves the agent's other keys out.
        only_identities: bool,
    },
}

/// How the server proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostKey {
    /// Its public key as it crosses the wire (RFC 4253, 6.6); no other is accepted.
    Pinned(Vec<u8>),
    /// One that a `known_hosts` file has under this name (`host`, or `[host]:port`).
    Known { files: Vec<PathBuf>, name: String },
}

/// A machine reached over SSH. Each program that runs has a session of its own; idle ones are kept.
pub struct Ssh {
    address: SshAddress,
    idle: Arc<Mutex<Vec<Link>>>,
}

impl Ssh {
    #[must_use]
    pub fn new(address: SshAddress) -> Self {
        Self { address, idle: Arc::default() }
    }

    /// Tries to log in until it works: a refused, reset or silent connection is not an answer yet. `alive` is asked
    /// now and then, and an error of it ends the wait.
    ///
    /// # Errors
    /// [`TargetError::Deadline`] with the last reason, [`TargetError::Cancelled`], or at once when another machine
    /// answers.
    pub fn wait_until_up(
        &self,
        deadline: Instant,
        cancel: &Cancel,
        alive: &dyn Fn() -> Result<(), TargetError>,
    ) -> Result<(), TargetError> {
        let what = format!("ssh to {}", self.address.way);
        let mut looked = Instant::now();
        loop {
            match Link::open(&self.address, deadline.min(Instant::now() + ATTEMPT), BANNER) {
                Ok(link) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(link);
                    return Ok(());
                }
                Err(error) if error.is_host_key() => return Err(error),
                Err(reason) => cancel.check(deadline, &format!("{what} (last answer: {reason})"))?,
            }
            if looked.elapsed() >= LOOK {
                alive()?;
                looked = Instant::now();
            }
            std::thread::sleep(RETRY);
        }
    }

    /// A session that nobody uses. One that was closed while it was idle is passed over.
    fn kept(&self) -> Option<Link> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(Link::is_open)
    }

    fn connect(&self, deadline: Instant) -> Result<Link, TargetError> {
        let mut attempt = 1;
        loop {
            match Link::open(&self.address, deadline, ATTEMPT) {
                Err(TargetError::SshDropped { .. }) if attempt < ATTEMPTS && Instant::now() < deadline => {
                    std::thread::sleep(RETRY * attempt);
                    attempt += 1;
                }
                result => return result,
            }
        }
    }
}

impl Machine for Ssh {
    fn start(&self, argv: &[String], deadline: Instant) -> Result<Box<dyn Process>, TargetError> {
        let failed = |e: ssh2::Error| TargetError::Ssh {
            address: self.address.way.to_string(),
            message: format!("{}: {e}", argv.join(" ")),
        };
        // A kept session may turn out to be dead: nothing has been started in it yet.
        let kept = self.kept().and_then(|link| Some((link.channel(ATTEMPT).ok()?, link)));
        let (mut channel, link) = match kept {
            Some(kept) => kept,
            None => {
                let link = self.connect(deadline.min(Instant::now() + ATTEMPT))?;
                (link.channel(ATTEMPT).map_err(failed)?, link)
            }
        };
        channel.exec(&quote::line(argv)).map_err(failed)?;
        link.session.set_blocking(false);
        Ok(Box::new(SshProcess::new(
            link,
            channel,
            argv.join(" "),
            self.address.way.to_string(),
            Arc::clone(&self.idle),
        )))
    }
}
