//! What the host grants a plugin: the numbers of the contract.
//!
//! Owns the numbers. It must never enforce one.

use std::time::Duration;

/// The longest reply that is taken, in bytes.
pub const REPLY_BYTES: usize = 16 << 20;
/// The longest manifest that is taken, in bytes.
pub const MANIFEST_BYTES: usize = 1 << 20;
/// The turns after which an operation that is not done has failed.
pub const TURNS: usize = 100;
/// How long the start of a plugin's process and each call may take there.
pub const CALL: Duration = Duration::from_secs(10);
/// Address space of a plugin's process, in bytes.
pub const MEMORY_BYTES: u64 = 1 << 30;
/// Open files of a plugin's process.
pub const OPEN_FILES: u64 = 64;
