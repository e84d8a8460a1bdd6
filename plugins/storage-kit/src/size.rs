//! Sizes as people read them.

/// `1.2 GiB`: one decimal place, in the largest binary unit that leaves at least 1, or whole bytes below 1 KiB.
#[must_use]
pub fn text(bytes: u64) -> String {
    let mut units = [("TiB", 4u32), ("GiB", 3), ("MiB", 2), ("KiB", 1)].into_iter();
    match units.find(|(_, power)| bytes >> (10 * power) > 0) {
        // A decimal place needs no more digits than a double has.
        #[allow(clippy::cast_precision_loss)]
        Some((unit, power)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << (10 * power)) as f64),
        None => format!("{bytes} bytes"),
    }
}

/// `1 guest`, `4 guests`.
#[must_use]
pub fn guests(count: u32) -> String {
    format!("{count} guest{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal_place() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1_288_490_189, "1.2 GiB"),
            (8 << 30, "8.0 GiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(text(bytes), shown);
        }
        assert_eq!((guests(1), guests(4)), ("1 guest".into(), "4 guests".into()));
    }
}
