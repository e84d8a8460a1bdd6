//! Configuration of xm and xl, and the scenario that is written of it.
#![no_main]

use crossvisor_fuzz::{holds_for_guests, text};
use crossvisor_oldguest::xl;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    holds_for_guests(&text, &[xl(&text)]);
});
