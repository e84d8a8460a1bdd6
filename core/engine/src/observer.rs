//! Somebody who watches a run.

use crossvisor_model::Stamped;

/// Told of every event as it happens, from several threads.
pub trait Observer: Sync {
    fn event(&self, event: &Stamped);
}
