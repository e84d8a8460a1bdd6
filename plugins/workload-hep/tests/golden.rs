//! Golden transcripts: each file of `golden` holds a request and the reply it must get, and a reply names only
//! metrics of the manifest. In a request, `@NAME` as the output of a program stands for the file `recorded/NAME`,
//! which a real run of it printed.

use std::fs;
use std::path::Path;

use crossvisor_plugin::Plugin;
use crossvisor_plugin::sdk::respond;
use crossvisor_workload_hep::Hep;
use serde_json::Value;

#[test]
fn every_request_gets_its_reply() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let known = &<Hep as Plugin>::manifest().offers[0].metrics;
    let mut count = 0;
    for entry in fs::read_dir(tests.join("golden")).expect("folder") {
        let path = entry.expect("entry").path();
        let mut golden: Value = serde_json::from_slice(&fs::read(&path).expect("file")).expect("JSON");
        for stream in ["/request/input/stdout", "/request/input/stderr"] {
            let Some(text) = golden.pointer_mut(stream) else { continue };
            if let Some(name) = text.as_str().and_then(|text| text.strip_prefix('@')) {
                *text = fs::read_to_string(tests.join("recorded").join(name)).expect(name).into();
            }
        }
        let reply = respond::<Hep>(golden["request"].to_string().as_bytes());
        let reply = serde_json::to_value(reply).expect("JSON");
        assert_eq!(reply, golden["reply"], "{}\n{reply:#}", path.display());
        let samples = reply.pointer("/ok/output/samples").and_then(Value::as_array);
        for sample in samples.into_iter().flatten() {
            assert!(known.iter().any(|metric| sample["metric"] == metric.name), "{sample}");
        }
        count += 1;
    }
    assert!(count > 0);
}
