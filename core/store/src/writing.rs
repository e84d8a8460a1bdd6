//! The lock that tells whether a run directory is being written, to whoever may read it.
//!
//! Owns the lock on the file of events. The process that writes the run holds it until it ends, however it ends.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::StoreError;
use crate::lines::Lines;

const EVENTS: &str = "events.jsonl";

/// Who looks has the lock for a moment, and so may a child that is just being started.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Opens the events of a run directory and takes the lock, for as long as they are open.
///
/// # Errors
/// [`StoreError::Busy`] when another process writes the run, [`StoreError::Io`].
pub(crate) fn begin(directory: &Path) -> Result<Lines, StoreError> {
    let path = directory.join(EVENTS);
    let events = Lines::open(&path)?;
    for _ in 0..TRIES {
        match flock(events.file(), FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => sleep(PAUSE),
            Err(e) => return Err(StoreError::io("lock", &path)(e.into())),
            Ok(()) => return Ok(events),
        }
    }
    Err(StoreError::Busy(directory.into()))
}

/// Whether a process of this machine writes the run in `directory` now.
///
/// # Errors
/// [`StoreError::Io`] when its events cannot be opened or the file system has no locks.
pub fn is_written(directory: &Path) -> Result<bool, StoreError> {
    let path = directory.join(EVENTS);
    let events = match File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(StoreError::io("open", &path))?,
    };
    match flock(&events, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(e) => Err(StoreError::io("lock", &path)(e.into())),
        Ok(()) => Ok(false),
    }
}
