//! The run's log: every event gets its time, goes to the run directory and to whoever watches.

use std::time::{Duration, Instant};

use crossvisor_model::{Event, Stamped, Window};
use crossvisor_store::RunDirectory;

use crate::{EngineError, Observer};

/// Where events go, and the clock they are stamped by.
pub struct Log<'a> {
    began: Instant,
    directory: &'a RunDirectory,
    observer: &'a dyn Observer,
}

impl<'a> Log<'a> {
    /// `after_s` is how long the run lasted until it stopped, where it goes on: its clock goes on too.
    pub fn new(directory: &'a RunDirectory, observer: &'a dyn Observer, after_s: f64) -> Self {
        let now = Instant::now();
        let began = now.checked_sub(Duration::from_secs_f64(after_s)).unwrap_or(now);
        Self { began, directory, observer }
    }

    pub fn directory(&self) -> &RunDirectory {
        self.directory
    }

    /// Seconds from the start of the run to `moment`.
    pub fn at(&self, moment: Instant) -> f64 {
        moment.saturating_duration_since(self.began).as_secs_f64()
    }

    pub fn window(&self, start: Instant, end: Instant) -> Window {
        Window { start_s: self.at(start), end_s: self.at(end) }
    }

    /// Tells an event.
    ///
    /// # Errors
    /// [`EngineError::Store`] when the disk does not take it.
    pub fn tell(&self, event: Event) -> Result<(), EngineError> {
        let stamped = Stamped { at_s: self.at(Instant::now()), event };
        self.observer.event(&stamped);
        Ok(self.directory.event(&stamped)?)
    }

    /// Tells an event that only a watcher needs: it is not worth a failure.
    pub fn show(&self, event: Event) {
        let stamped = Stamped { at_s: self.at(Instant::now()), event };
        self.observer.event(&stamped);
        // The run directory may be full; what must be kept is kept by `tell`.
        let _ = self.directory.event(&stamped);
    }
}
