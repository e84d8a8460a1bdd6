//! Python packages of a definition that Debian does not have.
//!
//! Owns how they are fetched: by pip of this machine, with its mirrors, proxies and certificates, because the new system
//! has none of them. It must never take a file whose checksum is not the definition's, nor run anything of it.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::ImageError;
use crate::tool::{Watch, command, need, run};

const STAGE: &str = "fetch Python packages";
/// Where a `setup` finds them, below the new system's root.
pub(crate) const FOLDER: &str = ".crossvisor/wheels";
/// What the guests are: `x86_64` with glibc 2.17 or later.
const PLATFORM: &str = "manylinux2014_x86_64";

/// A binary package of PyPI, as <https://packaging.python.org/en/latest/specifications/binary-distribution-format/> has
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    pub name: String,
    pub version: String,
    /// Of the new system: `3.11`.
    pub python: String,
    /// Of the file, in hex.
    pub sha256: String,
}

impl Wheel {
    /// What may not stand in a definition.
    pub(crate) fn check(&self) -> Result<(), String> {
        let made_of = |text: &str, others: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
        };
        let named =
            made_of(&self.name, "-_.") && made_of(&self.version, "-_.+!") && made_of(&self.python, ".");
        if !named || self.name.starts_with('-') {
            return Err(format!(
                "build.wheels: '{}' in version '{}' for Python '{}' is not a package",
                self.name, self.version, self.python
            ));
        }
        if self.sha256.len() != 64 || !self.sha256.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(format!("build.wheels: the sha256 of '{}' is not 64 hexadecimal digits", self.name));
        }
        Ok(())
    }

    /// A line of pip's requirements file.
    fn requirement(&self) -> String {
        format!("{}=={} --hash=sha256:{}\n", self.name, self.version, self.sha256)
    }

    fn download(&self, requirements: &str) -> Command {
        let mut pip = command("pip3");
        pip.args(["download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]);
        pip.args(["--python-version", &self.python, "--platform", PLATFORM]);
        pip.args(["--dest", &format!("files/{FOLDER}"), "--requirement", requirements]);
        pip
    }
}

/// Puts the wheels among the files of the new system.
///
/// # Errors
/// [`ImageError`] when pip is missing or one cannot be had with its checksum.
pub(crate) fn fetch(wheels: &[Wheel], folder: &Path, watch: &mut Watch<'_>) -> Result<(), ImageError> {
    for wheel in wheels {
        need("pip3", "python3-pip")?;
        let requirements = "requirements.txt";
        let path = folder.join(requirements);
        std::fs::write(&path, wheel.requirement()).map_err(ImageError::io("write", &path))?;
        run(&mut wheel.download(requirements), folder, STAGE, watch, &|_| None)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel() -> Wheel {
        let [name, version, python] = ["some-package", "1.2.post1", "3.11"].map(String::from);
        Wheel { name, version, python, sha256: "0123456789abcdef".repeat(4) }
    }

    #[test]
    fn a_wheel_is_pinned_by_its_checksum() {
        let line = wheel().requirement();
        assert!(line.starts_with("some-package==1.2.post1 --hash=sha256:0123456789abcdef"), "{line}");
        let pip = wheel().download("requirements.txt");
        let arguments: Vec<_> = pip.get_args().map(|argument| argument.to_string_lossy()).collect();
        assert!(arguments.contains(&"--require-hashes".into()) && arguments.contains(&"3.11".into()));
    }

    #[test]
    fn nothing_else_gets_into_the_line() {
        assert_eq!(wheel().check(), Ok(()));
        let bad = [
            Wheel { name: "--index-url".into(), ..wheel() },
            Wheel { name: "a b".into(), ..wheel() },
            Wheel { version: "1\n--no-index".into(), ..wheel() },
            Wheel { python: String::new(), ..wheel() },
            Wheel { sha256: "0".repeat(63), ..wheel() },
            Wheel { sha256: "g".repeat(64), ..wheel() },
        ];
        for wheel in bad {
            assert!(wheel.check().is_err(), "{wheel:?}");
        }
    }
}
