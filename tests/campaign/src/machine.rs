//! A machine of the campaign's own: state, cache, guest and emulator in one folder, all gone when it is dropped.
//!
//! Owns the folder and how the program is started in it. It must never let the program see the state of others.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crossvisor_image::{GuestLibrary, ImageFacts};
use crossvisor_tests::program_folder;
use tempfile::TempDir;

/// A guest without a system: nothing of its image is ever executed.
const GUEST: &str = "name: stand-in\nsummary: an SSH server in a guest's place\nmin_memory: 64MiB\n\
    build: {suite: none}\ndisk: {size: 64MiB, label: none}\nboot: {cmdline: none}\nlogin: root\n";

/// The machine.
pub struct Machine {
    folder: TempDir,
}

impl Machine {
    /// # Errors
    /// When something in its folder cannot be made.
    pub fn new() -> io::Result<Self> {
        // Not below /var/tmp, where guests have a folder of their own.
        let machine = Self { folder: tempfile::Builder::new().prefix("cvc").tempdir_in("/tmp")? };
        for folder in ["bin", "tmp", "runs", "guests/stand-in"] {
            fs::create_dir_all(machine.path(folder))?;
        }
        // libvirt looks for the emulator by its name.
        fs::copy(
            program_folder().join("crossvisor-campaign-emulator"),
            machine.path("bin/qemu-system-x86_64"),
        )?;
        fs::write(machine.path("guests/stand-in/guest.yaml"), GUEST)?;
        machine.make_image()?;
        Ok(machine)
    }

    /// Puts an image of the guest where a built one would lie.
    fn make_image(&self) -> io::Result<()> {
        let library = GuestLibrary { folders: vec![self.path("guests")] };
        let guest = library.get("stand-in").map_err(io::Error::other)?;
        let folder = self.path("cache/images").join(format!("stand-in-{}", &guest.hash[..16]));
        fs::create_dir_all(&folder)?;
        let facts = ImageFacts {
            guest: guest.name.to_string(),
            definition: guest.hash,
            kernel: "none".into(),
            versions: Default::default(),
            root_bytes: 1 << 20,
            root_allocated_bytes: 0,
            kernel_bytes: 1,
            initrd_bytes: 1,
            multiboot_bytes: None,
            built_unix_s: 0,
        };
        File::create(folder.join("root.img"))?.set_len(facts.root_bytes)?;
        fs::write(folder.join("vmlinuz"), "k")?;
        fs::write(folder.join("initrd.img"), "i")?;
        fs::write(folder.join("image.json"), serde_json::to_vec(&facts)?)
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    #[must_use]
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// The work folder of a run.
    #[must_use]
    pub fn work(&self, run: &str) -> PathBuf {
        self.path("s/live").join(run)
    }

    /// The directory of a run.
    #[must_use]
    pub fn run(&self, run: &str) -> PathBuf {
        self.path("runs").join(run)
    }

    /// The program on this machine.
    #[must_use]
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut path = self.path("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program_folder().join("crossvisor"));
        command
            .args(arguments)
            .current_dir(self.folder())
            .env("PATH", path)
            .env("TMPDIR", self.path("tmp"))
            .env("CROSSVISOR_STATE", self.path("s"))
            .env("CROSSVISOR_CACHE", self.path("cache"))
            .env("CROSSVISOR_GUEST_PATH", self.path("guests"))
            .env_remove("CROSSVISOR_PLUGIN_PATH")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// When it cannot be started, or ends otherwise than well: with what it said.
    pub fn must(&self, arguments: &[&str]) -> io::Result<Output> {
        let output = self.program(arguments).output()?;
        if output.status.success() {
            return Ok(output);
        }
        let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        Err(io::Error::other(format!(
            "crossvisor {}: {}\n{}",
            arguments.join(" "),
            output.status,
            said.join("")
        )))
    }

    /// The command that starts a scenario as the run of the same name, with what it says in a file.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn start(&self, scenario: &str) -> io::Result<Command> {
        let said = File::create(self.path("said"))?;
        let file = format!("{scenario}.yaml");
        let mut command = self.program(&["run", &file, "--out", "runs", "--name", scenario]);
        command.stdout(said.try_clone()?).stderr(said);
        Ok(command)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // After an error there may be guests; nothing more can be done when this fails too.
        let _ = self.program(&["clean"]).output();
    }
}
