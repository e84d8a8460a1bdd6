//! The written contract, taken apart: its code blocks and its tables.

use super::root;

/// A fenced block: the words after the fence, and the text.
pub struct Block {
    pub info: String,
    pub text: String,
}

/// The page `docs/plugin-contract.md`.
pub fn page() -> String {
    std::fs::read_to_string(root().join("docs/plugin-contract.md")).expect("page")
}

/// Every fenced block of the page.
pub fn blocks() -> Vec<Block> {
    let page = page();
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced
        .map(|block| {
            let (info, text) = block.split_once('\n').expect("a block has lines");
            Block { info: info.into(), text: format!("{text}\n") }
        })
        .collect()
}

/// The only block with this info.
pub fn block(info: &str) -> String {
    let mut found: Vec<_> = blocks().into_iter().filter(|block| block.info == info).collect();
    assert_eq!(found.len(), 1, "blocks of {info}");
    found.remove(0).text
}

/// The rows of the table that starts with these headings, without the marks of code.
pub fn table(headings: &str) -> Vec<Vec<String>> {
    let page = page();
    let mut lines = page.lines().skip_while(|line| *line != headings).skip(2);
    let rows: Vec<_> = lines
        .by_ref()
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect())
        .collect();
    assert!(!rows.is_empty(), "no table {headings}");
    rows
}
