//! A program that a test has started. It never outlives the test.

use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// After an interrupt a run removes what it has made.
const REMOVAL: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(100);

/// A started program: interrupted when this is dropped, and killed when that does not end it.
pub struct Running(Option<Child>);

impl Running {
    /// # Panics
    /// When the program cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"))))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it was not waited for")
    }

    pub fn id(&mut self) -> u32 {
        self.child().id()
    }

    /// # Panics
    /// When the system does not tell.
    pub fn has_ended(&mut self) -> bool {
        self.child().try_wait().expect("wait").is_some()
    }

    /// Sends it Ctrl-C.
    ///
    /// # Panics
    /// When it has ended.
    pub fn interrupt(&mut self) {
        kill_process(Pid::from_child(self.child()), Signal::INT).expect("interrupt");
    }

    /// Kills it, so that it can do nothing more.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(mut self) {
        self.end_at_once();
    }

    fn end_at_once(&mut self) {
        self.child().kill().expect("kill -9");
        self.child().wait().expect("dead");
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(TICK);
        }
        true
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it has not ended within the limit, with what it said.
    #[must_use]
    pub fn wait(mut self, limit: Duration) -> Output {
        let in_time = self.ends_within(limit);
        if !in_time {
            self.stop();
        }
        let output = self.0.take().expect("child").wait_with_output().expect("output");
        assert!(in_time, "not done in {limit:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn stop(&mut self) {
        self.interrupt();
        if !self.ends_within(REMOVAL) {
            self.end_at_once();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.is_some() && !self.has_ended() {
            self.stop();
        }
    }
}
