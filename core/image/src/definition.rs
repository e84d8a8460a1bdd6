//! A guest definition: a folder with `guest.yaml`, a `setup` script and `files/`, as data.
//!
//! Owns what a definition may say and the hash that names its image. It must never run any of it.

use std::collections::BTreeMap;

use crossvisor_model::{Bytes, GuestOffer, Name};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::GuestError;

/// The file that makes a folder a guest definition.
pub(crate) const FILE: &str = "guest.yaml";

/// A guest as defined.
#[derive(Clone, Debug, PartialEq)]
pub struct GuestDefinition {
    pub name: Name,
    pub summary: String,
    /// The least memory the guest boots with.
    pub min_memory: Bytes,
    pub build: Build,
    pub disk: Disk,
    pub boot: Boot,
    /// The user that may log in with the run's key.
    pub login: String,
    /// sha256, in hex, over every file of the folder.
    pub hash: String,
    /// The folder, or `built in`.
    pub origin: String,
    /// Every file of the folder by its path in it.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// How the root file system is made.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The distribution's release: `bookworm`.
    pub suite: String,
    #[serde(default = "mirror")]
    pub mirror: String,
    pub packages: Vec<String>,
    /// Patterns of paths that are not unpacked from the packages.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Patterns of paths that are unpacked although `exclude` has them.
    #[serde(default)]
    pub keep: Vec<String>,
}

/// The root disk.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    pub size: Bytes,
    /// The file system's label, by which the kernel finds it on any bus.
    pub label: String,
}

/// How the kernel is started.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// Without a console argument: the hypervisor knows its console.
    pub cmdline: String,
}

/// `guest.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: Name,
    summary: String,
    min_memory: Bytes,
    build: Build,
    disk: Disk,
    boot: Boot,
    login: String,
}

fn mirror() -> String {
    "http://deb.debian.org/debian".into()
}

impl GuestDefinition {
    /// Reads a definition from the files of its folder; `origin` is the folder's name in messages.
    pub(crate) fn read(origin: String, files: BTreeMap<String, Vec<u8>>) -> Result<Self, GuestError> {
        let file = format!("{origin}/{FILE}");
        let invalid = |message: String| GuestError::Invalid { file: file.clone(), message };
        let text = files.get(FILE).ok_or_else(|| invalid("the file is missing".into()))?;
        let document: Document = serde_yaml::from_slice(text).map_err(|e| match e.location() {
            Some(at) => GuestError::Syntax {
                file: file.clone(),
                line: at.line(),
                column: at.column(),
                message: e.to_string(),
            },
            None => invalid(e.to_string()),
        })?;
        check(&document).map_err(invalid)?;
        let Document { name, summary, min_memory, build, disk, boot, login } = document;
        let hash = hash(&files);
        Ok(Self { name, summary, min_memory, build, disk, boot, login, hash, origin, files })
    }

    /// What a scenario must know of the guest.
    #[must_use]
    pub fn offer(&self) -> GuestOffer {
        GuestOffer { summary: self.summary.clone(), min_memory: self.min_memory, host: None }
    }

    /// The name of the image in a cache: the guest's name and the start of the hash.
    pub(crate) fn key(&self) -> String {
        format!("{}-{}", self.name, &self.hash[..16])
    }
}

/// Nothing of a definition may be taken for an option, or for more than one line of a configuration.
fn check(document: &Document) -> Result<(), String> {
    let made_of = |text: &str, others: &str| {
        let first = text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
        first && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    let Build { suite, mirror, packages, exclude, keep } = &document.build;
    if !made_of(suite, "-./") {
        return Err(format!("build.suite: '{suite}' is not a release name such as bookworm"));
    }
    let known = ["http://", "https://", "file://"].iter().any(|scheme| mirror.starts_with(scheme));
    if !known || mirror.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(format!("build.mirror: '{mirror}' is not an http, https or file URL"));
    }
    if let Some(bad) = packages.iter().find(|package| !made_of(package, "+-.:")) {
        return Err(format!("build.packages: '{bad}' is not a package name"));
    }
    let plain = |path: &&String| path.starts_with('/') && !path.contains(|c: char| c.is_whitespace());
    if let Some(bad) = exclude.iter().chain(keep).find(|path| !plain(path)) {
        return Err(format!("build.exclude and build.keep: '{bad}' is not an absolute path pattern"));
    }
    if document.disk.label.len() > 16 || !made_of(&document.disk.label, "-_") {
        let label = &document.disk.label;
        return Err(format!("disk.label: '{label}' is not 1 to 16 letters, digits, '-' or '_'"));
    }
    if document.disk.size.mib() < 64 {
        return Err(format!(
            "disk.size: {} is too small for a system: give 64MiB or more",
            document.disk.size
        ));
    }
    if !made_of(&document.login, "-_") {
        return Err(format!("login: '{}' is not a user name", document.login));
    }
    Ok(())
}

fn hash(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut sha = Sha256::new();
    for (path, content) in files {
        for part in [path.as_bytes(), content] {
            sha.update((part.len() as u64).to_le_bytes());
            sha.update(part);
        }
    }
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: tiny\nsummary: a test\nmin_memory: 128MiB\nbuild:\n  suite: bookworm\n  packages: [bash]\n\
        disk: {size: 1GiB, label: tiny}\nboot: {cmdline: root=LABEL=tiny rw}\nlogin: root\n";

    fn read(text: &str) -> Result<GuestDefinition, GuestError> {
        GuestDefinition::read("guests/tiny".into(), BTreeMap::from([(FILE.into(), text.into())]))
    }

    #[test]
    fn a_definition_reads_with_its_defaults() {
        let guest = read(GOOD).expect("good");
        assert_eq!(guest.build.mirror, "http://deb.debian.org/debian");
        assert_eq!(guest.disk.size, Bytes(1 << 30));
        assert_eq!(guest.key(), format!("tiny-{}", &guest.hash[..16]));
        assert_eq!(guest.offer().min_memory.mib(), 128);
    }

    #[test]
    fn the_hash_changes_with_any_byte_or_name_of_any_file() {
        let files = |name: &str, text: &str| BTreeMap::from([(name.to_string(), text.as_bytes().to_vec())]);
        let hashes = [("a", "bc"), ("ab", "c"), ("a", "bd"), ("b", "bc")].map(|(n, t)| hash(&files(n, t)));
        let distinct: std::collections::BTreeSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), 4);
        assert_eq!(hash(&files("a", "bc")), hashes[0]);
        assert_eq!(hashes[0].len(), 64);
    }

    #[test]
    fn a_mistake_is_shown_with_file_and_line() {
        let wrong = read(&GOOD.replace("login", "logn")).expect_err("unknown field").to_string();
        assert!(wrong.starts_with("guests/tiny/guest.yaml:9:1: ") && wrong.contains("logn"), "{wrong}");
        let wrong = read(&GOOD.replace("1GiB", "1G")).expect_err("unit").to_string();
        assert!(
            wrong.starts_with("guests/tiny/guest.yaml:7:") && wrong.contains("'G' is not a unit"),
            "{wrong}"
        );
    }

    #[test]
    fn nothing_is_taken_for_an_option_or_a_second_line() {
        for (good, bad) in [
            ("[bash]", "[--setup-hook=x]"),
            ("[bash]", "['a,b']"),
            ("bookworm", "-x"),
            ("packages: [bash]", "packages: []\n  exclude: [\"/a\\npost-invoke=x\"]"),
            ("packages: [bash]", "packages: []\n  mirror: deb http://x y z"),
            ("label: tiny", "label: '-O x'"),
            ("1GiB", "1MiB"),
            ("login: root", "login: -oProxyCommand=x"),
        ] {
            let text = GOOD.replace(good, bad);
            assert!(matches!(read(&text), Err(GuestError::Invalid { .. })), "{text}: {:?}", read(&text));
        }
    }
}
