//! What iperf3 and iperf 2 print, measured in either direction and imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_workload_iperf::Iperf;
use libfuzzer_sys::fuzz_target;

static OFFERS: LazyLock<[Offered; 2]> = LazyLock::new(|| ["iperf", "iperf2"].map(Offered::of::<Iperf>));

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    for offer in &*OFFERS {
        offer.parses("out", &text);
        offer.parses("in", &text);
    }
    OFFERS[0].imports(&text);
});
