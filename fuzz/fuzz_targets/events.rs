//! The events of a run directory, and going on with it: only what a finished replicate measured stays.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use crossvisor_fuzz::{Folder, run};
use crossvisor_store::RunDirectory;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::default);
static RUN: LazyLock<PathBuf> = LazyLock::new(|| run(&FOLDER, "run").0);
const SAMPLES: &str = r#"{"cell":"here/bare/-/1/disk","replicate":1,"instance":1,"accel":"none","values":{"measured":{"write":1.5}}}
{"cell":"here/bare/-/2/disk","replicate":1,"instance":2,"accel":"none","values":{"too_fast":["write"]}}
"#;

fuzz_target!(|data: &[u8]| {
    fs::write(RUN.join("events.jsonl"), data).expect("a file");
    fs::write(RUN.join("samples.jsonl"), SAMPLES).expect("a file");
    let before = RunDirectory::read(&RUN).expect("a run");
    let (_, history) = RunDirectory::reopen(&RUN).expect("reopened");
    assert_eq!((&history.outcomes, history.complete), (&before.outcomes, before.complete));
    assert!(history.at_s.is_finite() && history.at_s >= 0.0);
    let finished = history.finished();
    let stay = before.samples.into_iter().filter(|s| finished.contains(&(s.cell.clone(), s.replicate)));
    assert_eq!(RunDirectory::read(&RUN).expect("a run").samples, stay.collect::<Vec<_>>());
    let _ = fs::remove_file(RUN.join("undone.jsonl"));
});
