//! A place to run the program in.

// Each test program uses its part of it.
#![allow(dead_code)]

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A run on the bare host.
pub const SCENARIO: &str = "\
name: bare
guest: {image: debian-12, memory: 256MiB}
matrix:
  hypervisor: [bare]
  storage: [file]
  guests: [1]
  workload: [pi]
workloads:
  pi: {digits: 100}
repeat: 2
";

/// A person's empty home, with the program in a folder of its own: no plugin file lies beside it.
pub struct Home(pub TempDir);

impl Home {
    pub fn new() -> Self {
        let home = Self(
            tempfile::Builder::new()
                .prefix(".crossvisor-test-")
                .tempdir_in(std::env::var_os("HOME").expect("HOME"))
                .expect("folder"),
        );
        std::fs::create_dir(home.work()).expect("folder");
        let built = assert_cmd::cargo::cargo_bin!("crossvisor");
        std::fs::hard_link(built, home.program())
            .or_else(|_| std::fs::copy(built, home.program()).map(drop))
            .expect("program");
        home
    }

    pub fn program(&self) -> PathBuf {
        self.0.path().join("crossvisor")
    }

    /// The current folder of every command.
    pub fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// The program with nothing of the environment of whoever runs the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let home = self.0.path();
        let mut command = Command::new(self.program());
        command.env_clear().env("HOME", home).current_dir(self.work()).args(arguments);
        command.env("CROSSVISOR_STATE", home.join("state")).env("CROSSVISOR_CACHE", home.join("cache"));
        command.env("CROSSVISOR_TRUST", home.join("trusted.json"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("started")
    }

    /// Writes a scenario and gives its name.
    pub fn scenario(&self, text: &str) -> &'static str {
        std::fs::write(self.work().join("one.yaml"), text).expect("write");
        "one.yaml"
    }
}

/// What a program wrote.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}
