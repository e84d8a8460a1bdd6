//! The job that writes memory.
//!
//! Owns its loop, its measurement and its check. It must never read the data set while it is measured.

use std::hint::black_box;

use crate::cost::{self, timed};
use crate::memory::{Asked, FILLING, Memory, order};

/// One line of JSON, as the library's documentation describes it; `None` when there is not so much memory.
pub fn run(asked: &Asked) -> Option<String> {
    let mut memory = Memory::new(asked.bytes)?;
    let mut value = FILLING;
    let mut each = Vec::new();
    for _ in 0..asked.repeat {
        value = value.wrapping_add(1);
        let ((), cost) = timed(|| write(&mut memory.elements, value));
        each.push(cost);
    }
    Some(format!(
        r#"{{"job":"memwrite","size":{},"touch_s":{},{},"ok":{}}}"#,
        asked.bytes,
        memory.touch.wall_s,
        cost::json(&each),
        holds(&memory.elements, value)
    ))
}

/// Each store goes to memory by itself: the compiler must not join or drop any.
fn write(elements: &mut [u32], value: u32) {
    for index in order(elements.len()) {
        elements[index] = black_box(value);
    }
    black_box(elements);
}

/// False when an element does not hold what was written there last.
fn holds(elements: &[u32], value: u32) -> bool {
    order(elements.len()).all(|index| elements[index] == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_checked() {
        let mut elements = vec![FILLING; 10_000];
        write(&mut elements, 7);
        assert!(holds(&elements, 7));
        elements[5000] = 0;
        assert!(!holds(&elements, 7));
    }

    #[test]
    fn the_line_has_every_repetition() {
        let line = run(&Asked { bytes: 1 << 20, repeat: 3 }).expect("a MiB");
        assert!(line.starts_with(r#"{"job":"memwrite","size":1048576,"touch_s":"#), "{line}");
        assert!(line.ends_with(r#""ok":true}"#) && line.matches("wall_s").count() == 4, "{line}");
    }
}
