//! Sets of CPUs as xm, xl and libvirt write them: `0-3,5,^1`.
//!
//! Owns that text form. It must never guess at a part that it cannot read.

/// The most CPUs that a host is taken to have.
const LIMIT: u32 = 4096;

/// Why a text is no set of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CpusError {
    /// A part of it is not of the form.
    Part(String),
    /// Only the host knows which CPUs it means: `nodes:0`, or all but some.
    Host(String),
}

/// The CPUs in ascending order; `None`: all that there are. Parts count in their order, as in xm and xl.
///
/// # Errors
/// [`CpusError`] with the part that is wrong.
pub(crate) fn parse(text: &str) -> Result<Option<Vec<u32>>, CpusError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if matches!(parts.as_slice(), ["all" | ""]) {
        return Ok(None);
    }
    let mut cpus = std::collections::BTreeSet::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let (keep, range) = part.strip_prefix('^').map_or((true, part), |range| (false, range));
        if range == "all" || range.starts_with("node") {
            return Err(CpusError::Host(part.into()));
        }
        let range = range_of(range).ok_or_else(|| CpusError::Part(part.into()))?;
        for cpu in range {
            if keep {
                cpus.insert(cpu)
            } else {
                cpus.remove(&cpu)
            };
        }
    }
    Ok(Some(cpus.into_iter().collect()))
}

fn range_of(text: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

fn number(text: &str) -> Option<u32> {
    let digits = text.trim();
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|cpu| plain && *cpu < LIMIT)
}

/// The set that was meant where a web page made superscripts of `^` and its digits: `0-3,¹` is shown for `0-3,^1`.
pub(crate) fn with_carets(text: &str) -> Option<String> {
    let mut meant = String::new();
    let mut raised = false;
    for c in text.chars() {
        let digit = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|superscript| superscript == c);
        if digit.is_some() && !std::mem::replace(&mut raised, true) {
            meant.push('^');
        }
        match digit {
            Some(digit) => meant.push_str(&digit.to_string()),
            None => {
                raised = false;
                meant.push(c);
            }
        }
    }
    (meant != text && parse(&meant).is_ok()).then_some(meant)
}

/// `0,2,3`
pub(crate) fn text(cpus: &[u32]) -> String {
    let cpus: Vec<_> = cpus.iter().map(u32::to_string).collect();
    cpus.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_count_in_their_order() {
        let cpus = |text| parse(text).expect(text);
        assert_eq!(cpus("0-3,5,^1"), Some(vec![0, 2, 3, 5]));
        assert_eq!(cpus("^1,0-2"), Some(vec![0, 1, 2]));
        assert_eq!(cpus(" 4 , 2-3 ,,"), Some(vec![2, 3, 4]));
        assert_eq!((cpus("all"), cpus("")), (None, None));
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for (text, part) in [
            ("0-3,²", "²"),
            ("3-1", "3-1"),
            ("1-", "1-"),
            ("0,x", "x"),
            ("4096", "4096"),
            ("-1", "-1"),
            ("0-4294967295", "0-4294967295"),
        ] {
            assert_eq!(parse(text), Err(CpusError::Part(part.into())), "{text}");
        }
        assert_eq!(parse("nodes:0-1,^node:0"), Err(CpusError::Host("nodes:0-1".into())));
        assert_eq!(parse("all,^0"), Err(CpusError::Host("all".into())));
    }

    #[test]
    fn superscripts_were_carets() {
        assert_eq!(with_carets("0-3,5,¹").as_deref(), Some("0-3,5,^1"));
        assert_eq!(with_carets("0-30,¹²").as_deref(), Some("0-30,^12"));
        assert_eq!((with_carets("0-3"), with_carets("x¹")), (None, None));
    }
}
