//! What is done to machines before they work, so that what is measured is the work alone: page caches and prefill.
//!
//! Owns the programs that do it. It must never run one.

use std::path::Path;

use crossvisor_model::{Bytes, Exec, Place};

/// A machine with much memory to write back takes its time; in seconds.
const WRITE_BACK_S: f64 = 600.0;

/// Writes all back that is in the page cache of a machine, and empties it.
pub fn drop_caches(place: Place) -> Exec {
    Exec::new(place, ["sh", "-c", "sync && echo 3 > /proc/sys/vm/drop_caches"], WRITE_BACK_S)
}

/// Writes so much into a folder and deletes it again, within `timeout_s`. The volume has its blocks from then on, unless
/// the guest gives them back by discards.
pub fn prefill(place: Place, folder: &Path, size: Bytes, timeout_s: f64) -> Exec {
    let count = size.0.div_ceil(Bytes::MIB).to_string();
    let script = "dd if=/dev/zero of=\"$1\" bs=1M count=\"$2\" conv=fsync && rm -- \"$1\"";
    let file = folder.join("crossvisor-prefill");
    Exec::new(place, ["sh", "-c", script, "sh", &*file.to_string_lossy(), &count], timeout_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_target::{Cancel, Local, Machine};

    #[test]
    fn a_prefilled_folder_is_empty_again() {
        let folder = tempfile::tempdir().expect("folder");
        let exec = prefill(Place::Host, folder.path(), Bytes(3 << 20), 20.0);
        let result = Local.run(&exec, &Cancel::default()).expect("ran");
        assert_eq!(result.exit, Some(0), "{result:?}");
        assert!(result.stderr.contains("3+0 records out"), "{result:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
        let nowhere = prefill(Place::Host, Path::new("/no/such"), Bytes(1 << 20), 20.0);
        assert_ne!(Local.run(&nowhere, &Cancel::default()).expect("ran").exit, Some(0));
    }
}
