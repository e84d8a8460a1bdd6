//! One file, from its path to a plugin: checked, consented to, then opened.
//!
//! Owns the order of the checks. It must never run anything of a file before all of them have passed.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crossvisor_model::Manifest;
use crossvisor_plugin::abi::symbol;

use crate::child::Child;
use crate::file::{self, Form, Rule};
use crate::load::stem;
use crate::plugin::Way;
use crate::{Broken, Candidate, Plugin, SearchPath, Trusted, descriptor, sidecar};

/// How it is known that a person wants a plugin to run.
pub(crate) enum Consent {
    /// By naming its file for this run.
    Given,
    /// By the list of consents.
    Recorded(Vec<Trusted>),
}

/// Loads the file as the candidate, of which it fills in what comes to light.
pub(crate) fn admit(
    candidate: &mut Candidate,
    path: &Path,
    search: &SearchPath,
    consent: &Consent,
) -> Result<Plugin, Broken> {
    let is_bundled = search.is_bundled(path);
    let rule = if is_bundled { Rule::Bundled } else { Rule::Strict };
    let checked = file::check(path, rule)?;
    let described = sidecar::read(&checked.path, rule)?;
    candidate.manifest = described.as_ref().map(|described| described.manifest.clone());
    if !is_bundled || described.is_some() {
        let source = |source| Broken::Unreadable { path: checked.path.clone(), source };
        let sha256 = checked.sha256().map_err(source)?;
        candidate.sha256 = Some(sha256.clone());
        if let Some(expected) = described.as_ref().map(|d| &d.sha256).filter(|sum| **sum != sha256) {
            return Err(Broken::Checksum { expected: expected.clone(), found: sha256 });
        }
        if !is_bundled {
            consent.to(&checked.path, &sha256)?;
        }
    }
    let origin = candidate.origin.clone();
    if is_bundled && checked.form == Form::Library {
        let entry = descriptor::open(&checked.path, &symbol(&candidate.name))?;
        let manifest = describe(&candidate.name, entry.manifest_json)?;
        return Ok(Plugin { manifest, origin, way: Way::InProcess(entry) });
    }
    let described = described.map(|described| described.manifest);
    let child = Child {
        name: candidate.name.clone(),
        file: checked,
        host_program: search.host_program.clone(),
        limits: search.limits,
        described: described.clone(),
        process: Mutex::new(None),
    };
    let manifest = named(&candidate.name, described.map_or_else(|| child.manifest(), Ok)?)?;
    Ok(Plugin { manifest, origin, way: Way::Child(Arc::new(child)) })
}

impl Consent {
    fn to(&self, path: &Path, sha256: &str) -> Result<(), Broken> {
        let Self::Recorded(all) = self else { return Ok(()) };
        match all.iter().find(|trusted| trusted.path == path) {
            Some(trusted) if trusted.sha256 == sha256 => Ok(()),
            Some(_) => Err(Broken::Changed(path.into())),
            None => Err(Broken::Untrusted(path.into())),
        }
    }
}

/// Reads the manifest and holds its name against the one that was asked for.
pub(crate) fn describe(name: &str, manifest_json: &[u8]) -> Result<Manifest, Broken> {
    named(name, serde_json::from_slice(manifest_json).map_err(|e| Broken::Manifest(e.to_string()))?)
}

fn named(name: &str, manifest: Manifest) -> Result<Manifest, Broken> {
    if stem(manifest.name.as_str()) == stem(name) {
        Ok(manifest)
    } else {
        Err(Broken::OtherName(manifest.name))
    }
}
