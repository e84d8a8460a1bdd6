//! The tree job, as a program.

use std::process::{Command, Output};

fn tree(verb: &str, files: &str, folder: &std::path::Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crossvisor-probe"));
    command.args(["tree", verb, "--files", files, "--copies", "2", "--folder"]).arg(folder);
    command.output().expect("the probe runs")
}

#[test]
fn trees_are_made_copied_and_counted() {
    let folder = std::env::temp_dir().join(format!("probe-tree-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("folder");
    let made = tree("make", "40", &folder);
    let copied = tree("copy", "40", &folder);
    // A copy into a tree that is there already does not arrive where it is looked for.
    let again = tree("copy", "40", &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let gone = tree("copy", "40", &folder);

    let made = String::from_utf8(made.stdout).expect("text");
    assert!(made.starts_with(r#"{"job":"tree","files":40,"copies":2,"bytes":"#), "{made}");
    let copied = String::from_utf8(copied.stdout).expect("text");
    assert!(copied.contains(r#","wall_s":"#) && copied.ends_with("],\"ok\":true}\n"), "{copied}");
    assert!(String::from_utf8_lossy(&again.stdout).ends_with("\"ok\":false}\n"), "{again:?}");
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("cp ended with"), "{gone:?}");
}
