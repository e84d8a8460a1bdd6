//! Logs of zcav, imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_workload_bonnie::Bonnie;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<Bonnie>("zcav"));

fuzz_target!(|data: &[u8]| {
    OFFER.imports(&text(data));
});
