//! Files of this machine to another: sparse, compressed where both can, and never half there.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crossvisor_model::{Exec, Place};

use crate::machine::{Machine, Process};
use crate::{Cancel, Local, TargetError};

/// A machine that takes nothing for this long is lost.
const STALL: Duration = Duration::from_secs(60);
/// What is read and sent at once, in bytes.
const CHUNK: usize = 1 << 18;
const COMPRESS: &str = "zstd -1";
const DECOMPRESS: &str = "zstd -d";

/// Copies the files `names` of `folder` into the folder `to` of a machine, where they replace what had their names.
/// Each appears there only when all are complete. Holes stay holes.
///
/// # Errors
/// [`TargetError`] when a file cannot be read here or written there, at the deadline, or when the run is interrupted;
/// nothing that was begun stays there, as far as the machine still answers.
pub fn files(
    folder: &Path,
    names: &[&str],
    machine: &dyn Machine,
    to: &Path,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), TargetError> {
    cancel.check(deadline, "copy files")?;
    // An interrupt waits for these: what they begin must be known, to be removed.
    let there = |argv: &[&str]| run(machine, argv, deadline, &Cancel::default());
    let to = to.to_string_lossy();
    there(&["mkdir", "-p", "--", &to])?;
    let partial = there(&["mktemp", "-d", "--", &format!("{to}/.crossvisor-XXXXXXXX")])?;
    let partial = partial.trim_end();
    let done = send(folder, names, machine, partial, deadline, cancel).and_then(|()| {
        let complete: Vec<String> = names.iter().map(|name| format!("{partial}/{name}")).collect();
        let target = format!("--target-directory={to}");
        let mut argv = vec!["mv", "-f", target.as_str(), "--"];
        argv.extend(complete.iter().map(String::as_str));
        there(&argv)
    });
    let removed = there(&["rm", "-rf", "--", partial]);
    done.and(removed).map(drop)
}

fn send(
    folder: &Path,
    names: &[&str],
    machine: &dyn Machine,
    partial: &str,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), TargetError> {
    let compressed = has_zstd(&Local, deadline, cancel)? && has_zstd(machine, deadline, cancel)?;
    let with = |program| if compressed { vec!["-I", program] } else { Vec::new() };
    let mut unpack = vec!["tar", "-x", "--no-same-owner", "-C", partial];
    unpack.extend(with(DECOMPRESS));
    let argv: Vec<String> = unpack.into_iter().map(Into::into).collect();
    let mut unpacking = machine.start(&argv, deadline)?;
    let mut packing = Packing::start(folder, names, &with(COMPRESS))?;
    if let Err(error) = pour(&mut packing, &mut *unpacking, deadline, cancel) {
        // The other end may have ended for a reason of its own, which is then the better one to tell.
        let ended = matches!(unpacking.pump(Duration::ZERO), Ok(true));
        return Err(ended.then(|| judge(&mut *unpacking).err()).flatten().unwrap_or(error));
    }
    unpacking.close_stdin()?;
    while !unpacking.pump(crate::cancel::TICK)? {
        cancel.check(deadline, unpacking.name())?;
    }
    judge(&mut *unpacking)
}

fn pour(
    packing: &mut Packing,
    unpacking: &mut dyn Process,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), TargetError> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = packing.read(&mut chunk)?;
        if read == 0 {
            return packing.finish();
        }
        cancel.check(deadline, "copy files")?;
        unpacking.write(&chunk[..read], deadline.min(Instant::now() + STALL))?;
    }
}

fn judge(ended: &mut dyn Process) -> Result<(), TargetError> {
    let what = ended.name().to_string();
    let printed = ended.printed();
    match printed.exit {
        Some(0) => Ok(()),
        _ => Err(TargetError::EndedEarly {
            what,
            tail: String::from_utf8_lossy(&printed.stderr).trim().into(),
        }),
    }
}

/// `tar` on this machine.
struct Packing(Child);

impl Packing {
    fn start(folder: &Path, names: &[&str], compress: &[&str]) -> Result<Self, TargetError> {
        let child = Command::new("tar")
            .args(["--sparse", "-c"])
            .args(compress)
            .arg("-C")
            .arg(folder)
            .arg("--")
            .args(names)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| TargetError::Start { program: "tar".into(), source })?;
        Ok(Self(child))
    }

    fn read(&mut self, chunk: &mut [u8]) -> Result<usize, TargetError> {
        let Some(stdout) = &mut self.0.stdout else { return Ok(0) };
        stdout.read(chunk).map_err(TargetError::io("read from tar"))
    }

    fn finish(&mut self) -> Result<(), TargetError> {
        let mut said = String::new();
        if let Some(stderr) = &mut self.0.stderr {
            stderr.read_to_string(&mut said).map_err(TargetError::io("read from tar"))?;
        }
        let status = self.0.wait().map_err(TargetError::io("wait for tar"))?;
        match status.success() {
            true => Ok(()),
            false => Err(TargetError::EndedEarly { what: "tar".into(), tail: said.trim().into() }),
        }
    }
}

impl Drop for Packing {
    fn drop(&mut self) {
        // Ended already: nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn has_zstd(machine: &dyn Machine, deadline: Instant, cancel: &Cancel) -> Result<bool, TargetError> {
    match run(machine, &["sh", "-c", "command -v zstd"], deadline, cancel) {
        Ok(_) => Ok(true),
        Err(TargetError::EndedEarly { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What a program prints that must succeed.
fn run(
    machine: &dyn Machine,
    argv: &[&str],
    deadline: Instant,
    cancel: &Cancel,
) -> Result<String, TargetError> {
    // Also after the deadline there must be time to clean up.
    let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_secs(10));
    let result = machine.run(&Exec::new(Place::Host, argv.iter().copied(), left.as_secs_f64()), cancel)?;
    match result.exit {
        Some(0) => Ok(result.stdout),
        _ => Err(TargetError::EndedEarly { what: argv.join(" "), tail: result.stderr.trim().into() }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    #[test]
    fn holes_stay_holes_and_nothing_else_appears() {
        let (from, to) = (tempfile::tempdir().expect("from"), tempfile::tempdir().expect("to"));
        let image = fs::File::create(from.path().join("-image")).expect("image");
        image.set_len(64 << 20).expect("length");
        fs::write(from.path().join("kernel"), [7; 5000]).expect("kernel");
        let to = to.path().join("new folder");
        fs::create_dir(&to).expect("to");
        fs::write(to.join("kernel"), "old").expect("old");
        files(from.path(), &["-image", "kernel"], &Local, &to, soon(), &Cancel::default()).expect("copied");
        let copied = fs::metadata(to.join("-image")).expect("image");
        assert_eq!(copied.len(), 64 << 20);
        assert!(copied.blocks() * 512 < 1 << 20, "{} blocks", copied.blocks());
        assert_eq!(fs::read(to.join("kernel")).expect("kernel"), [7; 5000]);
        assert_eq!(fs::read_dir(&to).expect("to").count(), 2);
    }

    #[test]
    fn what_is_missing_here_leaves_nothing_there() {
        let (from, to) = (tempfile::tempdir().expect("from"), tempfile::tempdir().expect("to"));
        fs::write(from.path().join("there"), "x").expect("file");
        let error =
            files(from.path(), &["there", "not there"], &Local, to.path(), soon(), &Cancel::default());
        let error = error.expect_err("missing").to_string();
        assert!(error.contains("not there"), "{error}");
        assert_eq!(fs::read_dir(to.path()).expect("to").count(), 0);
    }

    #[test]
    fn an_interrupt_leaves_nothing_there() {
        let (from, to) = (tempfile::tempdir().expect("from"), tempfile::tempdir().expect("to"));
        fs::write(from.path().join("there"), "x").expect("file");
        let cancel = Cancel::default();
        cancel.raise();
        let result = files(from.path(), &["there"], &Local, to.path(), soon(), &cancel);
        assert!(result.expect_err("interrupted").is_cancelled());
        assert_eq!(fs::read_dir(to.path()).expect("to").count(), 0);
    }
}
