//! Every broken scenario gives exactly the text beside it.
//!
//! With `BLESS=1` in the environment the texts are written anew; read the difference before keeping it.

mod common;

use std::fs;
use std::path::Path;

#[test]
fn every_broken_scenario_says_what_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let problems = common::planned(&text, file).expect_err(file);
        for problem in &problems {
            let meant = &text[problem.offset..problem.offset + problem.length];
            let line = text[..problem.offset].matches('\n').count() + 1;
            assert_eq!(problem.line, line, "{file}: {meant}");
        }
        let said: String = problems.iter().map(|problem| format!("{problem}\n\n")).collect();
        let expected = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        assert_eq!(said, fs::read_to_string(&expected).expect("a text beside the scenario"), "{file}");
        count += 1;
    }
    assert!(count >= 20, "only {count} broken scenarios were found");
}
