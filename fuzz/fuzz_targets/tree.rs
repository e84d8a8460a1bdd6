//! The line of the job that copies trees.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{Offered, text};
use crossvisor_workload_tree::Tree;
use libfuzzer_sys::fuzz_target;

static OFFER: LazyLock<Offered> = LazyLock::new(|| Offered::of::<Tree>("tree"));

fuzz_target!(|data: &[u8]| {
    OFFER.parses("copy", &text(data));
});
