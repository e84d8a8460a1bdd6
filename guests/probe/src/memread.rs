//! The job that reads memory.
//!
//! Owns its loop, its measurement and its check. It must never write to the data set.

use std::hint::black_box;

use crate::cost::{self, Cost, timed};
use crate::memory::{Asked, FILLING, Memory, order};

/// One line of JSON, as the library's documentation describes it; `None` when there is not so much memory.
pub fn run(asked: &Asked) -> Option<String> {
    let memory = Memory::new(asked.bytes)?;
    let runs: Vec<(bool, Cost)> = (0..asked.repeat).map(|_| timed(|| read(&memory.elements))).collect();
    let ok = runs.iter().all(|(ok, _)| *ok);
    let each: Vec<Cost> = runs.into_iter().map(|(_, cost)| cost).collect();
    Some(format!(
        r#"{{"job":"memread","size":{},"touch_s":{},{},"ok":{ok}}}"#,
        asked.bytes,
        memory.touch.wall_s,
        cost::json(&each)
    ))
}

/// False when an element is not what was written there.
fn read(elements: &[u32]) -> bool {
    order(elements.len()).fold(true, |ok, index| ok & (black_box(elements[index]) == FILLING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_checked() {
        let mut elements = vec![FILLING; 10_000];
        assert!(read(&elements));
        elements[5000] = 0;
        assert!(!read(&elements));
    }

    #[test]
    fn the_line_has_every_repetition() {
        let line = run(&Asked { bytes: 1 << 20, repeat: 3 }).expect("a MiB");
        assert!(line.starts_with(r#"{"job":"memread","size":1048576,"touch_s":"#), "{line}");
        assert!(line.ends_with(r#""ok":true}"#) && line.matches("wall_s").count() == 4, "{line}");
    }
}
