//! Lines of the jobs, and reports of HEPscore, the benchmark suite and DB12, measured and imported.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_plugin::Plugin;
use crossvisor_workload_hep::Hep;
use libfuzzer_sys::fuzz_target;

static OFFERS: LazyLock<Vec<Offered>> =
    LazyLock::new(|| Hep::offers().iter().map(|offer| Offered::of::<Hep>(offer.as_str())).collect());

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    for offer in &*OFFERS {
        offer.parses("work", &text);
        offer.imports(&text);
    }
});
