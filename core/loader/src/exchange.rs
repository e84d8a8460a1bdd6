//! A running child process: bytes in, bytes out, each within a deadline, and its last words.
//!
//! Owns the pipes, the framing and how the process is ended. It must never wait without a deadline.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

use crossvisor_plugin::abi::CALL_OK;
use crossvisor_plugin::limits::REPLY_BYTES;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::descriptor::Returned;
use crate::host::{REFUSED, TOO_LONG};

/// How long a process that has closed its output may take to end, before it is ended.
const GRACE: Duration = Duration::from_secs(1);
/// So many of its last words are kept, in bytes.
const WORDS: usize = 1 << 10;
/// The code and the length before a reply in a frame.
const HEAD: usize = 8;

/// How requests and replies are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// As [`crate::host`] describes them.
    Frames,
    /// A line each.
    Lines,
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum Fault {
    Deadline,
    /// The output ended, after so many bytes of a reply.
    Closed(usize),
    TooLong,
    /// More came than the reply.
    Surplus,
    Io(io::Error),
}

impl Fault {
    /// How the output ended before the reply did.
    fn closed(&self) -> String {
        match self {
            Self::Closed(length) if *length > 0 => {
                format!("it closed its output after {length} bytes of a reply")
            }
            _ => "it closed its output without a reply".into(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    /// Set when it has ended and was waited for.
    status: Option<ExitStatus>,
    framing: Framing,
    requests: ChildStdin,
    replies: ChildStdout,
    errors: Option<ChildStderr>,
    words: Vec<u8>,
    buffer: Vec<u8>,
}

impl Running {
    /// Starts `host`, whose standard input, output and error are pipes. It makes a session, and so a process group,
    /// of its own first thing, which it could not as the leader of a group.
    pub(crate) fn start(mut host: Command, framing: Framing) -> io::Result<Self> {
        let mut child = host.spawn()?;
        let (Some(requests), Some(replies), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("its pipes are missing"));
        };
        for end in [requests.as_fd(), replies.as_fd(), errors.as_fd()] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        let (words, buffer) = (Vec::new(), vec![0; 1 << 16]);
        Ok(Self { child, status: None, framing, requests, replies, errors: Some(errors), words, buffer })
    }

    /// Sends a request, if any, and waits for the next reply.
    pub(crate) fn exchange(&mut self, request: Option<&[u8]>, limit: Duration) -> Result<Returned, Fault> {
        let start = Instant::now();
        let message = request.map_or(Ok(Vec::new()), |request| self.framing.message(request))?;
        let mut unsent = message.as_slice();
        let mut reply = Vec::new();
        loop {
            self.send(&mut unsent)?;
            self.wait(!unsent.is_empty(), limit.saturating_sub(start.elapsed()))?;
            self.listen();
            match self.replies.read(&mut self.buffer) {
                Ok(0) => return Err(Fault::Closed(reply.len())),
                Ok(length) => {
                    reply.extend_from_slice(&self.buffer[..length]);
                    if let Some(returned) = self.framing.whole(&mut reply, length)? {
                        return Ok(returned);
                    }
                }
                Err(e) if is_passing(&e) => {}
                Err(e) => return Err(Fault::Io(e)),
            }
        }
    }

    /// As much as the pipe takes; that the reader is gone shows when the reply is read.
    fn send(&mut self, unsent: &mut &[u8]) -> Result<(), Fault> {
        while !unsent.is_empty() {
            match self.requests.write(unsent) {
                Ok(length) => *unsent = &unsent[length..],
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => *unsent = &[],
                Err(e) if is_passing(&e) => return Ok(()),
                Err(e) => return Err(Fault::Io(e)),
            }
        }
        Ok(())
    }

    fn wait(&self, is_sending: bool, left: Duration) -> Result<(), Fault> {
        // A time that is too long for the system has no end.
        let timeout = Timespec::try_from(left).ok();
        let mut ends = vec![PollFd::new(&self.replies, PollFlags::IN)];
        ends.extend(self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
        if is_sending {
            ends.push(PollFd::new(&self.requests, PollFlags::OUT));
        }
        match poll(&mut ends, timeout.as_ref()) {
            Ok(0) => Err(Fault::Deadline),
            // However much it says in between, the time is over.
            Ok(_) if left.is_zero() => Err(Fault::Deadline),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(Fault::Io(e.into())),
        }
    }

    /// Keeps the last words of its standard error.
    fn listen(&mut self) {
        let Some(errors) = &mut self.errors else { return };
        match errors.read(&mut self.buffer) {
            Ok(0) => self.errors = None,
            Ok(length) => {
                self.words.extend_from_slice(&self.buffer[..length]);
                self.words.drain(..self.words.len().saturating_sub(WORDS));
            }
            Err(_) => {}
        }
    }

    /// Ends it with all of its process group, and says in words why.
    pub(crate) fn end(&mut self, fault: &Fault, limit: Duration) -> String {
        let patience = if matches!(fault, Fault::Closed(_)) { GRACE } else { Duration::ZERO };
        let by_itself = self.has_ended(patience);
        let status = self.kill();
        self.listen();
        let words = String::from_utf8_lossy(&self.words);
        let words: Vec<_> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let reason = match (fault, status) {
            (Fault::Closed(_), Some(status)) if by_itself => match words.last() {
                Some(reason) if status.code() == Some(REFUSED.into()) => return (*reason).to_string(),
                // One that closes everything may be ended by its own watch over the program's life, or not yet.
                _ if status.signal() == Some(Signal::KILL.as_raw()) => {
                    format!("{}: {}", fault.closed(), ending(status))
                }
                _ => ending(status),
            },
            (Fault::Closed(_), _) => fault.closed(),
            (Fault::Deadline, _) => {
                format!("it gave no answer within {} s and was stopped", limit.as_secs_f64())
            }
            (Fault::TooLong, _) => format!("it replied with more than {REPLY_BYTES} bytes and was stopped"),
            (Fault::Surplus, _) => "it replied more than was asked and was stopped".into(),
            (Fault::Io(e), _) => format!("it cannot be talked to: {e}"),
        };
        if words.is_empty() { reason } else { format!("{reason}; its last words: {}", words.join(" | ")) }
    }

    /// Waits until it has ended, without taking its number away.
    fn has_ended(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            if matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), options), Ok(Some(_)) | Err(_)) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn kill(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            // Before the wait: until then its number is nobody else's. First the process, which may not have made
            // its group yet, or may have gone over to another.
            let _ = self.child.kill();
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            self.status = self.child.wait().ok();
        }
        self.status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Framing {
    fn message(self, request: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut message = Vec::with_capacity(request.len() + 4);
        if self == Self::Frames {
            let length = u32::try_from(request.len()).map_err(|e| Fault::Io(io::Error::other(e)))?;
            message.extend(length.to_le_bytes());
        }
        message.extend(request);
        if self == Self::Lines {
            message.push(b'\n');
        }
        Ok(message)
    }

    /// The reply, once all of it is there; the last `fresh` bytes are new.
    fn whole(self, reply: &mut Vec<u8>, fresh: usize) -> Result<Option<Returned>, Fault> {
        let (code, start, end) = match self {
            Self::Frames => {
                let Some((head, _)) = reply.split_first_chunk::<HEAD>() else { return Ok(None) };
                let [a, b, c, d, e, f, g, h] = *head;
                let (code, length) = (i32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
                if length == TOO_LONG {
                    reply.clear();
                    return Ok(Some(Returned { code, reply: Vec::new(), too_long: true }));
                }
                (code, HEAD, Some(HEAD.saturating_add(length as usize)))
            }
            Self::Lines => {
                let old = reply.len() - fresh;
                (CALL_OK, 0, reply[old..].iter().position(|byte| *byte == b'\n').map(|at| old + at + 1))
            }
        };
        if end.unwrap_or(reply.len()) - start > REPLY_BYTES {
            return Err(Fault::TooLong);
        }
        match end {
            Some(end) if reply.len() > end => Err(Fault::Surplus),
            Some(end) if reply.len() == end => {
                Ok(Some(Returned { code, reply: reply.split_off(start), too_long: false }))
            }
            _ => Ok(None),
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(number)) => {
            let name = match Signal::from_named_raw(number) {
                Some(Signal::SEGV) => " (segmentation fault)",
                Some(Signal::ABORT) => " (abort)",
                Some(Signal::KILL) => " (killed)",
                Some(Signal::BUS) => " (bus error)",
                Some(Signal::ILL) => " (illegal instruction)",
                Some(Signal::FPE) => " (arithmetic error)",
                Some(Signal::XFSZ) => " (it wrote to a file, which a plugin may not)",
                _ => "",
            };
            format!("it was ended by signal {number}{name}")
        }
        (None, None) => "it ended".into(),
    }
}
