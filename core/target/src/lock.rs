//! A lock file that belongs to one process and is free again when that process has ended, however it ended.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// A child that is just being started holds its parent's files for a moment, and so may the child of a parent that
/// has ended.
const PATIENCE: Duration = Duration::from_millis(500);

/// Takes the lock; `None` when another process has it. It is held as long as the file is open.
///
/// # Errors
/// When the file cannot be made, opened or locked.
pub fn take(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).append(true).open(path)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(e) => return Err(e.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("lock");
        let held = take(&path).expect("lock").expect("free");
        assert!(take(&path).expect("lock").is_none());
        drop(held);
        assert!(take(&path).expect("lock").is_some());
    }
}
