//! Programs on this machine: children in process groups of their own, ended with all they started.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::machine::{Ended, Machine, Process};
use crate::{Cancel, TargetError, cancel};

/// How long a program may take to end by itself once its standard input is closed.
const PATIENCE: Duration = Duration::from_millis(500);

/// Between looks at a program that has closed its output.
const ENDING: Duration = Duration::from_millis(1);

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Machine for Local {
    fn start(&self, argv: &[String], _: Instant) -> Result<Box<dyn Process>, TargetError> {
        let (program, arguments) = argv.split_first().ok_or_else(|| TargetError::Start {
            program: String::new(),
            source: ErrorKind::InvalidInput.into(),
        })?;
        let mut child = Command::new(program)
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| TargetError::Start { program: program.clone(), source })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let process = LocalProcess { child, stdout, stderr, printed: Ended::default(), name: argv.join(" ") };
        process.set_nonblocking()?;
        Ok(Box::new(process))
    }
}

/// The search path with the folders of system programs, which an ordinary user's lacks on Debian.
fn path() -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin");
    path
}

struct LocalProcess {
    child: Child,
    /// `None` once the program has closed it.
    stdout: Option<std::process::ChildStdout>,
    stderr: Option<std::process::ChildStderr>,
    printed: Ended,
    name: String,
}

impl LocalProcess {
    fn set_nonblocking(&self) -> Result<(), TargetError> {
        let set = |fd: std::os::fd::BorrowedFd<'_>| {
            let flags = rustix::fs::fcntl_getfl(fd)?;
            rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)
        };
        let fds = [
            self.child.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        for fd in fds.into_iter().flatten() {
            set(fd).map_err(|e| TargetError::io(&self.name)(e.into()))?;
        }
        Ok(())
    }

    /// Moves what has been printed so far.
    fn take(&mut self) -> std::io::Result<()> {
        take(&mut self.stdout, &mut self.printed.stdout)?;
        take(&mut self.stderr, &mut self.printed.stderr)
    }

    /// Ends the program: a closed standard input lets one that controls others end them first.
    fn end(&mut self) {
        self.child.stdin = None;
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        if let Some(group) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or_default()) {
            // Gone already: nothing to end.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Reads what is there, and lets go of a pipe whose other end is closed.
fn take(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) -> std::io::Result<()> {
    if let Some(open) = pipe
        && !drain(open, into)?
    {
        *pipe = None;
    }
    Ok(())
}

/// Reads what is there; true while the other end may still write.
fn drain(from: &mut impl Read, into: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut chunk = [0; 1 << 16];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(read) => into.extend_from_slice(&chunk[..read]),
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

impl Process for LocalProcess {
    fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<(), TargetError> {
        let name = self.name.clone();
        while !bytes.is_empty() {
            let Some(stdin) = &mut self.child.stdin else { break };
            match stdin.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                // It does not want its input; its exit code tells why.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => break,
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    self.pump(Duration::from_millis(5))?;
                    Cancel::default().check(deadline, &name)?;
                }
                Err(e) => return Err(TargetError::io(name)(e)),
            }
        }
        Ok(())
    }

    fn close_stdin(&mut self) -> Result<(), TargetError> {
        self.child.stdin = None;
        Ok(())
    }

    fn pump(&mut self, wait: Duration) -> Result<bool, TargetError> {
        let open = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let fds = [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd)];
        let mut fds: Vec<_> = fds.into_iter().flatten().map(open).collect();
        // A program that has closed both is about to end, which no descriptor tells.
        let wait = if fds.is_empty() { ENDING } else { wait.min(cancel::TICK) };
        let timeout = rustix::time::Timespec::try_from(wait).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(TargetError::io(&self.name)(e.into())),
        }
        self.take().map_err(TargetError::io(&self.name))?;
        let Some(status) = self.child.try_wait().map_err(TargetError::io(&self.name))? else {
            return Ok(false);
        };
        // A grandchild may hold the pipes open after the end: what is there by now is what it printed.
        self.take().map_err(TargetError::io(&self.name))?;
        self.printed.exit = status.code();
        Ok(true)
    }

    fn printed(&mut self) -> &mut Ended {
        &mut self.printed
    }

    fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for LocalProcess {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_model::{Exec, Place};

    fn run(argv: &[&str], stdin: &str, timeout_s: f64) -> Result<crossvisor_model::ExecResult, TargetError> {
        let mut exec = Exec::new(Place::Host, argv.iter().copied(), timeout_s);
        exec.stdin = Some(stdin.into());
        Local.run(&exec, &Cancel::default())
    }

    #[test]
    fn a_program_gets_its_input_and_gives_its_output_and_exit_code() {
        let text = "x".repeat(1 << 20);
        let result = run(&["sh", "-c", "cat; echo oops >&2; exit 3"], &text, 20.0).expect("ran");
        assert_eq!((result.exit, result.stdout.len(), result.stderr.as_str()), (Some(3), 1 << 20, "oops\n"));
    }

    #[test]
    fn a_program_that_does_not_read_its_input_is_not_an_error() {
        let result = run(&["true"], &"x".repeat(1 << 20), 20.0).expect("ran");
        assert_eq!(result.exit, Some(0));
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_its_children() {
        let folder = tempfile::tempdir().expect("folder");
        let pid = folder.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", pid.display());
        assert!(matches!(run(&["sh", "-c", &script], "", 0.5), Err(TargetError::Deadline { .. })));
        let pid: i32 = std::fs::read_to_string(pid).expect("pid").trim().parse().expect("number");
        let pid = Pid::from_raw(pid).expect("pid");
        let deadline = Instant::now() + Duration::from_secs(5);
        while rustix::process::test_kill_process(pid).is_ok() && is_alive(pid) {
            assert!(Instant::now() < deadline, "the grandchild lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// False for a zombie that nobody has collected.
    fn is_alive(pid: Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn an_interrupted_run_ends_its_program() {
        let cancel = Cancel::default();
        cancel.raise();
        let exec = Exec::new(Place::Host, ["sleep", "60"], 60.0);
        assert!(matches!(Local.run(&exec, &cancel), Err(TargetError::Cancelled { .. })));
    }

    #[test]
    fn more_output_than_is_taken_ends_a_program() {
        let error = run(&["yes"], "", 120.0).expect_err("endless");
        assert!(matches!(error, TargetError::TooMuchOutput { .. }), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&["no-such-program-here"], "", 5.0).expect_err("missing");
        assert!(error.to_string().contains("no-such-program-here"), "{error}");
    }

    #[test]
    fn a_file_is_put_with_its_mode() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("file");
        let soon = Instant::now() + Duration::from_secs(10);
        Local.put(b"content", &path, "750", soon).expect("put");
        assert_eq!(std::fs::read(&path).expect("file"), b"content");
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().expect("metadata").permissions());
        assert_eq!(mode & 0o777, 0o750);
    }
}
