//! Domains that the embedded driver was starting when its process was killed, before there was an emulator.
//!
//! libvirt notes such a domain with the process identifier 0, and holds the lock of its start for ever when it finds the
//! note again (libvirt 9.0). Owns those notes. It must never touch one that names a process.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use roxmltree::Document;

/// Removes the notes of domains that have no emulator yet, with the folders that were made for it, and notes that were
/// not yet whole. Nobody may use the driver meanwhile.
///
/// # Errors
/// When something cannot be read or removed.
pub fn forget(root: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(root.join("run/qemu")) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let note = entry?.path();
        match note.extension().and_then(|extension| extension.to_str()) {
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
    Ok(())
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
        for folder in ["run/qemu", "lib/starting", "lib/running"] {
            fs::create_dir_all(path(folder)).expect("folder");
        }
        note("starting", 0, &path("lib/starting"));
        note("running", 7, &path("lib/running"));
        for file in ["starting.pid", "running.pid", "half.xml.new", "odd.xml"] {
            fs::write(path("run/qemu").join(file), "0").expect("file");
        }
        forget(root.path()).expect("forgotten");
        for kept in ["run/qemu/running.xml", "run/qemu/running.pid", "lib/running", "run/qemu/odd.xml"] {
            assert!(path(kept).exists(), "{kept} is gone");
        }
        for gone in
            ["run/qemu/starting.xml", "run/qemu/starting.pid", "lib/starting", "run/qemu/half.xml.new"]
        {
            assert!(!path(gone).exists(), "{gone} is there");
        }
        assert!(elsewhere.path().exists(), "what is outside of the root is not the driver's");
        forget(&path("none")).expect("a root that was never used");
    }
}
