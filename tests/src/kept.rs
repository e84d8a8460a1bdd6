//! A host that `crossvisor host up` has made in a lab, and what is on it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::examples::must;
use crate::{Lab, Running, wait_until};

/// A new machine builds the host's image first.
const UP: Duration = Duration::from_secs(1800);
/// What a run has made is gone when it ends, but for what ends on its own.
const SETTLED: Duration = Duration::from_secs(30);

/// All that a run could leave behind: volumes, loop devices, domains, files, network cards and programs.
const LEFT: &str = "lvs --noheadings -o vg_name,lv_name,lv_size,lv_tags; losetup -a; virsh -q list --all; \
    find /var/lib/crossvisor -mindepth 2 2>/dev/null | sort; ls /sys/class/net; \
    ps -e -o comm= | grep -E 'qemu|iperf|bonnie|crossvisor' | sort";

/// A host of a lab, which takes it down when it is dropped itself.
pub struct KeptHost<'a> {
    lab: &'a Lab,
    name: &'static str,
    emulator: u32,
}

impl<'a> KeptHost<'a> {
    /// Makes a host of a guest definition.
    ///
    /// # Panics
    /// When it does not come up.
    #[must_use]
    pub fn up(lab: &'a Lab, name: &'static str, guest: &str) -> Self {
        let mut up = lab.crossvisor();
        up.args(["host", "up", name, "--guest", guest]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = Running::start(&mut up).wait(UP);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let emulators: Vec<u32> = lab.processes().into_keys().collect();
        let [emulator] = emulators[..] else { panic!("not one process but {:?}", lab.processes()) };
        Self { lab, name, emulator }
    }

    /// Runs shell commands on the host and returns what they print.
    ///
    /// # Panics
    /// When the last one fails.
    pub fn shell(&self, commands: &str) -> String {
        must(self.lab.crossvisor().args(["host", "shell", self.name, "--", commands]))
    }

    /// What is on the host, for [`KeptHost::assert_has_only`].
    #[must_use]
    pub fn inventory(&self) -> String {
        self.shell(&format!("{LEFT}; true"))
    }

    /// Asserts that a run has left nothing on the host or this machine: all is as it was `before`.
    ///
    /// # Panics
    /// When something is.
    pub fn assert_has_only(&self, before: &str) {
        let deadline = Instant::now() + SETTLED;
        let mut now = self.inventory();
        while now != before && Instant::now() < deadline {
            std::thread::sleep(Duration::from_secs(1));
            now = self.inventory();
        }
        assert_eq!(now, before, "the host is not as it was");
        self.lab.assert_clean_but_for(&[self.emulator]);
    }

    /// Kills the machine.
    ///
    /// # Panics
    /// When it runs no more.
    pub fn kill(&self) {
        let pid = i32::try_from(self.emulator).ok().and_then(Pid::from_raw).expect("pid");
        kill_process(pid, Signal::KILL).expect("kill -9");
        wait_until("the emulator is gone", SETTLED, || !self.lab.processes().contains_key(&self.emulator));
    }

    /// Removes the host.
    ///
    /// # Panics
    /// When it cannot be removed.
    pub fn down(&self) {
        must(self.lab.crossvisor().args(["host", "down", self.name]));
    }

    /// OpenSSH's configuration of the host, and its name there.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn ssh_config(&self) -> (String, String) {
        let path = self.lab.state().join("hosts").join(self.name).join("host/ssh_config");
        let text = std::fs::read_to_string(path).expect("SSH configuration");
        let alias = text.lines().find_map(|line| line.strip_prefix("Host ")).expect("alias").to_string();
        (text, alias)
    }
}
