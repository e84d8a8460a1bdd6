//! Words of the tables that Xen's tools print.
//!
//! Owns what a state looks like and how numbers are written. It must never know a table.

/// The letters of a domain's state in xentop, at their places.
const XENTOP_STATE: [&str; 6] = ["d", "s", "b", "c", "p", "r"];
/// The same of `xl list` and `xm list`.
const LIST_STATE: [&str; 6] = ["r", "b", "p", "s", "c", "d"];

/// The words of a line, without the marks of a mail that quotes it.
pub fn of(line: &str) -> Vec<&str> {
    line.trim_start_matches(['>', '|', ' ', '\t', '\u{feff}']).split_whitespace().collect()
}

/// `--b---`, as xentop or xl list prints it: six places, each a dash or its letter.
pub fn is_state(word: &str) -> bool {
    [XENTOP_STATE, LIST_STATE].iter().any(|letters| is_of(word, letters))
}

/// `-b-`, `r--`, `--p` of a virtual processor.
pub fn is_vcpu_state(word: &str) -> bool {
    is_of(word, &["r", "b", "p"])
}

fn is_of(word: &str, letters: &[&str]) -> bool {
    let mut places = word.chars().zip(letters);
    word.chars().count() == letters.len() && places.all(|(c, letter)| c == '-' || letter.starts_with(c))
}

/// A number as a tool prints it in any locale, also `0.` of virt-top.
pub fn number(word: &str) -> Option<f64> {
    let plain = word.strip_prefix('-').unwrap_or(word);
    let is_number = plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.chars().all(|c| c.is_ascii_digit() || ".,eE+-".contains(c));
    let number: f64 = is_number.then(|| word.replacen(',', ".", 1).parse().ok())??;
    Some(number).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_numbers_are_told_from_other_words() {
        for word in ["-----r", "--b---", "------", "d-----", "r-----", "-b----"] {
            assert!(is_state(word), "{word}");
        }
        for word in ["--x---", "-----", "-------", "guest1", "------r"] {
            assert!(!is_state(word), "{word}");
        }
        assert!(is_vcpu_state("-b-") && is_vcpu_state("--p") && !is_vcpu_state("all"));
        let numbers = ["12", "0.", "1,5", "-3", "n/a", "", "nan", "0x3", "1.2.3", "7e400"].map(number);
        assert_eq!(numbers[..4], [Some(12.0), Some(0.0), Some(1.5), Some(-3.0)]);
        assert!(numbers[4..].iter().all(Option::is_none), "{numbers:?}");
    }
}
