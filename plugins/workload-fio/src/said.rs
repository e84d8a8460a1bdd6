//! fio's own words: what it complained of, and the signal that ended it.
//!
//! Owns how its messages begin. It must never take a message for a result.

/// At most this many lines go into a message.
const MOST: usize = 3;

/// What fio complained of, on one line.
#[must_use]
pub fn complaint(text: &str) -> Option<String> {
    let words = text.lines().filter_map(|line| line.trim().strip_prefix("fio: "));
    let words: Vec<&str> = words.map(str::trim).filter(|line| !line.is_empty()).take(MOST).collect();
    (!words.is_empty()).then(|| words.join(" / "))
}

/// The number in `fio: terminating on signal 2`.
#[must_use]
pub fn signal(line: &str) -> Option<String> {
    let number = line.trim().strip_prefix("fio: terminating on signal ")?;
    Some(number.chars().take_while(char::is_ascii_digit).collect())
}

/// The last line with something on it.
#[must_use]
pub fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signals_are_found() {
        let text = "note: both\nfio: engine x not loadable\n fio: failed to load engine\nbye\n\n";
        assert_eq!(complaint(text).as_deref(), Some("engine x not loadable / failed to load engine"));
        assert_eq!(complaint("fio-3.36\nall good"), None);
        assert_eq!(signal("fio: terminating on signal 15\r").as_deref(), Some("15"));
        assert_eq!(signal("terminating on signal 15"), None);
        assert_eq!(last_line(text), Some("bye"));
    }
}
