//! Makes plugin libraries in C and requests for them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crossvisor_model::{Name, Options};
use crossvisor_plugin::abi::{file_name, symbol};
use crossvisor_plugin::{Call, InspectInput, Request};

/// Compiles the C plugin `name` into `folder`; `faults` are definitions for the compiler.
pub fn compile(folder: &Path, name: &str, faults: &[&str]) -> PathBuf {
    let library = folder.join(file_name(name));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let has = |key: &str| faults.iter().any(|fault| fault.starts_with(key));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(crates.join("tests/fixtures/plugin.c"));
    cc.arg("-I").arg(crates.join("../plugin/include"));
    for (key, value) in
        [("NAME=", format!("\"{name}\"")), ("OFFER=", format!("\"{name}\"")), ("ENTRY=", symbol(name))]
    {
        if !has(key) {
            cc.arg(format!("-D{key}{value}"));
        }
    }
    cc.args(faults.iter().map(|fault| format!("-D{fault}")));
    let done = cc.output().expect("cc is needed for this test");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

pub fn name(text: &str) -> Name {
    Name::new(text).expect(text)
}

/// Any request: the C plugin answers all of them alike.
pub fn request(offer: &str) -> Request {
    let volume = serde_json::from_str(r#"{"source": {"file": "/v"}, "format": "raw"}"#).expect("volume");
    Request {
        v: 1,
        offer: name(offer),
        options: Options::new(),
        call: Call::Inspect(InspectInput { volume }),
        state: serde_json::Value::Null,
        results: Vec::new(),
    }
}
