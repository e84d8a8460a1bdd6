//! A request to stop, seen by everything that waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::TargetError;

/// How often a wait looks whether it should stop.
pub const TICK: Duration = Duration::from_millis(50);

/// Shared by all that belongs together; raised at most once.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    raised: Arc<AtomicBool>,
    parent: Option<Arc<Self>>,
}

impl Cancel {
    /// One for a part of the work: raised by itself or with this one, and never the other way round.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { raised: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }

    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
    }

    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst) || self.parent.as_ref().is_some_and(|parent| parent.is_raised())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_stops_with_its_parent_and_alone() {
        let run = Cancel::default();
        let (one, other) = (run.child(), run.child());
        one.raise();
        assert!(one.is_raised() && one.child().is_raised());
        assert!(!other.is_raised() && !run.is_raised());
        run.raise();
        assert!(other.child().is_raised());
    }
}
