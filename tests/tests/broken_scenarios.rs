//! Wrong scenarios through the program itself: each is refused with its place before anything is touched.

use std::fs;

use crossvisor_tests::{Lab, root};

#[test]
fn the_program_refuses_every_broken_scenario_and_touches_nothing() {
    let lab = Lab::new();
    let folder = root().join("core/scenario/tests/broken");
    let mut tried = 0;
    for entry in fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let expected = fs::read_to_string(path.with_extension("txt")).expect("expected");
        let place = expected.split(" error:").next().expect("place").to_string();
        let output =
            lab.crossvisor().arg("run").arg(&path).arg("--out").arg(lab.runs()).output().expect("run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{}: {said}", path.display());
        assert!(said.contains(&place), "{}: no '{place}' in {said}", path.display());
        assert!(
            said.contains('^') || expected.lines().count() < 4,
            "{}: no excerpt in {said}",
            path.display()
        );
        tried += 1;
    }
    assert!(tried >= 20, "only {tried} scenarios");
    assert!(!lab.state().join("live").exists() && !lab.runs().exists(), "something was touched");
}
