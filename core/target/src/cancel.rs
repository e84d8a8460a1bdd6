//! A request to stop, seen by everything that waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::TargetError;

/// How often a wait looks whether it should stop.
pub const TICK: Duration = Duration::from_millis(50);

/// Shared by all that belongs to one run; raised at most once.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// # Errors
    /// [`TargetError::Cancelled`] once it is raised, [`TargetError::Deadline`] once `deadline` has passed;
    /// `what` is named in the message.
    pub fn check(&self, deadline: Instant, what: &str) -> Result<(), TargetError> {
        if self.is_raised() {
            return Err(TargetError::Cancelled { what: what.into() });
        }
        if Instant::now() >= deadline {
            return Err(TargetError::Deadline { what: what.into() });
        }
        Ok(())
    }
}
