//! Recordings of xentop, xl, xm and virt-top, imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_telemetry_xen::Xen;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<Xen>("xenmon"));

fuzz_target!(|data: &[u8]| {
    OFFER.imports(&text(data));
});
