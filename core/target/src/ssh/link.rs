//! One session and the connection below it.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, recv, sockopt};
use ssh2::{Channel, ErrorCode, Session};

use super::{HostKey, SshAddress, Way, known_hosts, login};
use crate::TargetError;

/// A silent connection is asked this often whether there is still somebody, and this many times in vain.
const KEEPALIVE: Duration = Duration::from_secs(10);
const KEEPALIVES: u32 = 6;
/// What a program that carries a connection may say in an error message, in bytes.
const WORDS: usize = 2000;

/// How OpenSSH says that a server on the way hung up on it, which a busy one does; all else it says is final.
const BUSY: [&str; 3] = ["kex_exchange_identification", "Connection closed by", "Connection reset by"];
/// libssh2's numbers for a connection that ended: no banner, disconnected, nothing received.
const LOST: [i32; 3] = [-2, -13, -43];

pub struct Link {
    // Closed before the connection below it.
    pub session: Session,
    wire: Wire,
}

/// A connection, which is what can be polled.
struct Wire {
    stream: OwnedFd,
    carrier: Option<Carrier>,
}

/// The program that carries a connection; it ends with it.
struct Carrier {
    child: Child,
    /// What it says on standard error.
    said: std::fs::File,
}

impl Link {
    /// Connects and logs in. On a direct way the server's first words are waited for as long as `banner`; a carrier
    /// ends by itself when there is no server.
    ///
    /// # Errors
    /// [`TargetError::SshDropped`] when the connection ends before the server has said who it is, those of the host
    /// key, [`TargetError::Login`], [`TargetError::Ssh`] for all else.
    pub fn open(address: &SshAddress, deadline: Instant, banner: Duration) -> Result<Self, TargetError> {
        let left = || deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let at = || address.way.to_string();
        let wire = Wire::open(&address.way, left())
            .map_err(|e| TargetError::Ssh { address: at(), message: e.to_string() })?;
        let patience = if wire.carrier.is_some() { left() } else { banner.min(left()) };
        wire.wait_for_banner(patience).map_err(|e| wire.ended(&e, at()))?;
        let failed = |message: String| TargetError::Ssh { address: at(), message };
        let mut session = Session::new().map_err(|e| failed(e.to_string()))?;
        session.set_timeout(u32::try_from(left().as_millis()).unwrap_or(u32::MAX));
        session.set_tcp_stream(wire.stream.try_clone().map_err(|e| failed(e.to_string()))?);
        let known = match &address.host_key {
            HostKey::Pinned(_) => Vec::new(),
            HostKey::Known { files, name } => known_hosts::find(files, name)?,
        };
        known_hosts::prefer(&session, &known).map_err(|e| failed(e.to_string()))?;
        session.handshake().map_err(|e| match e.code() {
            ErrorCode::Session(code) if LOST.contains(&code) => wire.ended(&e, at()),
            _ => failed(e.to_string()),
        })?;
        match &address.host_key {
            HostKey::Pinned(key) => match session.host_key() {
                Some((given, _)) if given == key => {}
                _ => return Err(TargetError::HostKey { address: at() }),
            },
            HostKey::Known { name, .. } => known_hosts::check(&session, &known, &at(), name)?,
        }
        login::log_in(&session, address)?;
        Ok(Self { session, wire })
    }

    /// A way to run one program. The session blocks until it is told otherwise.
    ///
    /// # Errors
    /// That of libssh2 when the connection is gone or the server has no more channels.
    pub fn channel(&self, timeout: Duration) -> Result<Channel, ssh2::Error> {
        self.session.set_blocking(true);
        self.session.set_timeout(u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX));
        self.session.channel_session()
    }

    /// False once the other end has closed it or spoken unasked.
    pub fn is_open(&self) -> bool {
        matches!(self.wire.is_readable(Duration::ZERO), Ok(false))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wire.stream.as_fd()
    }
}

impl Wire {
    fn open(way: &Way, timeout: Duration) -> std::io::Result<Self> {
        match way {
            Way::Direct(socket) => {
                let stream = TcpStream::connect_timeout(socket, timeout)?;
                stream.set_nodelay(true)?;
                sockopt::set_socket_keepalive(&stream, true)?;
                sockopt::set_tcp_keepidle(&stream, KEEPALIVE)?;
                sockopt::set_tcp_keepintvl(&stream, KEEPALIVE)?;
                sockopt::set_tcp_keepcnt(&stream, KEEPALIVES)?;
                Ok(Self { stream: stream.into(), carrier: None })
            }
            Way::Through(argv) => {
                let (program, arguments) = argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
                let (ours, theirs) = UnixStream::pair()?;
                let said =
                    std::fs::File::from(rustix::fs::memfd_create("said", rustix::fs::MemfdFlags::CLOEXEC)?);
                let child = Command::new(program)
                    .args(arguments)
                    .stdin(OwnedFd::from(theirs.try_clone()?))
                    .stdout(OwnedFd::from(theirs))
                    .stderr(said.try_clone()?)
                    .process_group(0)
                    .spawn()
                    .map_err(|e| std::io::Error::new(e.kind(), format!("cannot start {program}: {e}")))?;
                Ok(Self { stream: ours.into(), carrier: Some(Carrier { child, said }) })
            }
        }
    }

    fn is_readable(&self, wait: Duration) -> std::io::Result<bool> {
        let timeout = rustix::time::Timespec::try_from(wait).map_err(std::io::Error::other)?;
        Ok(poll(&mut [PollFd::new(&self.stream, PollFlags::IN)], Some(&timeout))? > 0)
    }

    /// The server speaks first (RFC 4253, 4.2): returns once there is something to read.
    fn wait_for_banner(&self, patience: Duration) -> std::io::Result<()> {
        if !self.is_readable(patience)? {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let (_, read) = recv(&self.stream, &mut [0; 1][..], RecvFlags::PEEK)?;
        if read == 0 { Err(std::io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }

    /// The error of a connection that ended too early, with what its carrier says of it.
    fn ended(&self, error: &dyn std::fmt::Display, address: String) -> TargetError {
        let said = self.carrier.as_ref().map(Carrier::words).unwrap_or_default();
        let message = if said.is_empty() { error.to_string() } else { format!("{error}: {said}") };
        match said.is_empty() || BUSY.iter().any(|words| said.contains(words)) {
            true => TargetError::SshDropped { address, message },
            false => TargetError::Ssh { address, message },
        }
    }
}

impl Carrier {
    fn words(&self) -> String {
        let mut words = vec![0; WORDS];
        let read = self.said.read_at(&mut words, 0).unwrap_or_default();
        String::from_utf8_lossy(&words[..read]).trim().replace("\r\n", "\n")
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        // Ended already: nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
