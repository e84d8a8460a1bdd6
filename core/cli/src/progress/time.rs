//! Times for people.
//!
//! Owns their form. It must never read a clock.

/// `41 s`, `4 min 10 s`, `1 h 05 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

/// `01:02:03` since the run started.
pub fn stamp(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_units_at_most() {
        for (seconds, text) in [
            (-1.0, "0 s"),
            (f64::NAN, "0 s"),
            (0.4, "0 s"),
            (59.4, "59 s"),
            (59.6, "1 min 00 s"),
            (250.0, "4 min 10 s"),
            (3599.9, "1 h 00 min"),
            (90_061.0, "25 h 01 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }

    #[test]
    fn stamps_sort_as_text() {
        assert_eq!([0.0, 59.9, 3723.0].map(stamp), ["00:00:00", "00:00:59", "01:02:03"]);
    }
}
