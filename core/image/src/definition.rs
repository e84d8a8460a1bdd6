//! A guest definition: a folder with `guest.yaml`, a `setup` script and `files/`, as data, on top of the definition
//! that it extends.
//!
//! Owns what a definition may say and the hash that names its image. It must never run any of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_model::{Bytes, GuestOffer, Name};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::check::check;
use crate::{GuestError, HostDefinition, Wheel};

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
    /// Set where the guest can be a host.
    pub host: Option<HostDefinition>,
    /// The user that may log in with the run's key.
    pub login: String,
    /// sha256, in hex, over every file of the folder and of those that it extends.
    pub hash: String,
    /// The folder, or `built in`.
    pub origin: String,
    /// What goes into the new system before its packages, by path in it.
    pub(crate) files: Files,
    /// Scripts that run in the new system after its packages are installed, in this order.
    pub(crate) setups: Vec<Vec<u8>>,
}

/// Contents by path.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// How the root file system is made.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The distribution's release: `bookworm`. Left out: that of the extended definition.
    #[serde(default)]
    pub suite: String,
    /// Left out: that of the extended definition, or Debian's.
    #[serde(default)]
    pub mirror: String,
    #[serde(default)]
    pub packages: Vec<String>,
    /// Patterns of paths that are not unpacked from the packages.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Patterns of paths that are unpacked although `exclude` has them.
    #[serde(default)]
    pub keep: Vec<String>,
    /// Python packages that lie in `/.crossvisor/wheels` of the new system while its `setup` runs.
    #[serde(default)]
    pub wheels: Vec<Wheel>,
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
    /// What is started before the kernel.
    #[serde(default)]
    pub multiboot: Option<Multiboot>,
}

/// A program of the Multiboot specification, version 1, that starts the kernel: Xen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multiboot {
    /// An ELF file of the new system, which may be compressed by gzip: `/boot/xen-4.17-amd64.gz`.
    pub kernel: PathBuf,
    pub cmdline: String,
    /// What the kernel gets in place of the hypervisor's console: `console=hvc0`.
    pub console: String,
}

/// `guest.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub name: Name,
    pub summary: String,
    pub min_memory: Bytes,
    /// The definition that comes first: its packages, patterns, files and setup.
    #[serde(default)]
    pub extends: Option<Name>,
    #[serde(default)]
    pub build: Build,
    pub disk: Disk,
    pub boot: Boot,
    #[serde(default)]
    pub host: Option<HostDefinition>,
    pub login: String,
}

const MIRROR: &str = "http://deb.debian.org/debian";

impl GuestDefinition {
    /// Reads a definition from the files of its folder; `origin` is the folder's name in messages, and `base` gives the
    /// definition that it extends.
    pub(crate) fn read(
        origin: String,
        mut files: Files,
        base: impl FnOnce(&Name) -> Result<Self, GuestError>,
    ) -> Result<Self, GuestError> {
        let file = format!("{origin}/{FILE}");
        let invalid = |message: String| GuestError::Invalid { file: file.clone(), message };
        let text = files.get(FILE).ok_or_else(|| invalid("the file is missing".into()))?;
        let mut document: Document = serde_yaml::from_slice(text).map_err(|e| match e.location() {
            Some(at) => GuestError::Syntax {
                file: file.clone(),
                line: at.line(),
                column: at.column(),
                message: e.to_string(),
            },
            None => invalid(e.to_string()),
        })?;
        let base = document.extends.as_ref().map(base).transpose()?;
        document.build.follow(base.as_ref().map(|base| &base.build));
        check(&document).map_err(invalid)?;
        let hash = hash(&files, base.as_ref().map(|base| base.hash.as_str()));
        let (mut all, mut setups) = base.map(|base| (base.files, base.setups)).unwrap_or_default();
        setups.extend(files.remove("setup"));
        let inside = |(path, content): (String, _)| Some((path.strip_prefix("files/")?.to_string(), content));
        all.extend(files.into_iter().filter_map(inside));
        let Document { name, summary, min_memory, extends: _, build, disk, boot, host, login } = document;
        Ok(Self {
            name,
            summary,
            min_memory,
            build,
            disk,
            boot,
            host,
            login,
            hash,
            origin,
            files: all,
            setups,
        })
    }

    /// What a scenario must know of the guest.
    #[must_use]
    pub fn offer(&self) -> GuestOffer {
        GuestOffer {
            summary: self.summary.clone(),
            min_memory: self.min_memory,
            host: self.host.as_ref().map(HostDefinition::offer),
        }
    }

    /// The name of the image in a cache: the guest's name and the start of the hash.
    pub(crate) fn key(&self) -> String {
        format!("{}-{}", self.name, &self.hash[..16])
    }
}

impl Build {
    /// Puts what the extended definition has before its own.
    fn follow(&mut self, base: Option<&Self>) {
        let Some(base) = base else {
            if self.mirror.is_empty() {
                self.mirror = MIRROR.into();
            }
            return;
        };
        for (own, of_base) in [(&mut self.suite, &base.suite), (&mut self.mirror, &base.mirror)] {
            if own.is_empty() {
                own.clone_from(of_base);
            }
        }
        for (own, of_base) in [
            (&mut self.packages, &base.packages),
            (&mut self.exclude, &base.exclude),
            (&mut self.keep, &base.keep),
        ] {
            own.splice(..0, of_base.iter().cloned());
        }
        self.wheels.splice(..0, base.wheels.iter().cloned());
    }
}

fn hash(files: &Files, base: Option<&str>) -> String {
    let mut sha = Sha256::new();
    let files = files.iter().flat_map(|(path, content)| [path.as_bytes(), content]);
    for part in files.chain(base.map(str::as_bytes)) {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part);
    }
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: tiny\nsummary: a test\nmin_memory: 128MiB\nbuild:\n  suite: bookworm\n  packages: [bash]\n\
        disk: {size: 1GiB, label: tiny}\nboot: {cmdline: root=LABEL=tiny rw}\nlogin: root\n";

    fn read(text: &str) -> Result<GuestDefinition, GuestError> {
        extend(text, read_none)
    }

    fn read_none(name: &Name) -> Result<GuestDefinition, GuestError> {
        Err(GuestError::Unknown { name: name.to_string(), known: String::new() })
    }

    fn extend(
        text: &str,
        base: impl FnOnce(&Name) -> Result<GuestDefinition, GuestError>,
    ) -> Result<GuestDefinition, GuestError> {
        let files = [(FILE, text), ("setup", "#!/bin/sh\n"), ("files/etc/fstab", text)];
        let files = files.map(|(path, text)| (path.to_string(), text.as_bytes().to_vec()));
        GuestDefinition::read("guests/tiny".into(), Files::from(files), base)
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
        let hashes =
            [("a", "bc"), ("ab", "c"), ("a", "bd"), ("b", "bc")].map(|(n, t)| hash(&files(n, t), None));
        let distinct: std::collections::BTreeSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), 4);
        assert_eq!(hash(&files("a", "bc"), None), hashes[0]);
        assert_ne!(hash(&files("a", "bc"), Some("0")), hashes[0]);
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
            ("suite: bookworm", "mirror: 'http://x'"),
            ("rw}", "rw, multiboot: {kernel: /boot/../etc/x, cmdline: '', console: ''}}"),
            ("rw}", "rw, multiboot: {kernel: xen, cmdline: '', console: ''}}"),
        ] {
            let text = GOOD.replace(good, bad);
            assert!(matches!(read(&text), Err(GuestError::Invalid { .. })), "{text}: {:?}", read(&text));
        }
    }

    #[test]
    fn a_host_is_read_and_its_limits_are_kept() {
        let host = "host: {uri: 'xen:///system', bridge: br0, memory: 2GiB, system_memory: 1GiB, vcpus: 1, disk: 4GiB, \
            hypervisor: kvm-virtio, storage: {offer: file, options: {cache: writeback}}}\n";
        let guest = read(&format!("{GOOD}{host}")).expect("good");
        let offer = guest.offer().host.expect("a host");
        assert_eq!((offer.uri.as_str(), offer.bridge.as_str()), ("xen:///system", "br0"));
        assert_eq!((offer.memory.mib(), offer.system_memory.mib()), (2048, 1024));
        let made = guest.host.expect("a host");
        assert_eq!(made.storage.options["cache"], "writeback");
        assert_eq!(read(GOOD).expect("good").offer().host, None);
        for (good, bad, key) in [
            ("xen:///system", "xen+ssh://rack/system", "host.uri"),
            ("xen:///system", "xen:///system x", "host.uri"),
            ("br0", "a-name-of-16-bytes", "host.bridge"),
            ("br0", "-br0", "host.bridge"),
            ("vcpus: 1", "vcpus: 0", "host.vcpus"),
            ("system_memory: 1GiB", "system_memory: 2GiB", "host.system_memory"),
        ] {
            let wrong = read(&format!("{GOOD}{}", host.replace(good, bad))).expect_err(bad).to_string();
            assert!(wrong.contains(key), "{wrong}");
        }
    }
}
