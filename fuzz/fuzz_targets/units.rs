//! Sizes, times and shares as people write them; each is read back as it is printed.
#![no_main]

use crossvisor_fuzz::text;
use crossvisor_model::{Bytes, Name, Seconds, Share};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    if let Ok(size) = text.parse::<Bytes>() {
        assert_eq!(size.to_string().parse(), Ok(size));
    }
    if let Ok(time) = text.parse::<Seconds>() {
        assert!(time.0.is_finite() && time.0 >= 0.0, "{time:?}");
        assert_eq!(time.to_string().parse(), Ok(time));
    }
    if let Ok(share) = text.parse::<Share>() {
        assert!(share.0.is_finite() && share.0 >= 0.0, "{share:?}");
        let printed: Share = share.to_string().parse().expect("a share");
        assert_eq!(printed.to_string(), share.to_string());
    }
    if let Ok(name) = text.parse::<Name>() {
        assert_eq!(name.as_str(), text);
    }
});
