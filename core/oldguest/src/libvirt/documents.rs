//! The documents of a text: what `virsh dumpxml` printed, with whatever people kept around it.
//!
//! Owns where one begins and ends. It must never look into it.

/// A document and the lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    pub text: &'a str,
    pub before: usize,
}

/// The line, from 1, of a document type or entity declaration outside of comments.
pub(super) fn declaration(text: &str) -> Option<usize> {
    let at = tags(text).find(|(_, rest)| rest.starts_with("<!DOCTYPE") || rest.starts_with("<!ENTITY"))?.0;
    Some(line_ends(&text[..at]) + 1)
}

/// Every `<domain …>` to its end, to the next one, or to the end of the text.
pub(super) fn documents(text: &str) -> Vec<Document<'_>> {
    const END: &str = "</domain>";
    let mut documents = Vec::new();
    let (mut begin, mut before, mut counted) = (None, 0, 0);
    let mut add = |from: usize, to: usize| {
        before += line_ends(&text[counted..from]);
        counted = from;
        documents.push(Document { text: &text[from..to], before });
    };
    for (at, rest) in tags(text) {
        if rest.starts_with(END) {
            if let Some(from) = begin.take() {
                add(from, at + END.len());
            }
        } else if is_domain(rest) {
            if let Some(from) = begin.replace(at) {
                add(from, at);
            }
        }
    }
    if let Some(from) = begin {
        add(from, text.len());
    }
    documents
}

fn is_domain(rest: &str) -> bool {
    let after = rest.strip_prefix("<domain").and_then(|rest| rest.chars().next());
    after.is_some_and(|c| c.is_whitespace() || c == '>')
}

/// Every `<` that is in no comment and no CDATA, with the text from there.
fn tags(text: &str) -> impl Iterator<Item = (usize, &str)> {
    /// What holds no tags, with its ends.
    const SKIPPED: [(&str, &str); 2] = [("<!--", "-->"), ("<![CDATA[", "]]>")];
    let mut next = 0;
    // Of each, where its last end is: what begins after that is not skipped but text.
    let last_ends = SKIPPED.map(|(_, end)| text.rfind(end).unwrap_or(0));
    std::iter::from_fn(move || {
        loop {
            let at = next + text[next..].find('<')?;
            let rest = &text[at..];
            let skipped = SKIPPED
                .iter()
                .zip(last_ends)
                .find(|((begin, _), last)| at < *last && rest.starts_with(begin));
            match skipped {
                Some(((_, end), _)) => next = at + rest.find(end)? + end.len(),
                None => {
                    next = at + 1;
                    return Some((at, rest));
                }
            }
        }
    })
}

fn line_ends(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(&str, usize)> {
        documents(text).into_iter().map(|document| (document.text, document.before)).collect()
    }

    #[test]
    fn documents_are_found_among_other_text() {
        let text =
            "# virsh dumpxml a\n<?xml version='1.0'?>\n<domain id='1'>a</domain> x\n<domain>\nb</domain>";
        assert_eq!(texts(text), [("<domain id='1'>a</domain>", 2), ("<domain>\nb</domain>", 3)]);
        assert_eq!(texts("<domain>a<domain\n>b"), [("<domain>a", 0), ("<domain\n>b", 0)]);
        assert_eq!(texts("<!-- <domain>a</domain> --><domains/><x:domain/>"), []);
        assert_eq!(texts("<domain><![CDATA[<domain>]]></domain>").len(), 1);
        assert_eq!(texts("<!-- <domain>a").len(), 1);
    }

    #[test]
    fn declarations_are_found() {
        assert_eq!(declaration("<?xml?>\n<!DOCTYPE d [<!ENTITY a 'b'>]><domain/>"), Some(2));
        assert_eq!(declaration("<!-- <!DOCTYPE d> --><domain/>"), None);
    }
}
