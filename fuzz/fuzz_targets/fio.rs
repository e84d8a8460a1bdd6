//! What fio prints, measured and imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_workload_fio::Fio;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<Fio>("fio"));

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    OFFER.parses("fio", &text);
    OFFER.imports(&text);
});
