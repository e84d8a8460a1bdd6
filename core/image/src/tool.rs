//! The programs that make an image: run one, tell its progress, keep its last words, end it when asked to.
//!
//! Owns child processes. It must never give a program a shell line, nor signal a process it did not start.

use std::collections::VecDeque;
use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use crate::ImageError;

/// Lines of a failed program that are kept for the error.
const TAIL: usize = 20;
/// How long a program may take to clean up after itself before it is killed.
const GRACE: Duration = Duration::from_secs(10);
/// Where programs are that a normal user's PATH may lack.
const SYSTEM: [&str; 2] = ["/usr/sbin", "/sbin"];

/// How far a build is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// `download and install packages`, `make the file system` …
    pub stage: &'static str,
    /// What the program says.
    pub line: String,
    /// Share (0..=1) of the whole build that is done, where it is known.
    pub fraction: Option<f64>,
}

/// What a build tells, and is told.
pub(crate) struct Watch<'a> {
    pub progress: &'a mut dyn FnMut(Progress),
    pub cancelled: &'a dyn Fn() -> bool,
}

impl Watch<'_> {
    /// Tells a line; an error when the build is to end.
    pub(crate) fn tell(
        &mut self,
        stage: &'static str,
        line: String,
        fraction: Option<f64>,
    ) -> Result<(), ImageError> {
        (self.progress)(Progress { stage, line, fraction });
        if (self.cancelled)() { Err(ImageError::Interrupted) } else { Ok(()) }
    }
}

pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// The program, as root: for a normal user, as root of a user namespace of their own.
pub(crate) fn as_root(program: &str) -> Command {
    if is_root() {
        return command(program);
    }
    let mut command = command("unshare");
    command.args(["--map-root-user", "--map-auto", "--", program]);
    command
}

/// The program, found also where only root's PATH leads.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let own = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&own).chain(SYSTEM.map(Into::into));
    if let Ok(path) = env::join_paths(folders) {
        command.env("PATH", path);
    }
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// # Errors
/// [`ImageError::Missing`] when the program is in no folder of PATH or of the system.
pub(crate) fn need(program: &'static str, package: &'static str) -> Result<(), ImageError> {
    let own = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&own).chain(SYSTEM.map(Into::into));
    if folders.any(|folder| folder.join(program).is_file()) {
        Ok(())
    } else {
        Err(ImageError::Missing { program, package })
    }
}

/// Runs a program to its end in `folder`; `share` gives the fraction done for a line of its.
pub(crate) fn run(
    command: &mut Command,
    folder: &Path,
    stage: &'static str,
    watch: &mut Watch<'_>,
    share: &dyn Fn(&str) -> Option<f64>,
) -> Result<(), ImageError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |status: String, tail: &VecDeque<String>| ImageError::Failed {
        stage,
        program: program.clone(),
        status,
        tail: tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n"),
    };
    let mut tail = VecDeque::new();
    command.current_dir(folder).stdin(Stdio::null()).process_group(0);
    let (mut child, lines) = start(command).map_err(|e| failed(e.to_string(), &tail))?;
    let lifeline = Lifeline::tie(&child);
    let _lifeline = lifeline.map_err(|e| failed(e.to_string(), &tail)).inspect_err(|_| end(&mut child))?;
    let mut done = None;
    let status = loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => {
                done = share(&line).or(done);
                watch.tell(stage, line.clone(), done).inspect_err(|_| end(&mut child))?;
                tail.push_back(line);
                tail.drain(..tail.len().saturating_sub(TAIL));
            }
            Err(RecvTimeoutError::Timeout) if (watch.cancelled)() => {
                end(&mut child);
                return Err(ImageError::Interrupted);
            }
            // What a program leaves running may keep its output open: its own end is what counts.
            Err(RecvTimeoutError::Timeout) => match child.try_wait() {
                Ok(None) => {}
                ended => break ended.map(Option::unwrap_or_default),
            },
            Err(RecvTimeoutError::Disconnected) => break child.wait(),
        }
    };
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string(), &tail)),
        Err(error) => Err(failed(error.to_string(), &tail)),
    }
}

/// Ends a program's process group when this process is gone, however it went: a shell waits for the end of a pipe
/// that only this process holds.
struct Lifeline(Child);

impl Lifeline {
    fn tie(child: &Child) -> io::Result<Self> {
        let script = r#"cat >/dev/null; kill -s KILL -- "-$1""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh", &child.id().to_string()]).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().map(Self)
    }
}

impl Drop for Lifeline {
    /// The program has ended: its number may be another's soon.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _: io::Result<ExitStatus> = self.0.wait();
    }
}

/// Both outputs come through one pipe, so that their lines keep their order.
fn start(command: &mut Command) -> io::Result<(Child, mpsc::Receiver<String>)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    let child = command.stdout(write.try_clone()?).stderr(write).spawn();
    // The command's own ends are closed, or the pipe would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (send, receive) = mpsc::channel();
    let child = child?;
    std::thread::spawn(move || pass(File::from(read), &send));
    Ok((child, receive))
}

fn pass(pipe: File, send: &Sender<String>) {
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        let text = String::from_utf8_lossy(&line);
        let last = text.trim_end().rsplit('\r').next().unwrap_or_default();
        if !last.is_empty() && send.send(last.into()).is_err() {
            return;
        }
    }
}

/// Ends a program and all it started: first politely, so that it cleans up, then for sure.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = |signal| group.map(|group| kill_process_group(group, signal));
    let _ = signal(Signal::TERM);
    let start = Instant::now();
    while matches!(child.try_wait(), Ok(None)) && start.elapsed() < GRACE {
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = signal(Signal::KILL);
    let _: Result<ExitStatus, _> = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_run(argv: &[&str], cancelled: &dyn Fn() -> bool) -> (Result<(), ImageError>, Vec<Progress>) {
        let mut told = Vec::new();
        let mut progress = |p| told.push(p);
        let mut watch = Watch { progress: &mut progress, cancelled };
        let share = |line: &str| (line == "half").then_some(0.5);
        let mut program = command(argv[0]);
        let result = run(program.args(&argv[1..]), Path::new("/"), "try", &mut watch, &share);
        (result, told)
    }

    #[test]
    fn every_line_is_told_and_the_fraction_stays_until_the_next() {
        let (result, told) = try_run(&["printf", "one\\nhalf\\n50%%\\r60%%\\n\\nlast"], &|| false);
        assert!(result.is_ok(), "{result:?}");
        let told: Vec<_> = told.iter().map(|p| (p.line.as_str(), p.fraction)).collect();
        assert_eq!(told, [("one", None), ("half", Some(0.5)), ("60%", Some(0.5)), ("last", Some(0.5))]);
    }

    #[test]
    fn a_failure_carries_the_last_words() {
        let text = try_run(&["sh", "-c", "seq 100; echo no such mirror >&2; exit 3"], &|| false).0;
        let text = text.expect_err("exit 3").to_string();
        assert!(text.starts_with("cannot try: sh failed with exit status: 3"), "{text}");
        assert!(
            text.contains("no such mirror") && text.contains("\n100") && !text.contains("\n50\n"),
            "{text}"
        );
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let text = need("no-such-program", "some-package").expect_err("missing").to_string();
        assert_eq!(text, "program no-such-program is not installed: apt install some-package");
        assert!(need("sh", "dash").is_ok());
    }

    #[test]
    fn a_cancelled_program_is_ended_with_what_it_started() {
        let start = Instant::now();
        let (result, told) =
            try_run(&["sh", "-c", "sleep 60 & echo $!; wait"], &|| start.elapsed().as_millis() > 300);
        assert!(matches!(result, Err(ImageError::Interrupted)));
        assert!(start.elapsed() < Duration::from_secs(5));
        let sleeper = Path::new("/proc").join(&told[0].line).join("stat");
        let lives = || std::fs::read_to_string(&sleeper).is_ok_and(|state| !state.contains(") Z "));
        while lives() && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!lives());
    }
}
