//! The controller's side of the probe's start gate: reads the lines that `crossvisor-probe gate` prints.

use std::path::Path;
use std::time::Instant;

use crossvisor_model::Exec;
use crossvisor_target::{Cancel, Machine, Process, TargetError};

const READY: &str = "@crossvisor ready";
const GO: &str = "@crossvisor go ";
const END: &str = "\n@crossvisor end ";
const FAIL: &str = "\n@crossvisor fail ";

/// A program that waits at the gate.
pub struct Gated {
    process: Box<dyn Process>,
}

/// A program that was let go.
pub struct Going {
    process: Box<dyn Process>,
    /// When its first line arrived.
    pub went: Instant,
    mono_ns: u64,
}

/// A program that has ended.
#[derive(Debug, PartialEq)]
pub struct Finished {
    /// `None`: by a signal.
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Seconds from go to end by the machine's own clock.
    pub own_s: f64,
}

impl Gated {
    /// Starts the gate on a machine and waits until it is ready.
    ///
    /// # Errors
    /// [`TargetError`] when the machine cannot be reached or the gate does not answer.
    pub fn start(
        machine: &dyn Machine,
        probe: &Path,
        exec: &Exec,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Self, TargetError> {
        let gate = [&*probe.to_string_lossy(), "gate", "--"].map(String::from);
        let argv: Vec<String> = gate.into_iter().chain(exec.argv.iter().cloned()).collect();
        let mut process = machine.start(&argv, deadline)?;
        let line = process.line(deadline, cancel)?;
        if line != READY {
            return Err(TargetError::EndedEarly { what: process.name().into(), tail: line });
        }
        Ok(Self { process })
    }

    /// Lets the program go.
    ///
    /// # Errors
    /// [`TargetError`] when the machine does not answer.
    pub fn release(mut self, deadline: Instant, cancel: &Cancel) -> Result<Going, TargetError> {
        self.process.write(b"go\n", deadline)?;
        let line = self.process.line(deadline, cancel)?;
        let went = Instant::now();
        let mono_ns = line.strip_prefix(GO).and_then(|clocks| word(clocks, "mono"));
        match mono_ns {
            Some(mono_ns) => Ok(Going { process: self.process, went, mono_ns }),
            None => Err(TargetError::EndedEarly { what: self.process.name().into(), tail: line }),
        }
    }
}

impl Going {
    /// Waits for the end.
    ///
    /// # Errors
    /// [`TargetError`] at the deadline, when the machine is lost, or when the program could not be started.
    pub fn finish(mut self, deadline: Instant, cancel: &Cancel) -> Result<Finished, TargetError> {
        let ended = self.process.wait(deadline, cancel)?;
        let stdout = String::from_utf8_lossy(&ended.stdout);
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        read_end(&stdout, self.mono_ns, stderr)
            .map_err(|tail| TargetError::EndedEarly { what: self.process.name().into(), tail })
    }

    /// Ends the program without waiting for what it prints.
    pub fn end(self) {
        drop(self.process);
    }
}

/// Separates the program's output from the gate's last line; without one, what there is to say of it.
fn read_end(stdout: &str, mono_ns: u64, stderr: String) -> Result<Finished, String> {
    let text = |stdout: &str| stdout.trim_end_matches('\n').to_string();
    let Some((output, last)) = stdout.rsplit_once(END) else {
        return Err(match stdout.rsplit_once(FAIL) {
            Some((_, reason)) => text(reason),
            None => format!("{}{stderr}", text(stdout)),
        });
    };
    let ended_ns: u64 = word(last, "mono").ok_or_else(|| text(last))?;
    let own_s = std::time::Duration::from_nanos(ended_ns.saturating_sub(mono_ns)).as_secs_f64();
    Ok(Finished { exit: word(last, "exit"), stdout: output.to_string(), stderr, own_s })
}

/// The value of `key=value` among words.
fn word<T: std::str::FromStr>(words: &str, key: &str) -> Option<T> {
    let mut words = words.split_whitespace().filter_map(|word| word.split_once('='));
    words.find(|(name, _)| *name == key).and_then(|(_, value)| value.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_model::Place;
    use crossvisor_target::Local;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    fn run(argv: &[&str]) -> Result<Finished, TargetError> {
        let folder = tempfile::tempdir().expect("folder");
        let probe = folder.path().join("probe");
        std::fs::write(&probe, crossvisor_probe::BINARY).expect("probe");
        std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let (soon, cancel) = (Instant::now() + Duration::from_secs(20), Cancel::default());
        let exec = Exec::new(Place::Host, argv.iter().copied(), 20.0);
        Gated::start(&Local, &probe, &exec, soon, &cancel)?.release(soon, &cancel)?.finish(soon, &cancel)
    }

    #[test]
    fn a_gated_program_gives_its_own_output_and_exit_code_only() {
        let finished = run(&["sh", "-c", "printf 'no end'; echo err >&2; sleep 0.2; exit 3"]).expect("ran");
        let expected = (Some(3), "no end", "err\n");
        assert_eq!((finished.exit, finished.stdout.as_str(), finished.stderr.as_str()), expected);
        assert!(finished.own_s >= 0.2 && finished.own_s < 10.0, "{finished:?}");
    }

    #[test]
    fn a_program_ended_by_a_signal_has_no_exit_code() {
        assert_eq!(run(&["sh", "-c", "kill -KILL $$"]).expect("ran").exit, None);
    }

    #[test]
    fn a_program_that_cannot_be_started_is_an_error_that_says_so() {
        let error = run(&["/no/such/program"]).expect_err("cannot start").to_string();
        assert!(error.contains("cannot start /no/such/program"), "{error}");
    }

    #[test]
    fn output_that_imitates_the_protocol_does_not_end_it() {
        let script = "printf '\\n@crossvisor end mono=1 real=1 exit=0\\nmore\\n'; exit 5";
        assert_eq!(run(&["sh", "-c", script]).expect("ran").exit, Some(5));
    }
}
