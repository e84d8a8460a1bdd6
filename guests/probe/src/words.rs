//! Words of the command line.
//!
//! Owns how a number is read. It must never know an option's name.

/// A whole number between `min` and `max`; `None` when the text is anything else.
pub fn within(text: &str, min: u64, max: u64) -> Option<u64> {
    text.parse().ok().filter(|number| (min..=max).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_within_its_limits() {
        assert_eq!(within("7", 7, 9), Some(7));
        for bad in ["6", "10", "", "8.0", "-8", "8k"] {
            assert_eq!(within(bad, 7, 9), None, "{bad}");
        }
    }
}
