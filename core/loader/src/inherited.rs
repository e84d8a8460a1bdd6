//! What a plugin's process inherited without being meant to.
//!
//! Owns closing it. It must never be called once the process has opened anything of its own.

#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::Path;

/// Closes every open file but standard input, output and error, and `kept`.
pub(crate) fn close_all_but(kept: RawFd) -> io::Result<()> {
    let folder = Path::new("/proc/self/fd");
    let numbers: Vec<RawFd> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2 && *number != kept)
        .collect();
    for number in numbers {
        // The one the folder was read by is closed already.
        if folder.join(number.to_string()).symlink_metadata().is_ok() {
            // SAFETY: it is open, and nothing in this process owns it: it came from whoever started the process.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
    Ok(())
}
