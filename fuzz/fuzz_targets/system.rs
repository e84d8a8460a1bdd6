//! What the sampler prints of a kernel: stat, diskstats, net/dev, meminfo, pressure.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_telemetry_system::System;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<System>("system"));

fuzz_target!(|data: &[u8]| {
    OFFER.records(&text(data));
});
