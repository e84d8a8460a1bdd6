//! Makes plugin libraries in C and requests for them.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crossvisor_loader::{Limits, SearchPath};
use crossvisor_model::{Name, Options};
use crossvisor_plugin::abi::{file_name, symbol};
use crossvisor_plugin::{Call, InspectInput, Request};

/// Compiles the C plugin `name` into `folder`; `faults` are definitions for the compiler.
pub fn compile(folder: &Path, name: &str, faults: &[&str]) -> PathBuf {
    let library = folder.join(file_name(name));
    let has = |key: &str| faults.iter().any(|fault| fault.starts_with(key));
    let mut definitions = Vec::new();
    for (key, value) in
        [("NAME=", format!("\"{name}\"")), ("OFFER=", format!("\"{name}\"")), ("ENTRY=", symbol(name))]
    {
        if !has(key) {
            definitions.push(format!("-D{key}{value}"));
        }
    }
    definitions.extend(faults.iter().map(|fault| format!("-D{fault}")));
    compile_source(&crate_file("tests/fixtures/plugin.c"), &library, &definitions);
    library
}

/// A path relative to this crate's folder.
pub fn crate_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn compile_source(source: &Path, library: &Path, definitions: &[String]) {
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(library).arg(source);
    cc.arg("-I").arg(crate_file("../plugin/include")).args(definitions);
    let done = cc.output().expect("cc is needed for this test");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    mode(library, 0o755);
}

pub fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
}

/// A folder that only the user may write to, like all above it: the checkout may lie in one that does not do.
pub fn folder() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix(".crossvisor-test-")
        .tempdir_in(std::env::var_os("HOME").expect("HOME"))
        .expect("folder")
}

/// Nothing to search yet; those in `home`'s list are trusted.
pub fn search(home: &Path) -> SearchPath {
    let host_program = env!("CARGO_BIN_EXE_crossvisor-run-plugin").into();
    let limits = Limits { call: Duration::from_secs(5), ..Limits::default() };
    SearchPath { host_program, trust_file: home.join("trusted.json"), limits, ..SearchPath::default() }
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
