//! Scenarios, from text to plan.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::{catalog, read_back, text};
use crossvisor_model::{Bytes, Catalog};
use crossvisor_scenario::{MAX_PROBLEMS, parse, plan};
use libfuzzer_sys::fuzz_target;

static CATALOG: LazyLock<Catalog> = LazyLock::new(catalog);
const HERE: Bytes = Bytes(4 << 30);

fuzz_target!(|data: &[u8]| {
    let text = text(data);
    match parse(&text, "any.yaml").and_then(|scenario| plan(&scenario, &CATALOG, Some(HERE))) {
        Ok(plan) => {
            read_back(&plan);
            assert!(plan.order.iter().flat_map(|visit| &visit.cells).all(|cell| *cell < plan.cells.len()));
        }
        Err(problems) => {
            assert!((1..=MAX_PROBLEMS + 1).contains(&problems.len()), "{} problems", problems.len());
            for problem in problems {
                let end = problem.offset + problem.length;
                assert!(text.is_char_boundary(problem.offset) && text.is_char_boundary(end), "{problem}");
                let shown = problem.to_string();
                assert!(shown.starts_with("any.yaml:"), "{shown}");
                assert!(!shown.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{shown:?}");
            }
        }
    }
});
