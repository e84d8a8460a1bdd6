//! Numbers and units as both tools print them.
//!
//! It must never take half a number: what is not one to its end is none.

/// A number; a decimal comma is a decimal point, since neither tool groups digits.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',');
    if !plain || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    text.replace(',', ".").parse().ok()
}

/// Bytes of a transfer: `4.75 GBytes`. Both tools count in powers of 1024 here.
#[must_use]
pub fn bytes(count: &str, unit: &str) -> Option<f64> {
    let prefix = unit.strip_suffix("Bytes").or_else(|| unit.strip_suffix("Byte"))?;
    Some(number(count)? * 1024_f64.powi(power(prefix)?))
}

/// Bits per second of a rate: `20.2 Gbits/sec` in powers of 1000, `2.5 GBytes/sec` in powers of 1024.
#[must_use]
pub fn bits_per_second(count: &str, unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("/sec").or_else(|| unit.strip_suffix("/s"))?;
    match unit.strip_suffix("bits") {
        Some(prefix) => Some(number(count)? * 1000_f64.powi(power(prefix)?)),
        None => Some(8.0 * bytes(count, unit)?),
    }
}

/// A rate as it is asked for: `20M`, `1.5g`, `800000`; in bits per second.
#[must_use]
pub fn asked_rate(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    Some(number(&text[..end])? * 1000_f64.powi(power(&text[end..])?))
}

fn power(prefix: &str) -> Option<i32> {
    match prefix {
        "" => Some(0),
        "K" | "k" => Some(1),
        "M" | "m" => Some(2),
        "G" | "g" => Some(3),
        "T" | "t" => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_tools() {
        assert_eq!(bits_per_second("20.5", "Gbits/sec"), Some(20.5e9));
        assert_eq!(bits_per_second("2", "MBytes/sec"), Some(8.0 * 2.0 * 1_048_576.0));
        assert_eq!(bytes("1.5", "KBytes"), Some(1536.0));
        assert_eq!(bytes("0.00", "Bytes"), Some(0.0));
        assert_eq!(bits_per_second("9,5", "Mbits/sec"), Some(9.5e6));
        assert_eq!(asked_rate("20M"), Some(2e7));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", ".", "1.2.3", "1e5", "nan", "-nan", "inf", "12x", "0x1f", "1.234,5"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(bits_per_second("5", "bits"), None);
        assert_eq!(bits_per_second("5", "Qbits/sec"), None);
    }
}
