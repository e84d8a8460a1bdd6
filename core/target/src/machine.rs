//! A machine that runs programs, whatever the way to it, and a program that runs on it.

use std::path::Path;
use std::time::{Duration, Instant};

use crossvisor_model::{Exec, ExecResult};
use serde::de::DeserializeOwned;

use crate::{Cancel, TargetError, cancel};

/// A program that prints more than this is ended.
pub const OUTPUT_LIMIT: usize = 64 << 20;

/// Somewhere programs run.
pub trait Machine: Send + Sync {
    /// Starts a program with a standard input that stays open.
    ///
    /// # Errors
    /// [`TargetError`] when the machine cannot be reached or the program cannot be started.
    fn start(&self, argv: &[String], deadline: Instant) -> Result<Box<dyn Process>, TargetError>;

    /// Runs a program to its end. An exit code is not judged here.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be started, does not end in time, or the run is interrupted.
    fn run(&self, exec: &Exec, cancel: &Cancel) -> Result<ExecResult, TargetError> {
        let began = Instant::now();
        let deadline = began + Duration::from_secs_f64(exec.timeout_s);
        let mut process = self.start(&exec.argv, deadline)?;
        process.write(exec.stdin.as_deref().unwrap_or_default().as_bytes(), deadline)?;
        process.close_stdin()?;
        let ended = process.wait(deadline, cancel)?;
        Ok(ExecResult {
            exit: ended.exit,
            stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
            wall_s: began.elapsed().as_secs_f64(),
        })
    }

    /// Writes a whole file with this mode (octal text, `755`), through a program on the machine.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be written.
    fn put(&self, content: &[u8], path: &Path, mode: &str, deadline: Instant) -> Result<(), TargetError> {
        let what = format!("write {}", path.display());
        let argv = ["install", "-m", mode, "/dev/stdin", &path.to_string_lossy()].map(String::from);
        let mut process = self.start(&argv, deadline)?;
        process.write(content, deadline)?;
        process.close_stdin()?;
        let ended = process.wait(deadline, &Cancel::default())?;
        match ended.exit {
            Some(0) => Ok(()),
            _ => Err(TargetError::EndedEarly { what, tail: String::from_utf8_lossy(&ended.stderr).into() }),
        }
    }

    /// A whole file, of [`OUTPUT_LIMIT`] at most.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be read.
    fn read(&self, path: &Path, deadline: Instant) -> Result<Vec<u8>, TargetError> {
        output(self, &["cat", "--", &path.to_string_lossy()], deadline)
    }

    /// The last `bytes` of a file, or all of a shorter one.
    ///
    /// # Errors
    /// [`TargetError`] when it cannot be read.
    fn read_end(&self, path: &Path, bytes: u32, deadline: Instant) -> Result<Vec<u8>, TargetError> {
        output(self, &["tail", "-c", &bytes.to_string(), "--", &path.to_string_lossy()], deadline)
    }
}

/// A JSON file of a machine.
///
/// # Errors
/// [`TargetError`] when it cannot be read or is something else.
pub fn read_json<T: DeserializeOwned>(
    machine: &dyn Machine,
    path: &Path,
    deadline: Instant,
) -> Result<T, TargetError> {
    let wrong = |e: serde_json::Error| TargetError::io(format!("understand {}", path.display()))(e.into());
    serde_json::from_slice(&machine.read(path, deadline)?).map_err(wrong)
}

/// What a program prints that must succeed.
fn output(
    machine: &(impl Machine + ?Sized),
    argv: &[&str],
    deadline: Instant,
) -> Result<Vec<u8>, TargetError> {
    let argv: Vec<String> = argv.iter().map(|argument| (*argument).to_string()).collect();
    let mut process = machine.start(&argv, deadline)?;
    process.close_stdin()?;
    let ended = process.wait(deadline, &Cancel::default())?;
    match ended.exit {
        Some(0) => Ok(ended.stdout),
        _ => Err(TargetError::EndedEarly {
            what: argv.join(" "),
            tail: String::from_utf8_lossy(&ended.stderr).trim().into(),
        }),
    }
}

/// What a program left.
#[derive(Debug, Default)]
pub struct Ended {
    /// `None`: by a signal.
    pub exit: Option<i32>,
    /// What [`Process::line`] has not taken.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// A running program. Dropping it ends it as far as the way to its machine allows: its standard input closes.
pub trait Process: Send {
    /// # Errors
    /// [`TargetError`] when the program does not take its input in time.
    fn write(&mut self, bytes: &[u8], deadline: Instant) -> Result<(), TargetError>;

    /// # Errors
    /// [`TargetError`] when the connection is gone.
    fn close_stdin(&mut self) -> Result<(), TargetError>;

    /// Moves what has been printed into [`Process::printed`], waiting up to `wait` for something to happen.
    /// Returns true once the program has ended and all it printed has been moved.
    ///
    /// # Errors
    /// [`TargetError`] when the connection is gone.
    fn pump(&mut self, wait: Duration) -> Result<bool, TargetError>;

    /// What has been printed and not yet taken; `exit` once it has ended.
    fn printed(&mut self) -> &mut Ended;

    /// The program, for messages.
    fn name(&self) -> &str;

    /// The next line of standard output, without its end.
    ///
    /// # Errors
    /// [`TargetError`] when the program ends first, at the deadline, or when the run is interrupted.
    fn line(&mut self, deadline: Instant, cancel: &Cancel) -> Result<String, TargetError> {
        loop {
            let ended = self.pump(cancel::TICK)?;
            let printed = self.printed();
            if let Some(end) = printed.stdout.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = printed.stdout.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            let what = self.name().to_string();
            if ended {
                let printed = self.printed();
                let tail =
                    String::from_utf8_lossy(&[&*printed.stdout, &*printed.stderr].concat()).into_owned();
                return Err(TargetError::EndedEarly { what, tail });
            }
            cancel.check(deadline, &what)?;
        }
    }

    /// Waits for the end and takes all that was printed.
    ///
    /// # Errors
    /// [`TargetError`] at the deadline, when the run is interrupted, or for more than [`OUTPUT_LIMIT`] of output.
    fn wait(&mut self, deadline: Instant, cancel: &Cancel) -> Result<Ended, TargetError> {
        while !self.pump(cancel::TICK)? {
            let what = self.name().to_string();
            let printed = self.printed();
            if printed.stdout.len() + printed.stderr.len() > OUTPUT_LIMIT {
                return Err(TargetError::TooMuchOutput { what, limit: OUTPUT_LIMIT });
            }
            cancel.check(deadline, &what)?;
        }
        Ok(std::mem::take(self.printed()))
    }
}
