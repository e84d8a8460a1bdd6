//! The parts of a long test: each is done even when an earlier one failed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The failures so far.
pub struct Parts {
    test: &'static str,
    failed: Vec<String>,
}

impl Parts {
    #[must_use]
    pub fn new(test: &'static str) -> Self {
        Self { test, failed: Vec::new() }
    }

    /// Does one part and prints how long it took.
    pub fn part(&mut self, name: &str, work: impl FnOnce()) {
        let began = Instant::now();
        let panic = catch_unwind(AssertUnwindSafe(work)).err();
        let came = if panic.is_some() { "FAILED" } else { "good" };
        println!("{}: {name}: {came} after {:.0} s", self.test, began.elapsed().as_secs_f64());
        let said = panic.map(|panic| match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => {
                panic.downcast::<&str>().map_or_else(|_| "it panicked".into(), |text| text.to_string())
            }
        });
        self.failed.extend(said.map(|said| format!("{name}: {said}")));
    }

    /// # Panics
    /// When a part has failed, with what each said.
    pub fn end(self) {
        assert!(self.failed.is_empty(), "{} parts failed:\n{}", self.failed.len(), self.failed.join("\n\n"));
    }
}
