//! What a call costs, with a request of 1 KiB: in process, in a process of its own, and starting one.
//!
//! Owns the numbers of `script/bench call`. The plugin is in C and answers the same to all, so that the way there
//! and back is what is measured.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crossvisor_loader::{Plugin, SearchPath, load_one};

fn main() {
    // The checks of owner and mode refuse what lies in a folder such as /tmp.
    let folder = tempfile::Builder::new()
        .prefix(".crossvisor-test-")
        .tempdir_in(std::env::var_os("HOME").expect("HOME"))
        .expect("folder");
    let library = compile(folder.path());
    let host_program = env!("CARGO_BIN_EXE_crossvisor-run-plugin").into();
    let child = SearchPath { host_program, ..SearchPath::default() };
    let bundled = SearchPath { bundled: Some(folder.path().into()), ..SearchPath::default() };
    let name = "storage-constant".parse().expect("name");
    let load = |search| load_one(&name, &library, search).expect("plugin");
    let (inside, outside) = (load(&bundled), load(&child));
    report("call in process", "at most 2 µs", &repeat(20, 20_000, || ask(&inside)));
    report("call to a child", "at most 15 µs", &repeat(20, 2_000, || ask(&outside)));
    report("start of a child", "at most 5 ms", &repeat(50, 1, || ask(&load(&child))));
    if let Some(program) = std::env::args_os().skip(1).map(PathBuf::from).find(|path| path.is_file()) {
        let program = SearchPath { host_program: program, ..SearchPath::default() };
        report("start by the program", "for comparison", &repeat(50, 1, || ask(&load(&program))));
    }
}

fn compile(folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = folder.join("libcrossvisor_storage_constant.so");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-shared", "-fPIC", "-DNAME=\"storage-constant\"", "-DOFFER=\"constant\""]);
    cc.arg("-DENTRY=crossvisor_plugin_v1_storage_constant").arg("-I").arg(here.join("../plugin/include"));
    cc.arg("-o").arg(&library).arg(here.join("tests/fixtures/plugin.c"));
    assert!(cc.status().expect("cc").success());
    library
}

/// A request of 1 KiB, of which the plugin looks at the first byte.
fn ask(plugin: &Plugin) {
    const REQUEST: [u8; 1024] = [b'{'; 1024];
    assert!(!plugin.ask(&REQUEST).expect("reply").is_empty());
}

/// The mean time of one of `times` in each of `rounds`, sorted.
fn repeat(rounds: u32, times: u32, work: impl Fn()) -> Vec<Duration> {
    work();
    let mut means: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            (0..times).for_each(|_| work());
            start.elapsed() / times
        })
        .collect();
    means.sort();
    means
}

fn report(what: &str, target: &str, sorted: &[Duration]) {
    let (least, median) = (sorted[0], sorted[sorted.len() / 2]);
    println!("{what:<24} median {median:>10.2?}   least {least:>10.2?}   wanted: {target}");
}
