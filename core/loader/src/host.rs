//! The other side: the process that runs one plugin.
//!
//! Owns what the program does under its hidden verb [`VERB`]: give up rights, then open the library and answer
//! requests, or become the script. It must never outlive the program that started it.
//!
//! A request is its length in 4 bytes and its bytes, on standard input. A reply is the plugin's code in 4 bytes,
//! its length in 4 bytes ([`TOO_LONG`] and no bytes for one beyond the limit) and its bytes, on standard output;
//! the first one is the manifest. Numbers are little-endian.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, kill_current_process_group, setsid};

use crate::descriptor::{self, Entry};
use crate::inherited::close_all_but;
use crate::limits::confine;

/// The hidden verb of the program.
pub const VERB: &str = "plugin-host";
/// The length of a reply that is longer than allowed.
pub(crate) const TOO_LONG: u32 = u32::MAX;
/// The exit code when the plugin did not get as far as to run; the last line of standard error is the reason.
pub(crate) const REFUSED: u8 = 70;

/// Runs one plugin until standard input ends; `arguments` are those after [`VERB`].
#[must_use]
pub fn plugin_host(arguments: &[OsString]) -> ExitCode {
    let texts: Option<Vec<_>> = arguments.iter().map(|argument| argument.to_str()).collect();
    let ended = match texts.as_deref() {
        Some(["library", descriptor, memory, symbol]) => {
            prepare(descriptor, memory).and_then(|path| library(&path, symbol))
        }
        Some(["script", descriptor, memory]) => {
            prepare(descriptor, memory).map(|path| Command::new(path).exec()).and_then(|e| {
                Err(format!("it does not start: {e}: does its first line name an interpreter that is there?"))
            })
        }
        _ => Err("this is a part of the program's own: it runs a plugin for it".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // A line of its own, whatever the plugin has said before.
            let _ = writeln!(io::stderr(), "\n{reason}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Leaves the session, and with it the terminal, of whoever started this, and gives up open files and rights; the
/// path leads to the plugin's file whatever lies at its old place by now.
fn prepare(descriptor: &str, memory: &str) -> Result<PathBuf, String> {
    setsid().map_err(|e| {
        format!("cannot leave the session of the program: {e}: start it in no group of its own")
    })?;
    let wrong = |text: &str, e| format!("'{text}' is not a number: {e}");
    let kept = descriptor.parse().map_err(|e| wrong(descriptor, e))?;
    close_all_but(kept).map_err(|e| format!("cannot close what it inherited: {e}"))?;
    confine(memory.parse().map_err(|e| wrong(memory, e))?)?;
    let path = Path::new("/proc/self/fd").join(kept.to_string());
    match File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            Err("the user it is run as may not read it: chmod a+rx its file".into())
        }
        Err(e) => Err(format!("its file is gone: {e}")),
        Ok(_) => Ok(path),
    }
}

/// Opens the library when it can no longer reach the channel, which its initialisers could write to, and serves it.
fn library(path: &Path, symbol: &str) -> Result<(), String> {
    let (requests, replies) = channel().map_err(|e| e.to_string())?;
    die_with(requests.try_clone().map_err(|e| e.to_string())?);
    let entry = descriptor::open(path, symbol).map_err(|e| e.to_string())?;
    serve(entry, requests, replies).map_err(|e| e.to_string())
}

/// Answers until the requests end.
fn serve(entry: Entry, requests: File, mut replies: File) -> io::Result<()> {
    let mut requests = BufReader::with_capacity(1 << 16, requests);
    reply(&mut replies, 0, Some(entry.manifest_json))?;
    let mut request = Vec::new();
    loop {
        let mut length = [0; 4];
        match requests.read_exact(&mut length) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        request.resize(u32::from_le_bytes(length) as usize, 0);
        requests.read_exact(&mut request)?;
        let returned = entry.call(&request);
        reply(&mut replies, returned.code, (!returned.too_long).then_some(&returned.reply))?;
    }
}

/// Takes standard input and output away from the plugin: what it prints goes to standard error.
fn channel() -> io::Result<(File, File)> {
    let requests = rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?;
    let replies = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((requests.into(), replies.into()))
}

/// Ends this process and all it started when nobody is left at the other end, also in the middle of a call.
fn die_with(requests: File) {
    std::thread::spawn(move || {
        while poll(&mut [PollFd::new(&requests, PollFlags::empty())], None).is_err() {}
        let _ = kill_current_process_group(Signal::KILL);
    });
}

fn reply(to: &mut File, code: i32, bytes: Option<&[u8]>) -> io::Result<()> {
    let length = bytes.map_or(Ok(TOO_LONG), |bytes| u32::try_from(bytes.len())).map_err(io::Error::other)?;
    let bytes = bytes.unwrap_or_default();
    let mut frame = Vec::with_capacity(8 + bytes.len());
    frame.extend(code.to_le_bytes());
    frame.extend(length.to_le_bytes());
    frame.extend(bytes);
    to.write_all(&frame)
}
