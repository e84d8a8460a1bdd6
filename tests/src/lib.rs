//! What the tests of the whole share: the built program, a state folder of their own, and what is left of it.

pub mod examples;
mod kept;
mod parts;
mod running;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crossvisor_model::RunRecord;
use crossvisor_store::RunDirectory;

pub use kept::KeptHost;
pub use parts::Parts;
pub use running::Running;

/// The plugins that come with the program.
pub const BUNDLED: [&str; 14] = [
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

/// The repository's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of the built program and the bundled plugins.
///
/// # Panics
/// When the workspace was not built before.
#[must_use]
pub fn program_folder() -> PathBuf {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join(profile);
    assert!(folder.join("crossvisor").is_file(), "build first: cargo build --workspace");
    folder
}

/// A state folder and a folder for run directories, both gone when this is dropped, with all that was made in them.
pub struct Lab {
    folder: tempfile::TempDir,
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

impl Lab {
    /// # Panics
    /// When no temporary folder can be made.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("cvt").tempdir_in("/var/tmp").expect("temporary folder");
        // Others pass through it to the folders they work in.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        fs::set_permissions(folder.path(), mode).expect("mode");
        Self { folder }
    }

    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    /// Writes a scenario and returns its path.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn scenario(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(format!("{name}.yaml"));
        fs::write(&path, text).expect("scenario");
        path
    }

    /// The program with this lab's state.
    #[must_use]
    pub fn crossvisor(&self) -> Command {
        let mut command = Command::new(program_folder().join("crossvisor"));
        command
            .env("CROSSVISOR_STATE", self.state())
            .env_remove("CROSSVISOR_PLUGIN_PATH")
            .stdin(Stdio::null());
        command
    }

    /// The command that runs a scenario with its output kept; its run directory will be `name` below [`Lab::runs`].
    #[must_use]
    pub fn run(&self, scenario: &Path, name: &str) -> Command {
        let mut command = self.crossvisor();
        command.arg("run").arg(scenario).arg("--out").arg(self.runs()).args(["--name", name]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a run of a scenario.
    ///
    /// # Panics
    /// When the program cannot be started.
    #[must_use]
    pub fn start_run(&self, scenario: &Path, name: &str) -> Running {
        Running::start(&mut self.run(scenario, name))
    }

    /// What has happened in a run so far, one event a line; nothing when it has not begun.
    #[must_use]
    pub fn events(&self, name: &str) -> String {
        fs::read_to_string(self.runs().join(name).join("events.jsonl")).unwrap_or_default()
    }

    /// True once a measured round of the run has been released.
    #[must_use]
    pub fn is_measuring(&self, name: &str) -> bool {
        self.events(name).contains(r#""event":"released""#)
    }

    /// # Panics
    /// When the run directory cannot be read.
    #[must_use]
    pub fn record(&self, name: &str) -> RunRecord {
        RunDirectory::read(&self.runs().join(name)).expect("run directory")
    }

    /// libvirt's own client on this lab's embedded driver. `arguments` must be such as may be said twice: where the
    /// driver finds running domains, it crashes in about one of fifty of virsh's short lives as it closes (libvirt 9.0).
    ///
    /// # Panics
    /// When it cannot be started or fails.
    pub fn virsh(&self, arguments: &[&str]) -> String {
        let uri = format!("qemu:///embed?root={}", self.state().join("embed").display());
        let run = || Command::new("virsh").args(["-q", "-c", &uri]).args(arguments).output().expect("virsh");
        let crashed = |output: &Output| output.status.signal().is_some();
        let output = Some(run()).filter(|output| !crashed(output)).unwrap_or_else(run);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Names of all domains on this lab's embedded driver, sorted.
    #[must_use]
    pub fn domains(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.virsh(&["list", "--all", "--name"]).split_whitespace().map(String::from).collect();
        names.sort();
        names
    }

    /// Processes that name this lab's folder, with their command lines.
    ///
    /// # Panics
    /// When /proc cannot be read.
    #[must_use]
    pub fn processes(&self) -> BTreeMap<u32, String> {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let entries = fs::read_dir("/proc").expect("/proc").flatten();
        let numbered = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
        numbered
            .filter(|pid| *pid != std::process::id())
            .filter_map(|pid| Some((pid, fs::read(format!("/proc/{pid}/cmdline")).ok()?)))
            .map(|(pid, line)| (pid, String::from_utf8_lossy(&line).replace('\0', " ")))
            .filter(|(_, line)| line.contains(&folder))
            .collect()
    }

    /// Asserts that nothing of a run is left: no process, no work folder.
    ///
    /// # Panics
    /// When something is.
    pub fn assert_clean(&self) {
        self.assert_clean_but_for(&[]);
    }

    /// Asserts that nothing of a run is left on this machine but for processes that were there before it.
    ///
    /// # Panics
    /// When something is.
    pub fn assert_clean_but_for(&self, processes: &[u32]) {
        let left = || {
            let mut left = self.processes();
            left.retain(|pid, _| !processes.contains(pid));
            left
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        while !left().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(left(), BTreeMap::new());
        let work: Vec<_> = fs::read_dir(self.state().join("live")).into_iter().flatten().flatten().collect();
        assert!(work.is_empty(), "{work:?}");
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Nothing more can be done when one of these fails; the assertion that failed before is what matters.
        for host in fs::read_dir(self.state().join("hosts")).into_iter().flatten().flatten() {
            let _ = self.crossvisor().args(["host", "down"]).arg(host.file_name()).output();
        }
        if self.state().is_dir() {
            let _ = self.crossvisor().arg("clean").output();
        }
    }
}

/// Waits until `done`.
///
/// # Panics
/// When it is not within the limit.
pub fn wait_until(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
