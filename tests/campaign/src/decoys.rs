//! Things of others with names like ours, beside everything the program makes.
//!
//! Owns what they are and their removal. None carries our tag or lies in a work folder of ours.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};

use crate::Machine;

/// A run of somebody else that is alive: this process has its lock.
const ALIVE: &str = "alive-run";
/// What its journal would remove.
const THEIRS: &str = "theirs.raw";

/// A domain with a name like ours, no tag of ours, and the tag of somebody else.
fn domain(name: &str, uuid_end: u32) -> String {
    format!(
        "<domain type='qemu'><name>{name}</name><uuid>7b1b6d6e-6a3a-4d0e-9e0b-2f6f5a1c{uuid_end:04x}</uuid>\
         <metadata><o:domain xmlns:o='urn:other' run='file'/></metadata><memory unit='MiB'>16</memory>\
         <os><type arch='x86_64' machine='pc'>hvm</type></os></domain>"
    )
}

/// The decoys of a machine; gone when this is dropped, but for their files.
pub struct Decoys<'m> {
    machine: &'m Machine,
    loop_device: Option<String>,
    _alive: File,
}

impl<'m> Decoys<'m> {
    /// # Errors
    /// When one cannot be made.
    pub fn make(machine: &'m Machine) -> io::Result<Self> {
        let write = |path: &str, content: &str| {
            let path = machine.path(path);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, content)
        };
        write("s/live/not-a-run.raw", "theirs")?;
        write("s/live/cv-00000000-v1-g1.raw", "theirs")?;
        write("s/live/decoy-run/a.raw", "theirs")?;
        write("s/live/decoy-run/journal.jsonl", &removal(&machine.path(THEIRS).display().to_string()))?;
        write(THEIRS, "theirs")?;
        write("precious/lock", "")?;
        write("precious/journal.jsonl", &removal(&machine.path(THEIRS).display().to_string()))?;
        write("runs/other/samples.jsonl", "{}\n")?;
        write("cache/images/other-0123456789abcdef/root.img", "theirs")?;
        write("tmp/crossvisor-1", "theirs")?;
        symlink(machine.path("precious"), machine.path("s/live/link-run"))?;
        write(&format!("s/live/{ALIVE}/lock"), "")?;
        write(&format!("s/live/{ALIVE}/id"), "0000000a")?;
        write(
            &format!("s/live/{ALIVE}/journal.jsonl"),
            &removal(&machine.path(THEIRS).display().to_string()),
        )?;
        let alive = File::open(machine.work(ALIVE).join("lock"))?;
        flock(&alive, FlockOperation::NonBlockingLockExclusive)?;
        let backing = machine.path("cv-00000000-v1-g1.img");
        File::create(&backing)?.set_len(1 << 20)?;
        let attached = Command::new("losetup").args(["--find", "--show"]).arg(&backing).output()?;
        let device = String::from_utf8_lossy(&attached.stdout).trim().to_string();
        let loop_device = Some(device).filter(|device| attached.status.success() && !device.is_empty());
        let decoys = Self { machine, loop_device, _alive: alive };
        for (number, name) in (1..).zip(["cv-00000000-v1-g1", "cv-decoy-v1-g1"]) {
            let file = machine.path(&format!("{name}.xml"));
            fs::write(&file, domain(name, number))?;
            decoys.virsh(&["define", &file.to_string_lossy()])?;
        }
        decoys.virsh(&["start", "cv-decoy-v1-g1"])?;
        Ok(decoys)
    }

    /// libvirt's own client on the machine's embedded driver, which crashes in about one of fifty of virsh's short lives
    /// as it closes (libvirt 9.0): what it was to do is done by then.
    fn virsh(&self, arguments: &[&str]) -> io::Result<()> {
        let uri = format!("qemu:///embed?root={}", self.machine.path("s/embed").display());
        let virsh = self.machine.program(&[]);
        let path = virsh.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path);
        let path = path.unwrap_or_default().to_os_string();
        let output =
            Command::new("virsh").env("PATH", path).args(["-q", "-c", &uri]).args(arguments).output()?;
        match output.status.code() {
            Some(0) | None => Ok(()),
            Some(_) => Err(io::Error::other(format!("virsh {arguments:?}: {output:?}"))),
        }
    }
}

/// A journal that says to remove a file.
fn removal(path: &str) -> String {
    format!(
        "{{\"entry\":\"begin\",\"number\":1,\"host\":\"here\",\"undo\":{{\"do\":\"remove_file\",\"on\":\"host\",\"path\":\"{path}\"}}}}\n"
    )
}

impl Drop for Decoys<'_> {
    fn drop(&mut self) {
        // What cannot be removed here stays in a folder that goes, but for these two.
        let _ = self.virsh(&["destroy", "cv-decoy-v1-g1"]);
        if let Some(device) = &self.loop_device {
            let _ = Command::new("losetup").args(["--detach", device]).status();
        }
    }
}
