//! The schemas in the tree are those of the types, and hold what the bundled plugins and the host really say.
//! `BLESS=1` writes the schemas anew.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Schemas, root};
use crossvisor_plugin::schema;
use crossvisor_plugin::transcript::Transcript;
use serde_json::{Value, json};

#[test]
fn the_schemas_in_the_tree_are_those_of_the_types() {
    let folder = root().join("core/plugin/schema");
    let mut files = Vec::new();
    for (name, schema) in schema::all() {
        let file = folder.join(format!("{name}.schema.json"));
        let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            fs::write(&file, &text).expect("schema");
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == text, "{} is not the schema of its type: BLESS=1 writes it anew", file.display());
        files.push(file);
    }
    let mut found = list(&folder);
    found.sort();
    files.sort();
    assert_eq!(found, files, "a schema of no type");
}

fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("entry").path()).collect()
}

#[test]
fn what_bundled_plugins_are_asked_and_answer_is_valid() {
    let schemas = Schemas::new();
    let plugins = list(&root().join("plugins"));
    let files: Vec<_> = plugins.iter().flat_map(|plugin| list(&plugin.join("tests/golden"))).collect();
    for file in &files {
        let golden: Transcript = serde_json::from_slice(&fs::read(file).expect("file"))
            .unwrap_or_else(|e| panic!("{file:?}: {e}"));
        schemas.exchange(&golden.request, &golden.reply);
        golden.then.iter().for_each(|turn| schemas.check("reply", &turn.reply));
    }
    let kinds = [
        "hypervisor-kvm",
        "hypervisor-xen",
        "storage-file",
        "storage-loop",
        "storage-lvm",
        "storage-snapshot",
        "telemetry-system",
        "telemetry-xen",
        "workload-bonnie",
        "workload-command",
        "workload-fio",
        "workload-hep",
        "workload-iperf",
        "workload-tree",
    ];
    for plugin in kinds {
        assert!(
            files.iter().any(|file| file.to_string_lossy().contains(plugin)),
            "{plugin} has no transcript"
        );
    }
}

#[test]
fn a_schema_refuses_what_the_types_refuse() {
    let schemas = Schemas::new();
    let exec = json!({"do": "exec", "on": {"guest": 1}, "argv": ["true"], "timeout_s": 1.5});
    schemas.check("action", &exec);
    let with = |key: &str, value: Value| {
        let mut exec = exec.clone();
        exec[key] = value;
        exec
    };
    for wrong in
        [with("do", json!("shell")), with("on", json!("elsewhere")), with("argv", json!("true")), json!({})]
    {
        assert!(!schemas.accepts("action", &wrong), "{wrong}");
    }
    let manifest = |name: &str| {
        let offer = json!({"name": "a", "summary": ""});
        json!({"name": name, "version": "1", "kind": "storage", "summary": "", "offers": [offer]})
    };
    schemas.check("manifest", &manifest("storage-a"));
    for wrong in ["", "Storage", "../a", &"x".repeat(49)] {
        assert!(!schemas.accepts("manifest", &manifest(wrong)), "{wrong}");
    }
    for wrong in [json!({"v": 1}), json!({"v": 1, "ok": {}}), json!({"v": 1, "error": {"message": "no"}})] {
        assert!(!schemas.accepts("reply", &wrong), "{wrong}");
    }
}
