//! What xentop prints while guests work.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_telemetry_xen::Xen;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<Xen>("xen"));

fuzz_target!(|data: &[u8]| {
    OFFER.records(&text(data));
});
