//! "Did you mean": the nearest of the words that would have been right.
//!
//! Owns the wording of suggestions. It must never change what a scenario means.

use crossvisor_model::Name;

/// No more words are looked at for one suggestion.
pub(crate) const MAX_KNOWN: usize = 1000;

/// The nearest known word, if one is near enough to be a slip of the hand.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let allowed = word.chars().count() / 3;
    let distance = |other: &str| strsim::osa_distance(&word.to_lowercase(), &other.to_lowercase());
    let known = known.iter().copied().take(MAX_KNOWN);
    known.filter(|other| distance(other) <= allowed).min_by_key(|other| distance(other))
}

/// `did you mean 'x'? <list>: a, b, c`, without the question when nothing is near.
pub(crate) fn among(word: &str, list: &str, known: &[&str]) -> String {
    let all = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    match nearest(word, known) {
        Some(near) => format!("did you mean '{near}'? {list}: {all}"),
        None => format!("{list}: {all}"),
    }
}

/// The name that a text was probably meant to be, if nothing of it has to be left out.
pub(crate) fn name_like(text: &str) -> Option<Name> {
    Name::new(text.to_lowercase().replace(' ', "-")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_suggested() {
        let known = ["kvm-virtio", "kvm-e1000", "bare"];
        assert_eq!(nearest("kvm-virtoi", &known), Some("kvm-virtio"));
        assert_eq!(nearest("Bare", &known), Some("bare"));
        assert_eq!(nearest("xen-pv", &known), None);
        assert_eq!(nearest("", &known), None);
        assert_eq!(nearest("4", &["1", "2"]), None);
        assert_eq!(name_like("Small run").as_ref().map(Name::as_str), Some("small-run"));
        assert_eq!([name_like("../up"), name_like("größe ☃"), name_like("++")], [None, None, None]);
        assert_eq!(among("beer", "here", &[]), "here: none");
    }
}
