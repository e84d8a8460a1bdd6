//! What there is on a machine: files, domains, processes, loop devices and network cards.
//!
//! Everything is read from the kernel and from libvirt's own files, not through the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::Machine;

/// What libvirt and the program keep on purpose, below the machine's folder.
const KEPT: [&str; 4] = ["s/libvirt.log", "s/embed/cache/", "s/embed/run/qemu/driver.pid", "said"];

/// All things, each with what it is in its name, and the content of files that are small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene(BTreeMap<String, Vec<u8>>);

impl Scene {
    /// # Errors
    /// When something cannot be read.
    pub fn of(machine: &Machine) -> io::Result<Self> {
        let mut things = BTreeMap::new();
        let mut folders = vec![machine.folder().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in entries(&folder)? {
                let path = entry.path();
                let name = path.strip_prefix(machine.folder()).unwrap_or(&path).display().to_string();
                if KEPT.iter().any(|kept| name.starts_with(kept)) || is_half_written(&name) {
                    continue;
                }
                let kind = entry.file_type()?;
                let content = if kind.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
                if kind.is_dir() {
                    folders.push(path);
                }
                things.insert(format!("file {name}"), content);
            }
        }
        let others = processes(machine)?.into_iter().chain(loops(machine)?).chain(cards()?);
        things.extend(others.map(|thing| (thing, Vec::new())));
        Ok(Self(things))
    }

    /// What is here and was not there before.
    #[must_use]
    pub fn added_to(&self, before: &Self) -> Vec<String> {
        self.0.keys().filter(|thing| !before.0.contains_key(*thing)).cloned().collect()
    }

    /// What was there before and is here no more, or is no more what it was.
    #[must_use]
    pub fn touched_since(&self, before: &Self) -> Vec<String> {
        let same = |(thing, content): &(&String, &Vec<u8>)| self.0.get(*thing) != Some(content);
        before.0.iter().filter(same).map(|(thing, _)| thing.clone()).collect()
    }
}

/// A note of libvirt's on a running domain that is being written again whenever the driver is opened. Where a process ends
/// meanwhile it stays, beside the whole one, until the next opens the driver.
fn is_half_written(name: &str) -> bool {
    name.starts_with("s/embed/run/qemu/") && name.ends_with(".xml.new")
}

fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        // It has gone meanwhile.
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.collect(),
    }
}

/// Processes with the machine's folder in their environment or on their command line, by command line.
fn processes(machine: &Machine) -> io::Result<BTreeSet<String>> {
    let folder = machine.folder().to_string_lossy().into_owned();
    let mut found = BTreeSet::new();
    for entry in entries(Path::new("/proc"))? {
        let pid = entry.file_name().to_string_lossy().parse().unwrap_or(0u32);
        if pid == 0 || pid == std::process::id() {
            continue;
        }
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let [line, environment] = ["cmdline", "environ"].map(|name| text(&read(name)));
        if line.contains(&folder) || environment.contains(&folder) {
            found.insert(format!("process {pid} {line}"));
        }
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', " ")
}

fn loops(machine: &Machine) -> io::Result<BTreeSet<String>> {
    let folder = machine.folder().to_string_lossy().into_owned();
    let listed =
        Command::new("losetup").args(["--noheadings", "--list", "--output", "NAME,BACK-FILE"]).output()?;
    let lines = text(&listed.stdout);
    Ok(lines
        .lines()
        .filter(|line| line.contains(&folder))
        .map(|line| format!("loop device {line}"))
        .collect())
}

fn cards() -> io::Result<BTreeSet<String>> {
    let names = entries(Path::new("/sys/class/net"))?.into_iter();
    Ok(names.map(|card| format!("network card {}", card.file_name().to_string_lossy())).collect())
}
