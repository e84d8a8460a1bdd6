//! The controller's side of the probe's start gate: reads the lines that `crossvisor-probe gate` prints.

use std::path::Path;
use std::time::{Duration, Instant};

use crossvisor_model::Exec;
use crossvisor_target::{Cancel, Machine, Process, TargetError};

const READY: &str = "@crossvisor ready";
const CLOCK: &str = "@crossvisor clock ";
const GO: &str = "@crossvisor go ";
const END: &str = "\n@crossvisor end ";
const FAIL: &str = "\n@crossvisor fail ";

/// Questions for the clock: the quickest answer counts.
const QUESTIONS: usize = 5;

/// A program that waits at the gate.
pub struct Gated {
    process: Box<dyn Process>,
}

/// A program that waits at the gate, on a machine whose clock is known.
pub struct Aligned {
    process: Box<dyn Process>,
    /// One moment by our clock and by the machine's.
    here: Instant,
    there_ns: u64,
    /// By which the two may be off at most.
    pub error: Duration,
}

/// A program that was let go.
pub struct Going {
    process: Box<dyn Process>,
    /// When it went: by the machine's clock, as our clock has that moment.
    pub went: Instant,
    clocks: Clocks,
}

/// A moment by a machine's clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Clocks {
    mono: u64,
    real: u64,
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
    /// Seconds by which the machine's time of day was set meanwhile.
    pub set_s: f64,
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

    /// Holds the machine's clock against ours: an answer was given between its question and its arrival.
    ///
    /// # Errors
    /// [`TargetError`] when the machine does not answer.
    pub fn align(mut self, deadline: Instant, cancel: &Cancel) -> Result<Aligned, TargetError> {
        let mut best: Option<(Duration, Instant, u64)> = None;
        for _ in 0..QUESTIONS {
            let asked = Instant::now();
            self.process.write(b"clock\n", deadline)?;
            let line = self.process.line(deadline, cancel)?;
            let half = asked.elapsed() / 2;
            let Some(clocks) = Clocks::read(&line, CLOCK) else {
                return Err(unexpected(&*self.process, line));
            };
            if best.is_none_or(|(error, ..)| half < error) {
                best = Some((half, asked + half, clocks.mono));
            }
        }
        match best {
            Some((error, here, there_ns)) => Ok(Aligned { process: self.process, here, there_ns, error }),
            None => Err(unexpected(&*self.process, String::new())),
        }
    }
}

impl Aligned {
    /// Lets the program go at once.
    ///
    /// # Errors
    /// [`TargetError`] when the machine does not answer.
    pub fn release(self, deadline: Instant, cancel: &Cancel) -> Result<Going, TargetError> {
        self.release_at(Instant::now(), deadline, cancel)
    }

    /// Lets the program go at a moment; one that has passed is now.
    ///
    /// # Errors
    /// [`TargetError`] when the machine does not answer.
    pub fn release_at(
        mut self,
        moment: Instant,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Going, TargetError> {
        let ahead = u64::try_from(moment.saturating_duration_since(self.here).as_nanos()).unwrap_or(u64::MAX);
        let line = format!("go at={}\n", self.there_ns.saturating_add(ahead));
        self.process.write(line.as_bytes(), deadline)?;
        let line = self.process.line(deadline, cancel)?;
        let Some(clocks) = Clocks::read(&line, GO) else { return Err(unexpected(&*self.process, line)) };
        let went = self.here + Duration::from_nanos(clocks.mono.saturating_sub(self.there_ns));
        Ok(Going { process: self.process, went, clocks })
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
        read_end(&stdout, self.clocks, stderr)
            .map_err(|tail| TargetError::EndedEarly { what: self.process.name().into(), tail })
    }

    /// Ends the program without waiting for what it prints.
    pub fn end(self) {
        drop(self.process);
    }
}

impl Clocks {
    /// The clocks of a line that begins with `beginning`.
    fn read(line: &str, beginning: &str) -> Option<Self> {
        let words = line.strip_prefix(beginning)?;
        Some(Self { mono: word(words, "mono")?, real: word(words, "real")? })
    }
}

/// A line that the protocol does not have here.
fn unexpected(process: &dyn Process, line: String) -> TargetError {
    TargetError::EndedEarly { what: process.name().into(), tail: line }
}

/// Separates the program's output from the gate's last line; without one, what there is to say of it.
fn read_end(stdout: &str, began: Clocks, stderr: String) -> Result<Finished, String> {
    let text = |stdout: &str| stdout.trim_end_matches('\n').to_string();
    let Some((output, last)) = stdout.rsplit_once(END) else {
        return Err(match stdout.rsplit_once(FAIL) {
            Some((_, reason)) => text(reason),
            None => format!("{}{stderr}", text(stdout)),
        });
    };
    let ended = Clocks::read(last, "").ok_or_else(|| text(last))?;
    let own_s = Duration::from_nanos(ended.mono.saturating_sub(began.mono)).as_secs_f64();
    let real_s = (i128::from(ended.real) - i128::from(began.real)) as f64 / 1e9;
    Ok(Finished {
        exit: word(last, "exit"),
        stdout: output.to_string(),
        stderr,
        own_s,
        set_s: real_s - own_s,
    })
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

    fn run(argv: &[&str]) -> Result<Finished, TargetError> {
        let folder = tempfile::tempdir().expect("folder");
        let probe = folder.path().join("probe");
        std::fs::write(&probe, crossvisor_probe::BINARY).expect("probe");
        std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let (soon, cancel) = (Instant::now() + Duration::from_secs(20), Cancel::default());
        let exec = Exec::new(Place::Host, argv.iter().copied(), 20.0);
        let gated = Gated::start(&Local, &probe, &exec, soon, &cancel)?;
        gated.align(soon, &cancel)?.release(soon, &cancel)?.finish(soon, &cancel)
    }

    #[test]
    fn a_gated_program_gives_its_own_output_and_exit_code_only() {
        let finished = run(&["sh", "-c", "printf 'no end'; echo err >&2; sleep 0.2; exit 3"]).expect("ran");
        let expected = (Some(3), "no end", "err\n");
        assert_eq!((finished.exit, finished.stdout.as_str(), finished.stderr.as_str()), expected);
        assert!(finished.own_s >= 0.2 && finished.own_s < 10.0, "{finished:?}");
        assert!(finished.set_s.abs() < 0.01, "{finished:?}");
    }

    #[test]
    fn a_time_of_day_that_was_set_shows() {
        let began = Clocks { mono: 1_000_000_000, real: 5_000_000_000 };
        let end = |real: u64| {
            read_end(&format!("\n@crossvisor end mono=3000000000 real={real} exit=0\n"), began, String::new())
        };
        let set_s = |real| end(real).map(|finished| (finished.own_s, finished.set_s));
        assert_eq!(set_s(7_000_000_000), Ok((2.0, 0.0)));
        assert_eq!(set_s(4_000_000_000), Ok((2.0, -3.0)));
        assert!(read_end("\n@crossvisor end mono=x\n", began, String::new()).is_err());
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
