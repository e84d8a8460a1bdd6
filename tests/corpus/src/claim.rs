//! A claim: one thing that a row says its file holds.
//!
//! Owns the way from a person's line (`runs=2; run1 write=28510 KiB/s cpu 20 %, seeks=90.7 /s`) to claims. It must
//! never know what a word of them means.

/// One `key=value`, with what stands before it and in parentheses after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The words before the key: `run1`. They hold until the section ends at `;`, or others stand before a key.
    pub subject: String,
    /// Empty where the text has no `=`.
    pub key: String,
    /// The words up to the next key: `28510 KiB/s cpu 20 %`.
    pub value: String,
    /// What stands in parentheses, without them.
    pub note: String,
}

impl Claim {
    /// Subject and key together: `read bw`, `HS06 32 bit`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.subject, self.key).trim().to_string()
    }

    /// Every number of the value with the word after it, in order: `28510 KiB/s cpu 20 %` has `("28510", "KiB/s")` and
    /// `("20", "%")`. The word is empty where there is none, or another number.
    #[must_use]
    pub fn numbers(&self) -> Vec<(&str, &str)> {
        let words: Vec<&str> =
            self.value.split([' ', ',', '{', '}', '[', ']']).filter(|w| !w.is_empty()).collect();
        let is_number = |word: &str| word.parse::<f64>().is_ok_and(f64::is_finite);
        let units = words.iter().skip(1).copied().chain([""]);
        let pairs = words.iter().copied().zip(units).filter(|(word, _)| is_number(word));
        pairs.map(|(word, unit)| (word, if is_number(unit) { "" } else { unit })).collect()
    }

    /// The first of the [`numbers`](Self::numbers).
    #[must_use]
    pub fn number(&self) -> Option<(&str, &str)> {
        self.numbers().into_iter().next()
    }

    /// The number that follows the word `name` in the value: `20` of `28510 KiB/s cpu 20 %` for `cpu`.
    #[must_use]
    pub fn number_after(&self, name: &str) -> Option<&str> {
        let mut words = self.value.split(' ').skip_while(|word| *word != name).skip(1);
        words.next().filter(|word| word.parse::<f64>().is_ok())
    }
}

/// The claims of a text, in its order. Every word of it is in one of them.
#[must_use]
pub fn claims(text: &str) -> Vec<Claim> {
    split(text, |rest| rest.starts_with(';')).into_iter().flat_map(section).collect()
}

fn section(text: &str) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    let mut subject = String::new();
    for item in split(text, |rest| rest.starts_with(", ")) {
        let mut before: Vec<&str> = Vec::new();
        let first = claims.len();
        for word in split(item, |rest| rest.starts_with(' ')) {
            match word.split_once('=') {
                Some((key, value)) if !key.is_empty() && !key.contains(['(', '[', '{', '"']) => {
                    if !before.is_empty() {
                        subject = before.join(" ");
                        before.clear();
                    }
                    let subject = subject.clone();
                    claims.push(Claim { subject, key: key.into(), value: value.into(), note: String::new() });
                }
                _ if claims.len() == first => before.push(word),
                _ => claims.iter_mut().last().into_iter().for_each(|claim| claim.add(word)),
            }
        }
        if !before.is_empty() {
            // `num_files=20, max` goes on, `no sum row` stands alone.
            claims.push(Claim { subject: subject.clone(), value: before.join(" "), ..Claim::default() });
        }
    }
    claims.iter_mut().for_each(Claim::tidy);
    claims
}

impl Claim {
    fn add(&mut self, word: &str) {
        self.value.push(' ');
        self.value.push_str(word);
    }

    /// Moves what is in parentheses to the note.
    fn tidy(&mut self) {
        while let Some((start, end)) =
            self.value.find('(').and_then(|start| Some((start, closing(&self.value, start)?)))
        {
            let inside = self.value[start + 1..end].to_string();
            self.value.replace_range(start..=end, "");
            self.note = format!("{} {inside}", self.note).trim().into();
        }
        self.value = self.value.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    }
}

/// Where the bracket at `start` closes.
fn closing(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0;
    text[start..].char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(start + at)
    })
}

/// The parts between separators that stand outside all brackets, trimmed, without empty ones.
fn split(text: &str, separates: impl Fn(&str) -> bool) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, c) in text.char_indices() {
        depth = (depth + i32::from("([{".contains(c)) - i32::from(")]}".contains(c))).max(0);
        if depth == 0 && separates(&text[at..]) {
            parts.push(&text[start..at]);
            start = at + c.len_utf8();
        }
    }
    parts.push(&text[start..]);
    parts
        .into_iter()
        .map(|part| part.trim().trim_start_matches(", "))
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(subject: &str, key: &str, value: &str, note: &str) -> Claim {
        let [subject, key, value, note] = [subject, key, value, note].map(String::from);
        Claim { subject, key, value, note }
    }

    #[test]
    fn a_line_becomes_claims_with_their_subjects() {
        let text =
            "runs=2; run1 write=28510 KiB/s cpu 20 %, seeks=90.7 /s; run2 write=null(too fast); no sum row";
        let expected = [
            claim("", "runs", "2", ""),
            claim("run1", "write", "28510 KiB/s cpu 20 %", ""),
            claim("run1", "seeks", "90.7 /s", ""),
            claim("run2", "write", "null", "too fast"),
            claim("", "", "no sum row", ""),
        ];
        assert_eq!(claims(text), expected);
        let text = "read bw=77.5 KB/s iops=48, avg=7.1; bytes={608,394} bytes; sum=4.12 Gbits/sec (4.8 GBytes, 0-60 s)";
        let expected = [
            claim("read", "bw", "77.5 KB/s", ""),
            claim("read", "iops", "48", ""),
            claim("read", "avg", "7.1", ""),
            claim("", "bytes", "{608,394} bytes", ""),
            claim("", "sum", "4.12 Gbits/sec", "4.8 GBytes, 0-60 s"),
        ];
        assert_eq!(claims(text), expected);
        assert_eq!(claims("at 600 MB=549 K/s time=1.7 s")[0].name(), "at 600 MB");
        assert_eq!(
            claims("errors=[rmdir: not empty, rmdir: none]"),
            [claim("", "errors", "[rmdir: not empty, rmdir: none]", "")]
        );
    }

    #[test]
    fn numbers_have_the_word_after_them() {
        let cpu = claim("", "write", "28510 KiB/s cpu 20 %", "");
        assert_eq!(cpu.numbers(), [("28510", "KiB/s"), ("20", "%")]);
        assert_eq!((cpu.number_after("cpu"), cpu.number_after("KiB/s")), (Some("20"), None));
        assert_eq!(
            claim("", "streams", "521,489 Mbits/sec", "").numbers(),
            [("521", ""), ("489", "Mbits/sec")]
        );
        assert_eq!(claim("", "bytes", "{608,394} bytes", "").numbers(), [("608", ""), ("394", "bytes")]);
        assert_eq!(claim("", "size", "null", "").number(), None);
    }
}
