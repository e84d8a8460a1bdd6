//! Text that others wrote, before a person sees it.
//!
//! Owns which characters are never shown as they are. It must never say what stands in their place.

/// Whether a character could steer a terminal, begin a line that is none, or turn the direction of writing: control
/// characters (Unicode's category Cc, so also tabs and line ends), the separators of lines and paragraphs, and the
/// bidirectional formatting characters (Unicode Standard Annex 9, 2).
#[must_use]
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_turns_is_harmful_and_letters_of_any_script_are_not() {
        let harmful = "\0\t\n\r\u{7}\u{1b}\u{7f}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}";
        assert_eq!(harmful.chars().find(|c| !is_harmful(*c)), None);
        assert_eq!("aZ0 _ä…–µ日本شע\u{200d}".chars().find(|c| is_harmful(*c)), None);
    }
}
