//! Programs on a guest over SSH: sessions with deadlines, and a host key known beforehand.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use ssh2::{BlockDirections, Channel, Session};

use crate::machine::{Ended, Machine, Process};
use crate::{Cancel, TargetError, cancel, quote};

/// One attempt to log in may take this long; a guest that is just coming up may swallow the first ones.
const ATTEMPT: Duration = Duration::from_secs(15);
/// Between "no such port" and the next try.
const RETRY: Duration = Duration::from_millis(50);
/// Between looks whether the machine still runs.
const LOOK: Duration = Duration::from_secs(1);
/// How long a connection that was taken may stay without the server's first words.
const BANNER: Duration = Duration::from_millis(1500);

/// Where and as whom to log in.
#[derive(Clone, Debug)]
pub struct SshAddress {
    pub socket: SocketAddr,
    pub user: String,
    /// A private key in OpenSSH's form.
    pub key: PathBuf,
    /// The server's public key as it crosses the wire (RFC 4253, 6.6); no other is accepted.
    pub host_key: Vec<u8>,
}

/// A machine reached over SSH. Each program that runs has a session of its own; idle ones are kept.
pub struct Ssh {
    address: SshAddress,
    idle: Arc<Mutex<Vec<Link>>>,
}

/// A session and the connection below it, which is what can be polled.
struct Link {
    session: Session,
    stream: TcpStream,
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
    /// [`TargetError::Deadline`] with the last reason, [`TargetError::Cancelled`], or at once
    /// [`TargetError::HostKey`] when another machine answers.
    pub fn wait_until_up(
        &self,
        deadline: Instant,
        cancel: &Cancel,
        alive: &dyn Fn() -> Result<(), TargetError>,
    ) -> Result<(), TargetError> {
        let what = format!("ssh to {}", self.address.socket);
        let mut looked = Instant::now();
        loop {
            match self.connect(deadline.min(Instant::now() + ATTEMPT)) {
                Ok(link) => {
                    self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(link);
                    return Ok(());
                }
                Err(error @ TargetError::HostKey { .. }) => return Err(error),
                Err(reason) => cancel.check(deadline, &format!("{what} (last answer: {reason})"))?,
            }
            if looked.elapsed() >= LOOK {
                alive()?;
                looked = Instant::now();
            }
            std::thread::sleep(RETRY);
        }
    }

    fn connect(&self, deadline: Instant) -> Result<Link, TargetError> {
        let failed = |message: String| TargetError::Ssh { address: self.address.socket.to_string(), message };
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let stream =
            TcpStream::connect_timeout(&self.address.socket, left).map_err(|e| failed(e.to_string()))?;
        stream.set_nodelay(true).map_err(|e| failed(e.to_string()))?;
        wait_for_banner(&stream).map_err(|e| failed(e.to_string()))?;
        let mut session = Session::new().map_err(|e| failed(e.to_string()))?;
        session.set_timeout(u32::try_from(left.as_millis()).unwrap_or(u32::MAX));
        session.set_tcp_stream(stream.try_clone().map_err(|e| failed(e.to_string()))?);
        session.handshake().map_err(|e| failed(e.to_string()))?;
        if session.host_key().map(|(key, _)| key) != Some(&self.address.host_key) {
            return Err(TargetError::HostKey { address: self.address.socket.to_string() });
        }
        session
            .userauth_pubkey_file(&self.address.user, None, &self.address.key, None)
            .map_err(|e| failed(format!("log in as {}: {e}", self.address.user)))?;
        Ok(Link { session, stream })
    }
}

/// The server speaks first (RFC 4253, 4.2): returns once there is something to read.
fn wait_for_banner(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(BANNER))?;
    let read = stream.peek(&mut [0])?;
    stream.set_read_timeout(None)?;
    if read == 0 { Err(ErrorKind::ConnectionReset.into()) } else { Ok(()) }
}

impl Machine for Ssh {
    fn start(&self, argv: &[String], deadline: Instant) -> Result<Box<dyn Process>, TargetError> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let link = match kept {
            Some(link) => link,
            None => self.connect(deadline.min(Instant::now() + ATTEMPT))?,
        };
        let failed = |e: ssh2::Error| TargetError::Ssh {
            address: self.address.socket.to_string(),
            message: format!("{}: {e}", argv.join(" ")),
        };
        link.session.set_blocking(true);
        link.session.set_timeout(u32::try_from(ATTEMPT.as_millis()).unwrap_or(u32::MAX));
        let mut channel = link.session.channel_session().map_err(failed)?;
        channel.exec(&quote::line(argv)).map_err(failed)?;
        link.session.set_blocking(false);
        Ok(Box::new(SshProcess {
            link: Some(link),
            channel,
            printed: Ended::default(),
            name: argv.join(" "),
            address: self.address.socket.to_string(),
            home: Arc::clone(&self.idle),
        }))
    }
}

struct SshProcess {
    /// `None` once the program has ended.
    link: Option<Link>,
    channel: Channel,
    printed: Ended,
    name: String,
    address: String,
    /// Where the session goes when the program has ended.
    home: Arc<Mutex<Vec<Link>>>,
}

impl SshProcess {
    fn failed(&self, error: impl std::fmt::Display) -> TargetError {
        TargetError::Ssh { address: self.address.clone(), message: format!("{}: {error}", self.name) }
    }

    /// Waits until the socket is ready for what the session wants to do.
    fn poll(&self, wait: Duration) -> Result<(), TargetError> {
        let Some(link) = &self.link else { return Ok(()) };
        let flags = match link.session.block_directions() {
            BlockDirections::Outbound => PollFlags::OUT,
            BlockDirections::Both => PollFlags::IN | PollFlags::OUT,
            BlockDirections::None | BlockDirections::Inbound => PollFlags::IN,
        };
        let mut fds = [PollFd::new(&link.stream, flags)];
        let timeout = rustix::time::Timespec::try_from(wait).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// Repeats a call that would block until it does not, for a short while.
    fn settle(&mut self, call: impl Fn(&mut Channel) -> std::io::Result<()>) -> Result<(), TargetError> {
        let deadline = Instant::now() + ATTEMPT;
        loop {
            match call(&mut self.channel) {
                Ok(()) => return Ok(()),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    Cancel::default().check(deadline, &self.name)?;
                    self.poll(cancel::TICK)?;
                }
                Err(e) => return Err(self.failed(e)),
            }
        }
    }

    /// Moves what is there of both streams; true when something was.
    fn drain(&mut self) -> Result<bool, TargetError> {
        let mut moved = false;
        let mut chunk = [0; 1 << 15];
        for stream in [0, 1] {
            loop {
                let read = self.channel.stream(stream).read(&mut chunk);
                match read {
                    Ok(0) => break,
                    Ok(read) => {
                        let into =
                            if stream == 0 { &mut self.printed.stdout } else { &mut self.printed.stderr };
                        into.extend_from_slice(&chunk[..read]);
                        moved = true;
                    }
                    Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                    Err(e) => return Err(self.failed(e)),
                }
            }
        }
        Ok(moved)
    }
}

impl Process for SshProcess {
    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), TargetError> {
        while !bytes.is_empty() {
            match self.channel.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    Cancel::default().check(deadline, &self.name)?;
                    self.poll(cancel::TICK)?;
                }
                Err(e) => return Err(self.failed(e)),
            }
        }
        self.settle(Write::flush)
    }

    fn close_stdin(&mut self) -> Result<(), TargetError> {
        self.settle(|channel| Ok(channel.send_eof()?))
    }

    fn pump(&mut self, wait: Duration) -> Result<bool, TargetError> {
        if self.link.is_none() {
            return Ok(true);
        }
        if !self.drain()? && !self.channel.eof() {
            self.poll(wait.min(cancel::TICK))?;
            self.drain()?;
        }
        if !self.channel.eof() {
            return Ok(false);
        }
        self.settle(|channel| Ok(channel.close()?))?;
        self.settle(|channel| Ok(channel.wait_close()?))?;
        self.drain()?;
        let signal = self.channel.exit_signal().map_err(|e| self.failed(e))?.exit_signal;
        let status = self.channel.exit_status().map_err(|e| self.failed(e))?;
        self.printed.exit = signal.is_none().then_some(status);
        self.home.lock().unwrap_or_else(PoisonError::into_inner).extend(self.link.take());
        Ok(true)
    }

    fn printed(&mut self) -> &mut Ended {
        &mut self.printed
    }

    fn name(&self) -> &str {
        &self.name
    }
}
