//! What a plugin in a process of its own may use.
//!
//! Owns giving up rights in the process that is to run the plugin. It must never be called in
//! the process of a run: what is given up cannot be had again.

use std::time::Duration;

use crossvisor_plugin::limits::{CALL, MEMORY_BYTES, OPEN_FILES};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{Gid, Uid};

/// Limits of one plugin that runs in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long its start and each call may take.
    pub call: Duration,
    /// Bytes of address space.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { call: CALL, memory_bytes: MEMORY_BYTES }
    }
}

/// User and group `nobody`, by the number the kernel itself has for them.
const NOBODY: u32 = 65534;

/// Gives up everything a plugin does not need: memory beyond the limit, writing to files, core dumps, and for
/// root to be root.
pub(crate) fn confine(memory_bytes: u64) -> Result<(), String> {
    let limits = [
        (Resource::As, memory_bytes),
        (Resource::Core, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, 0),
    ];
    for (resource, wanted) in limits {
        let lowest = getrlimit(resource).maximum.map_or(wanted, |most| most.min(wanted));
        let limit = Rlimit { current: Some(lowest), maximum: Some(lowest) };
        setrlimit(resource, limit).map_err(|e| format!("cannot limit {resource:?} to {lowest}: {e}"))?;
    }
    if rustix::process::geteuid().is_root() {
        become_nobody().map_err(|e| format!("cannot become the user nobody ({NOBODY}): {e}"))?;
    }
    rustix::thread::set_no_new_privs(true).map_err(|e| format!("cannot give up new privileges: {e}"))
}

/// Only the calling thread changes, and the process must have no other.
fn become_nobody() -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}
