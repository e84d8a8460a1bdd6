//! What a definition may not say.
//!
//! Owns the rules that its text must keep so that it is harmless. It must never change a definition.

use std::path::Component;

use crate::definition::{Build, Document, Multiboot};
use crate::{HostDefinition, Wheel};

/// Nothing of a definition may be taken for an option, or for more than one line of a configuration.
pub(crate) fn check(document: &Document) -> Result<(), String> {
    let made_of = |text: &str, others: &str| {
        let first = text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
        first && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    let Build { suite, mirror, packages, exclude, keep, wheels } = &document.build;
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
    wheels.iter().try_for_each(Wheel::check)?;
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
    document.boot.multiboot.as_ref().map_or(Ok(()), check_multiboot)?;
    document.host.as_ref().map_or(Ok(()), HostDefinition::check)
}

fn check_multiboot(multiboot: &Multiboot) -> Result<(), String> {
    let kernel = &multiboot.kernel;
    let plain = kernel.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !kernel.is_absolute() || !plain {
        return Err(format!(
            "boot.multiboot.kernel: '{}' is not an absolute path without '..'",
            kernel.display()
        ));
    }
    Ok(())
}
