//! The test kit finds what is wrong with a plugin, and says it.

#[path = "page/storage_scratch.rs"]
mod storage_scratch;

use std::fs;
use std::path::Path;

use crossvisor_plugin::model::Manifest;
use crossvisor_plugin::sdk::respond;
use crossvisor_plugin::testkit::faults;
use crossvisor_plugin::{Plugin, testkit};
use serde_json::{Value, json};
use storage_scratch::Scratch;

fn answer(request: &Value) -> Value {
    serde_json::to_value(respond::<Scratch>(request.to_string().as_bytes())).expect("JSON")
}

/// A folder with one transcript: how many blocks a volume has, printed by `stat` as in the recorded file `stat.txt`.
fn folder(allocated: Value, stdout: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    let volume = json!({"source": {"block": "/dev/vg0/a"}, "format": "raw", "cache": null, "io": null});
    let request =
        json!({"v": 1, "offer": "scratch", "options": {}, "op": "inspect", "input": {"volume": volume}});
    let results = json!([{"exec": {"exit": 0, "stdout": stdout, "stderr": "", "wall_s": 0.1}}]);
    let last = json!({"v": 1, "ok": {"steps": [], "done": true, "state": null, "output": {"allocated_bytes": allocated}}});
    let transcript =
        json!({"request": request, "reply": answer(&request), "then": [{"results": results, "reply": last}]});
    for name in ["golden", "recorded"] {
        fs::create_dir(folder.path().join(name)).expect("folder");
    }
    fs::write(folder.path().join("golden/a.json"), transcript.to_string()).expect("transcript");
    fs::write(folder.path().join("recorded/stat.txt"), "16\n").expect("recorded");
    folder
}

fn faults_of(folder: &Path, answer: impl FnMut(&Value) -> Value) -> String {
    faults(folder, &<Scratch as Plugin>::manifest(), false, answer).join("\n")
}

#[test]
fn a_good_plugin_has_no_fault_and_recorded_outputs_are_filled_in() {
    testkit::golden::<Scratch>(folder(json!(8192), "@stat.txt").path());
    testkit::golden::<Scratch>(folder(json!(512), "1\n").path());
}

#[test]
fn another_reply_is_shown_beside_the_right_one() {
    let said = faults_of(folder(json!(1), "@stat.txt").path(), answer);
    assert!(
        said.contains("a.json") && said.contains("8192") && said.contains("\"allocated_bytes\": 1\n"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_replayed_is_told() {
    let good = folder(json!(8192), "@stat.txt");
    assert!(
        faults_of(folder(json!(0), "@gone.txt").path(), answer)
            .contains("turn 2: the recorded output 'gone.txt'")
    );
    let refuses = |_: &Value| json!({"v": 1, "error": {"message": "no", "left": "nothing"}});
    assert!(faults_of(good.path(), refuses).contains("turn 2: the reply before it ended"));
    fs::write(good.path().join("golden/b.json"), "{}").expect("file");
    assert!(faults_of(good.path(), answer).contains("missing field `request`"));
    assert!(faults_of(&good.path().join("none"), answer).contains("cannot read"));
    fs::remove_dir_all(good.path().join("golden")).expect("remove");
    fs::create_dir(good.path().join("golden")).expect("folder");
    assert!(faults_of(good.path(), answer).contains("no transcript"));
}

/// The only fault of a plugin that answers an operation with this, which is also what is expected.
fn fault_of_reply(op: &str, input: Value, reply: Value) -> String {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir(folder.path().join("golden")).expect("folder");
    let request = json!({"v": 1, "offer": "scratch", "options": {}, "op": op, "input": input});
    let transcript = json!({"request": request, "reply": reply});
    fs::write(folder.path().join("golden/a.json"), transcript.to_string()).expect("transcript");
    faults_of(folder.path(), |_| reply.clone())
}

#[test]
fn an_expected_reply_outside_the_contract_is_a_fault() {
    let create = json!({"golden": "/g", "golden_bytes": 1, "folder": "/f", "name": "a"});
    let no_reply = fault_of_reply("create", create.clone(), json!({"v": 1, "steps": []}));
    assert!(no_reply.contains("the reply is not one"), "{no_reply}");
    let no_output = fault_of_reply("create", create, json!({"v": 1, "ok": {"done": true}}));
    assert!(no_output.contains("the output is not the operation's"), "{no_output}");
    let no_request = fault_of_reply("create", json!({}), json!({"v": 1, "ok": {"done": true}}));
    assert!(no_request.contains("not a request: missing field `golden`"), "{no_request}");
    let instance = json!({"index": 1, "place": "host", "folder": "/f", "probe": "/p", "memory_bytes": 1, "cpus": 1,
        "peer": {"address": "127.0.0.1", "port": 1}});
    let parse =
        json!({"round": "r", "instance": instance, "exit": 0, "stdout": "", "stderr": "", "wall_s": 1.0});
    let output = json!({"samples": [{"metric": "speed", "measured": 1.0}]});
    let metric = fault_of_reply("parse", parse, json!({"v": 1, "ok": {"done": true, "output": output}}));
    assert!(metric.contains("the metric \"speed\" is not in the manifest"), "{metric}");
}

#[test]
fn blessing_writes_the_replies_as_they_are() {
    let folder = folder(json!(1), "@stat.txt");
    let manifest: Manifest = <Scratch as Plugin>::manifest();
    assert_eq!(faults(folder.path(), &manifest, true, answer), Vec::<String>::new());
    assert_eq!(faults_of(folder.path(), answer), "");
    let text = fs::read_to_string(folder.path().join("golden/a.json")).expect("transcript");
    assert!(text.contains("8192") && text.contains("@stat.txt"), "{text}");
}
