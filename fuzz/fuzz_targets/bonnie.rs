//! What bonnie++ prints, measured and imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_workload_bonnie::Bonnie;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<Bonnie>("bonnie"));

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    OFFER.parses("bonnie", &text);
    OFFER.imports(&text);
});
