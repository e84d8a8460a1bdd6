//! Domains that the embedded driver was starting or ending when its process was killed.
//!
//! libvirt notes one without an emulator yet with the process identifier 0, and holds the lock of its start for ever when
//! it finds the note again (libvirt 9.0). Its folders before there is a note, and its log, it forgets. Owns what is left of
//! such domains. It must never touch what belongs to a domain that is defined, or noted with a process.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use roxmltree::Document;

/// Removes the notes of domains that have no emulator yet, notes that were not yet whole, and the folders and logs of
/// domains that are neither noted nor defined. Nobody may use the driver meanwhile.
///
/// # Errors
/// When something cannot be read or removed.
pub fn forget(root: &Path) -> io::Result<()> {
    for note in paths(&root.join("run/qemu"))? {
        match extension(&note) {
            Some("new") => fs::remove_file(&note)?,
            Some("xml") => {
                let Some(folders) = folders_of_none(&fs::read_to_string(&note)?) else { continue };
                for folder in folders.iter().filter(|folder| folder.starts_with(root)) {
                    gone(fs::remove_dir_all(folder))?;
                }
                gone(fs::remove_file(note.with_extension("pid")))?;
                fs::remove_file(&note)?;
            }
            _ => {}
        }
    }
    let noted = domains(&root.join("run/qemu"))?;
    for folder in ["lib/qemu", "lib/qemu/channel/target"] {
        let of_none = |path: &PathBuf| short_name(path).is_some_and(|short| !is_begin_of_any(short, &noted));
        paths(&root.join(folder))?.into_iter().filter(of_none).try_for_each(fs::remove_dir_all)?;
    }
    let known: BTreeSet<_> = domains(&root.join("etc/qemu"))?.into_iter().chain(noted).collect();
    let of_none = |path: &PathBuf| extension(path) == Some("log") && !known.contains(&stem(path));
    paths(&root.join("log/qemu"))?.into_iter().filter(of_none).try_for_each(fs::remove_file)
}

/// What is in a folder; nothing where there is none.
fn paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names of the domains that have a file in a folder.
fn domains(folder: &Path) -> io::Result<BTreeSet<String>> {
    let files = paths(folder)?.into_iter().filter(|path| extension(path) == Some("xml"));
    Ok(files.map(|path| stem(&path)).collect())
}

/// The begin of its domain's name, where a folder is called `domain-ID-NAME`.
fn short_name(folder: &Path) -> Option<&str> {
    let (_, short) = folder.file_name()?.to_str()?.strip_prefix("domain-")?.split_once('-')?;
    Some(short)
}

fn is_begin_of_any(short: &str, names: &BTreeSet<String>) -> bool {
    names.iter().any(|name| name.starts_with(short))
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The folders of a domain whose note names no process; `None` where it names one or is none.
fn folders_of_none(note: &str) -> Option<Vec<PathBuf>> {
    let document = Document::parse(note).ok()?;
    let status = document.root_element();
    if !status.has_tag_name("domstatus") || status.attribute("pid") != Some("0") {
        return None;
    }
    let is_folder = |name: &str| matches!(name, "libDir" | "channelTargetDir");
    let folders = status.children().filter(|element| is_folder(element.tag_name().name()));
    Some(folders.filter_map(|folder| folder.attribute("path")).map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_domain_without_an_emulator_is_forgotten() {
        let root = tempfile::tempdir().expect("folder");
        let elsewhere = tempfile::tempdir().expect("folder");
        let path = |name: &str| root.path().join(name);
        let note = |name: &str, pid: u32, folder: &Path| {
            let (other, folder) = (elsewhere.path().display(), folder.display());
            let text = format!(
                "<!-- libvirt's -->\n<domstatus state='paused' pid='{pid}'><libDir path='{folder}'/>\
                 <channelTargetDir path='{other}'/></domstatus>"
            );
            fs::write(path(&format!("run/qemu/{name}.xml")), text).expect("note");
        };
        let short = |name: &str| format!("lib/qemu/domain-3-{name}");
        let folders = ["run/qemu", "etc/qemu", "log/qemu", "lib/starting", "lib/running", "lib/qemu/save"];
        for folder in folders.map(String::from).into_iter().chain(["running", "runn", "none"].map(short)) {
            fs::create_dir_all(path(&folder)).expect("folder");
        }
        note("starting", 0, &path("lib/starting"));
        note("running", 7, &path("lib/running"));
        for file in ["starting.pid", "running.pid", "half.xml.new", "odd.xml"] {
            fs::write(path("run/qemu").join(file), "0").expect("file");
        }
        for file in ["etc/qemu/off.xml", "log/qemu/off.log", "log/qemu/running.log", "log/qemu/none.log"] {
            fs::write(path(file), "").expect("file");
        }
        forget(root.path()).expect("forgotten");
        let kept = ["run/qemu/running.xml", "run/qemu/running.pid", "lib/running", "run/qemu/odd.xml"];
        let own = ["lib/qemu/save", "etc/qemu/off.xml", "log/qemu/off.log", "log/qemu/running.log"];
        for kept in kept.into_iter().chain(own).map(String::from).chain(["running", "runn"].map(short)) {
            assert!(path(&kept).exists(), "{kept} is gone");
        }
        assert!(!path(&short("none")).exists() && !path("log/qemu/none.log").exists());
        for gone in
            ["run/qemu/starting.xml", "run/qemu/starting.pid", "lib/starting", "run/qemu/half.xml.new"]
        {
            assert!(!path(gone).exists(), "{gone} is there");
        }
        assert!(elsewhere.path().exists(), "what is outside of the root is not the driver's");
        forget(&path("none")).expect("a root that was never used");
    }
}
