//! The collection of bad plugins: each gives an error that names plugin and reason, and harms nothing else.

mod common;

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{compile_source, crate_file, folder, mode, name, request, search};
use crossvisor_loader::{Plugin, VERB, load_one};
use crossvisor_plugin::abi::symbol;
use tempfile::TempDir;

/// What is to be seen when the plugin is loaded, or, if it loads, when it is called.
enum Shows {
    AtLoad(&'static str),
    AtCall(&'static str),
}
use Shows::{AtCall, AtLoad};

/// Every file of the collection.
const BAD: [(&str, Shows); 23] = [
    ("abi.c", AtLoad("version 9 of the plugin contract, this program speaks version 1: rebuild it")),
    ("abort.c", AtCall("ended by signal 6 (abort); its last words: assertion failed: volume is good")),
    ("exit.c", AtCall("it ended with exit code 3")),
    ("exit.sh", AtCall("it ended with exit code 3; its last words: no such volume")),
    ("file.c", AtCall("it was ended by signal 25 (it wrote to a file, which a plugin may not)")),
    ("garbage.c", AtCall("something that is not a reply of the contract: expected value")),
    ("garbage.sh", AtCall("something that is not a reply of the contract: expected value")),
    ("half.c", AtCall("it closed its output after 3 bytes of a reply")),
    ("half.sh", AtCall("it closed its output after 11 bytes of a reply")),
    ("hang.c", AtCall("it gave no answer within 2 s and was stopped")),
    ("hang.sh", AtCall("it gave no answer within 2 s and was stopped")),
    ("interpreter.sh", AtLoad("No such file or directory")),
    ("load-exit.c", AtLoad("it ended with exit code 0")),
    ("load-hang.c", AtLoad("it gave no answer within 2 s and was stopped")),
    ("magic.c", AtLoad("it is not a plugin")),
    ("memory.c", AtCall("it was ended by signal 6 (abort)")),
    ("oversize.c", AtCall("replied with more than 16777216 bytes")),
    ("oversize.py", AtCall("replied with more than 16777216 bytes")),
    ("segfault.c", AtCall("it was ended by signal 11 (segmentation fault)")),
    ("surplus.sh", AtCall("it replied more than was asked")),
    ("text.so", AtLoad("it does not open as a shared library")),
    ("trickle.py", AtCall("it gave no answer within 2 s and was stopped")),
    ("version.sh", AtLoad("its envelope version is 2 instead of 1")),
];

fn install(source: &Path, folder: &Path) -> PathBuf {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    let is_library = is_c || source.extension().is_some_and(|extension| extension == "so");
    let name = if is_library { "libcrossvisor_storage_bad.so" } else { "crossvisor-plugin-storage-bad" };
    let installed = folder.join(name);
    if is_c {
        compile_source(source, &installed, &[]);
    } else {
        std::fs::copy(source, &installed).expect("copy");
        mode(&installed, 0o755);
    }
    installed
}

/// A folder with a plugin of the collection, and the plugin's path in it.
fn ready(file: &str) -> (TempDir, PathBuf) {
    let folder = folder();
    let installed = install(&crate_file("../../tests/bad-plugins").join(file), folder.path());
    (folder, installed)
}

fn load(file: &str) -> Result<Plugin, String> {
    load_ready(file, &ready(file))
}

fn load_ready(file: &str, (folder, installed): &(TempDir, PathBuf)) -> Result<Plugin, String> {
    let mut search = search(folder.path());
    let hangs = file.contains("hang") || file == "trickle.py";
    search.limits.call = Duration::from_secs(if hangs { 2 } else { 30 });
    load_one(&name("storage-bad"), installed, &search).map_err(|error| error.to_string())
}

#[test]
fn every_bad_plugin_is_told_of_by_name_and_reason() {
    // A file that is still being written when another thread starts a program cannot be run: all are written first.
    let ready = BAD.map(|(file, _)| ready(file));
    std::thread::scope(|scope| {
        for ((file, shows), ready) in BAD.iter().zip(&ready) {
            scope.spawn(move || {
                let (said, reason) = match (load_ready(file, ready), shows) {
                    (Err(error), AtLoad(reason)) => (error, reason),
                    (Ok(plugin), AtCall(reason)) => {
                        (plugin.call(&request("bad")).expect_err(file).to_string(), reason)
                    }
                    (Err(error), AtCall(_)) => panic!("{file} does not load: {error}"),
                    (Ok(_), AtLoad(_)) => panic!("{file} loads"),
                };
                assert!(said.contains("plugin 'storage-bad'") && said.contains(reason), "{file}: {said}");
            });
        }
    });
}

#[test]
fn no_file_of_the_collection_is_forgotten() {
    let entries = std::fs::read_dir(crate_file("../../tests/bad-plugins")).expect("folder");
    let mut files: Vec<_> =
        entries.map(|e| e.expect("entry").file_name().into_string().expect("name")).collect();
    files.retain(|file| !matches!(file.as_str(), "README.md" | "frame.h"));
    files.sort();
    assert_eq!(files, BAD.map(|(file, _)| file));
}

#[test]
fn one_that_is_gone_is_not_started_again_and_says_why() {
    let plugin = load("exit.c").expect("loads");
    let first = plugin.call(&request("bad")).expect_err("gone").to_string();
    assert_eq!(plugin.clone().call(&request("bad")).expect_err("gone").to_string(), first);
}

#[test]
fn one_that_replies_too_much_through_the_sink_goes_on() {
    let plugin = load("oversize.c").expect("loads");
    for _ in 0..2 {
        let said = plugin.call(&request("bad")).expect_err("too long").to_string();
        assert!(said.contains("more than 16777216 bytes"), "{said}");
    }
}

#[test]
fn what_a_stopped_plugin_started_is_stopped_with_it() {
    let plugin = load("hang.sh").expect("loads");
    let sleepers = || {
        let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
        let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| line == b"sleep\x001000\0").count()
    };
    let call = std::thread::spawn(move || plugin.call(&request("bad")));
    std::thread::sleep(Duration::from_millis(500));
    assert!(sleepers() > 0);
    assert!(call.join().expect("call").is_err());
    // Others of this program may be at it as well.
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while sleepers() > 0 {
        assert!(std::time::Instant::now() < deadline, "still there");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn one_that_hangs_does_not_outlive_the_program() {
    let folder = folder();
    let installed = install(&crate_file("../../tests/bad-plugins/hang.c"), folder.path());
    let file = rustix::io::dup(std::fs::File::open(&installed).expect("file")).expect("inheritable");
    let mut host = Command::new(search(folder.path()).host_program)
        .args([VERB, "library", &file.as_raw_fd().to_string(), "1073741824", &symbol("storage-bad")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut requests = host.stdin.take().expect("pipe");
    requests.write_all(b"\x02\0\0\0{}").expect("request");
    let mut start = [0; 8];
    host.stdout.take().expect("pipe").read_exact(&mut start).expect("the manifest's frame");
    assert!(host.try_wait().expect("wait").is_none());
    drop(requests);
    assert_eq!(host.wait().expect("wait").signal(), Some(9));
}
