//! Sizes of memory as libvirt writes them.
//!
//! Owns the units of its `scaledInteger` elements. It must never round up.

use crossvisor_model::Bytes;

/// The most memory that a guest is taken to have.
const MOST: u64 = 1 << 50;

/// The size of `text` in `unit`, by libvirt's words; KiB where there is none. `None` for what is no size above 0.
pub(super) fn size(text: &str, unit: Option<&str>) -> Option<Bytes> {
    let scale: u64 = match unit.unwrap_or("KiB").to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => 1,
        "kb" => 1000,
        "k" | "kib" => 1 << 10,
        "mb" => 1_000_000,
        "m" | "mib" => 1 << 20,
        "gb" => 1_000_000_000,
        "g" | "gib" => 1 << 30,
        "tb" => 1_000_000_000_000,
        "t" | "tib" => 1 << 40,
        _ => return None,
    };
    let number: u64 = text.trim().parse().ok()?;
    number.checked_mul(scale).filter(|bytes| (1..=MOST).contains(bytes)).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_unit_is_kib_and_kb_is_a_thousand() {
        for (text, unit, bytes) in [
            ("105472", None, Some(108_003_328)),
            ("512", Some("MiB"), Some(536_870_912)),
            ("2", Some("G"), Some(2_147_483_648)),
            ("500", Some("KB"), Some(500_000)),
            ("7", Some("bytes"), Some(7)),
            ("0", None, None),
            ("-1", None, None),
            ("1.5", Some("GiB"), None),
            ("1", Some("pages"), None),
            ("18446744073709551615", None, None),
        ] {
            assert_eq!(size(text, unit), bytes.map(Bytes), "{text} {unit:?}");
        }
    }
}
