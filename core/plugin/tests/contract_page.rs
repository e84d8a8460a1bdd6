//! The written contract says what is: its JSON is valid, its numbers are those of the code, and its programs work.

mod common;
#[path = "page/storage_scratch.rs"]
mod storage_scratch;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::mem::offset_of;
use std::path::Path;
use std::process::{Command, Stdio};

use common::page::{block, blocks, page, table};
use common::{Schemas, root};
use crossvisor_plugin::abi::{Descriptor, HEADER};
use crossvisor_plugin::envelope::Answer;
use crossvisor_plugin::sdk::respond;
use crossvisor_plugin::transcript::Transcript;
use crossvisor_plugin::{Plugin, Reply, limits, schema};
use serde_json::{Value, json};
use storage_scratch::Scratch;

/// The JSON blocks of one schema, or of all.
fn examples(of: Option<&str>) -> Vec<(String, Value)> {
    let parse = |block: common::page::Block| {
        let schema = block.info.strip_prefix("json ")?.to_string();
        let value = serde_json::from_str(&block.text).unwrap_or_else(|e| panic!("{e}: {}", block.text));
        of.is_none_or(|of| of == schema).then_some((schema, value))
    };
    blocks().into_iter().filter_map(parse).collect()
}

fn transcripts() -> Vec<Transcript> {
    let read = |(_, value)| serde_json::from_value(value).expect("transcript");
    examples(Some("transcript")).into_iter().map(read).collect()
}

#[test]
fn every_json_text_on_the_page_is_valid() {
    let schemas = Schemas::new();
    for (schema, value) in examples(None) {
        match schema.as_str() {
            "transcript" => {}
            "sidecar" => {
                assert_eq!(value["sha256"].as_str().map(str::len), Some(64));
                schemas.check("manifest", &value["manifest"]);
            }
            schema => schemas.check(schema, &value),
        }
    }
    for transcript in transcripts() {
        schemas.exchange(&transcript.request, &transcript.reply);
    }
    assert!(blocks().iter().all(|block| block.info != "json"), "a JSON text without the name of its schema");
    let shown: BTreeSet<_> = examples(None).into_iter().map(|(schema, _)| schema).collect();
    for (name, _) in schema::all() {
        assert!(shown.contains(name), "no example of {name}");
    }
}

/// The words that a schema allows for the field that tells its variants apart.
fn words(schema: &str, field: &str) -> BTreeSet<String> {
    let all = schema::all();
    let (_, schema) = all.iter().find(|(name, _)| *name == schema).expect(schema);
    let variants = schema.as_value()["oneOf"].as_array().expect("variants");
    let word = |variant: &Value| variant["properties"][field]["const"].as_str().expect("word").to_string();
    variants.iter().map(word).collect()
}

fn column(headings: &str, index: usize) -> BTreeSet<String> {
    table(headings).into_iter().map(|row| row[index].clone()).collect()
}

#[test]
fn every_operation_and_action_is_listed_and_shown() {
    for (schema, field, headings) in [
        ("request", "op", "| `op` | kind | output |"),
        ("action", "do", "| `do` | what happens | can undo |"),
    ] {
        let words = words(schema, field);
        let shown = examples(Some(schema))
            .into_iter()
            .map(|(_, value)| value[field].as_str().expect("word").to_string());
        assert_eq!(shown.collect::<BTreeSet<_>>(), words);
        assert_eq!(column(headings, 0), words);
    }
    let listed: BTreeSet<_> = column("| schema | of |", 0)
        .iter()
        .filter_map(|link| Some(link.split_once('[')?.1.split_once(']')?.0.to_string()))
        .collect();
    assert_eq!(listed, schema::all().iter().map(|(name, _)| (*name).to_string()).collect());
}

#[test]
fn the_table_of_operations_is_right() {
    let page = page();
    for row in table("| `op` | kind | output |") {
        let [op, kind, output] = row.as_slice() else { panic!("{row:?}") };
        let heading = page.lines().filter(|line| line.starts_with("### ")).find(|line| {
            line.to_lowercase().starts_with(&format!("### {kind}:")) && line.contains(&format!("`{op}`"))
        });
        assert!(heading.is_some(), "no section for {op}");
        let name = format!("output_{op}");
        let has_output = schema::all().iter().any(|(schema, _)| *schema == name);
        assert_eq!(output, if has_output { &name } else { "none" });
    }
}

#[test]
fn the_table_of_the_descriptor_is_right() {
    let offsets = [
        ("magic", offset_of!(Descriptor, magic)),
        ("struct_size", offset_of!(Descriptor, struct_size)),
        ("abi_major", offset_of!(Descriptor, abi_major)),
        ("abi_minor", offset_of!(Descriptor, abi_minor)),
        ("manifest_json", offset_of!(Descriptor, manifest_json)),
        ("manifest_length", offset_of!(Descriptor, manifest_length)),
        ("call", offset_of!(Descriptor, call)),
        ("reserved", offset_of!(Descriptor, reserved)),
    ];
    let rows = table("| field | offset | holds |");
    let told: Vec<_> = rows.iter().map(|row| (row[0].as_str(), row[1].parse().expect("offset"))).collect();
    assert_eq!(told, offsets);
}

#[test]
fn the_limits_are_those_of_the_code() {
    let numbers = [
        ("bytes of a library's manifest", limits::MANIFEST_BYTES as u64),
        ("bytes of a reply", limits::REPLY_BYTES as u64),
        ("turns of an operation", limits::TURNS as u64),
        ("seconds for the start, and for each call", limits::CALL.as_secs()),
        ("bytes of address space", limits::MEMORY_BYTES),
        ("open files", limits::OPEN_FILES),
    ];
    let page = page();
    for (limit, number) in numbers {
        assert!(page.contains(&format!("\n| {limit} | {number} |\n")), "{limit} is {number}");
    }
    assert_eq!(page.matches("\n| limit | value |\n").count(), 2);
    let rows = page
        .split("\n| limit | value |\n")
        .skip(1)
        .flat_map(|text| text.lines().skip(1).take_while(|line| line.starts_with('|')).collect::<Vec<_>>());
    assert_eq!(rows.count(), numbers.len(), "a limit that is not compared with the code");
}

#[test]
fn links_lead_somewhere() {
    let page = page();
    let prose: String = page.split("\n```").step_by(2).collect();
    let targets: Vec<_> = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).collect();
    assert!(targets.len() > 10);
    for (target, _) in targets {
        assert!(root().join("docs").join(target).exists(), "{target}");
    }
}

/// Every transcript of the page, answered by `plugin`, compared as the host reads the replies.
fn replay(mut plugin: impl FnMut(&Value) -> Value) {
    let all = transcripts();
    assert_eq!(all.len(), 2);
    for transcript in all {
        let as_read = |reply: &Value| {
            serde_json::to_value(serde_json::from_value::<Reply>(reply.clone()).expect("reply"))
                .expect("JSON")
        };
        let answer = |request: &Value| as_read(&plugin(request));
        for exchange in transcript.replay(|_| None, answer).expect("transcript") {
            exchange.check().unwrap_or_else(|fault| panic!("{fault}"));
        }
    }
}

#[test]
fn the_plugin_in_rust_is_compiled_here_and_replays_its_transcripts() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/storage_scratch.rs");
    assert_eq!(block("rust"), fs::read_to_string(file).expect("file"), "the page and tests/page differ");
    replay(|request| serde_json::to_value(respond::<Scratch>(request.to_string().as_bytes())).expect("JSON"));
    let unknown = br#"{"v": 1, "offer": "scratch", "options": {}, "op": "work", "input": {"instances": []}}"#;
    assert!(matches!(respond::<Scratch>(unknown).answer, Answer::Error(_)));
}

/// Sends requests to the script of the page, a line each, and returns its lines.
fn script(requests: &[Value]) -> Vec<Value> {
    let mut script = Command::new("python3");
    script.arg("-c").arg(block("python")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = script.spawn().expect("python3");
    let mut requests_end = child.stdin.take().expect("pipe");
    for request in requests {
        writeln!(requests_end, "{request}").expect("request");
    }
    drop(requests_end);
    let output = child.wait_with_output().expect("output");
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn the_plugin_in_python_says_and_does_the_same() {
    replay(|request| script(std::slice::from_ref(request)).remove(0));
    let (_, introduction) = examples(Some("introduction")).remove(0);
    let wrong = [
        json!({"v": 2, "op": "create"}),
        json!({"v": 1, "op": "work", "offer": "scratch"}),
        json!({"v": 1, "op": "create", "offer": "other"}),
        json!([]),
        json!(null),
    ];
    let replies = script(&[&[introduction][..], &wrong].concat());
    let reply: Reply<crossvisor_plugin::model::Manifest> =
        serde_json::from_value(replies[0].clone()).expect("manifest");
    assert_eq!(reply.answer, Answer::Ok(<Scratch as Plugin>::manifest()));
    assert_eq!(replies.len(), 6);
    assert!(replies[1..].iter().all(|reply| reply["error"]["left"] == "nothing"), "{replies:?}");
}

/// Prints the manifest and the reply to an empty object.
const ASK: &str = r#"
#include "crossvisor_plugin.h"
#include <stdio.h>
const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_storage_none(void);
static int32_t take(void *sink, const uint8_t *bytes, size_t length) {
    return fwrite(bytes, 1, length, sink) == length ? 0 : 1;
}
int main(void) {
    const struct crossvisor_plugin_v1 *plugin = crossvisor_plugin_v1_storage_none();
    take(stdout, plugin->manifest_json, plugin->manifest_length);
    putchar('\n');
    return plugin->call((const uint8_t *)"{}", 2, take, stdout);
}
"#;

#[test]
fn the_library_in_c_compiles_exports_one_function_and_keeps_to_the_schemas() {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("none.c"), block("c")).expect("source");
    fs::write(folder.path().join("ask.c"), ASK).expect("source");
    let run = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let output =
            Command::new(words[0]).args(&words[1..]).current_dir(folder.path()).output().expect(words[0]);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include").display().to_string();
    run(&block("sh").trim().replace("core/plugin/include", &include));
    assert!(HEADER.contains(block("c prototype").trim()));
    let exported = run("nm --dynamic --defined-only libcrossvisor_storage_none.so");
    assert_eq!(exported.lines().count(), 1, "{exported}");
    assert!(exported.contains("crossvisor_plugin_v1_storage_none"), "{exported}");

    run(&format!("cc -Wall -Wextra -Werror -I {include} -o ask none.c ask.c"));
    let said = run(&folder.path().join("ask").display().to_string());
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let schemas = Schemas::new();
    schemas.check("manifest", &lines[0]);
    schemas.check("reply", &lines[1]);
}
