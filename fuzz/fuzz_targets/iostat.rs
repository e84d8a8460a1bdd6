//! Recordings of iostat and sar, and snapshots of /proc/diskstats, imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_telemetry_system::System;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<System>("iostat"));

fuzz_target!(|data: &[u8]| {
    OFFER.imports(&text(data));
});
