//! A program that runs at the other end of a session.

use std::io::{ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use ssh2::{BlockDirections, Channel};

use super::ATTEMPT;
use super::link::Link;
use crate::machine::{Ended, Process};
use crate::{Cancel, TargetError, cancel};

pub struct SshProcess {
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
    /// `channel` has been given the program, and its session does not block.
    pub const fn new(
        link: Link,
        channel: Channel,
        name: String,
        address: String,
        home: Arc<Mutex<Vec<Link>>>,
    ) -> Self {
        let printed = Ended { exit: None, stdout: Vec::new(), stderr: Vec::new() };
        Self { link: Some(link), channel, printed, name, address, home }
    }

    fn failed(&self, error: impl std::fmt::Display) -> TargetError {
        TargetError::Ssh { address: self.address.clone(), message: format!("{}: {error}", self.name) }
    }

    /// What libssh2 says of a connection that broke is no more than `transport read`.
    fn lost(&self, error: &std::io::Error) -> TargetError {
        self.failed(format!("the connection was lost ({error}): does the machine still run?"))
    }

    /// Waits until the socket is ready for what the session wants to do.
    fn poll(&self, wait: Duration) -> Result<(), TargetError> {
        let Some(link) = &self.link else { return Ok(()) };
        let flags = match link.session.block_directions() {
            BlockDirections::Outbound => PollFlags::OUT,
            BlockDirections::Both => PollFlags::IN | PollFlags::OUT,
            BlockDirections::None | BlockDirections::Inbound => PollFlags::IN,
        };
        let mut fds = [PollFd::new(link, flags)];
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
                Err(e) => return Err(self.lost(&e)),
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
                    Err(e) => return Err(self.lost(&e)),
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
                // It has ended and does not want its input; its exit code tells why.
                Err(_) if self.channel.eof() => return Ok(()),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    Cancel::default().check(deadline, &self.name)?;
                    // Its output may be what it waits to get rid of.
                    if !self.drain()? {
                        self.poll(cancel::TICK)?;
                    }
                }
                Err(e) => return Err(self.lost(&e)),
            }
        }
        // No flush: libssh2's throws away what has come and was not read.
        Ok(())
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
