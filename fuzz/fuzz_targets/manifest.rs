//! What a plugin says of itself.
#![no_main]

use crossvisor_fuzz::read_back;
use crossvisor_model::{Manifest, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(manifest) = serde_json::from_slice::<Manifest>(data) else { return };
    read_back(&manifest);
    for offer in &manifest.offers {
        let defaults = offer.options.iter();
        let options: Options =
            defaults.filter_map(|spec| Some((spec.name.clone(), spec.default.clone()?))).collect();
        let metrics = offer.metrics_with(&options);
        assert!(metrics.starts_with(&offer.metrics));
    }
});
