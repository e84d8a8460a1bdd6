//! From places to plugins: which file is used for which name, and what is told of the rest.
//!
//! Owns the rules of precedence and of clashes. It must never let one broken library keep another from loading.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crossvisor_model::{Kind, Manifest, Name};
use crossvisor_plugin::abi::{EntryFn, symbol};

use crate::descriptor::{self, Entry};
use crate::search::Candidate;
use crate::{Broken, LoadError, Origin, Plugin, SearchPath, trust};

/// Plugins that are linked into the program: the name of each and its entry function.
pub type Linked = &'static [(&'static str, EntryFn)];

/// What could be loaded, and what could not.
#[derive(Debug, Default)]
pub struct Loaded {
    pub plugins: BTreeMap<Name, Plugin>,
    pub problems: Vec<LoadError>,
}

impl Loaded {
    /// What each plugin says of itself.
    #[must_use]
    pub fn manifests(&self) -> BTreeMap<Name, Manifest> {
        self.plugins.iter().map(|(name, plugin)| (name.clone(), plugin.manifest.clone())).collect()
    }

    fn take(&mut self, name: &str, origin: Origin, opened: Result<Entry, Broken>) {
        match opened.and_then(|entry| describe(name, entry)) {
            Ok((manifest, entry)) => {
                self.plugins.insert(manifest.name.clone(), Plugin { manifest, origin, entry });
            }
            Err(reason) => self.problems.push(LoadError::Broken { name: name.into(), origin, reason }),
        }
    }
}

/// Loads every plugin there is: those given explicitly, then those found in the folders, then, where no file of
/// the name was found, those linked in. A problem with one is kept for whoever needs that one.
#[must_use]
pub fn load_all(search: &SearchPath, linked: Linked) -> Loaded {
    let mut loaded = Loaded::default();
    let mut taken = BTreeSet::new();
    for (name, path) in &search.explicit {
        if taken.insert(stem(name.as_str())) {
            loaded.take(name.as_str(), Origin::Path(path.clone()), open(path, name.as_str()));
        } else {
            loaded.problems.push(LoadError::ExplicitTwice(name.clone()));
        }
    }
    let found = search.candidates(&mut loaded.problems);
    for (name, files) in by_name(found, &taken) {
        match files.as_slice() {
            [first, second, ..] => loaded.problems.push(LoadError::Clash {
                name: name.replace('_', "-"),
                first: first.path.clone(),
                second: second.path.clone(),
            }),
            files => files.iter().for_each(|file| {
                loaded.take(&name, Origin::Path(file.path.clone()), open(&file.path, &name));
            }),
        }
        taken.insert(name);
    }
    for &(name, entry) in linked.iter().filter(|(name, _)| !taken.contains(&stem(name))) {
        loaded.take(name, Origin::Linked, descriptor::read(entry));
    }
    drop_offer_clashes(&mut loaded);
    loaded
}

/// A plugin's name as its file and its symbol have it.
fn stem(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

fn by_name(found: Vec<Candidate>, taken: &BTreeSet<String>) -> BTreeMap<String, Vec<Candidate>> {
    let mut names: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for candidate in found.into_iter().filter(|c| !taken.contains(&c.stem)) {
        names.entry(candidate.stem.clone()).or_default().push(candidate);
    }
    names
}

fn open(path: &Path, name: &str) -> Result<Entry, Broken> {
    descriptor::open(&trust::check(path)?, &symbol(name))
}

/// Reads the manifest and holds its name against the one that was asked for.
fn describe(name: &str, entry: Entry) -> Result<(Manifest, Entry), Broken> {
    let manifest: Manifest =
        serde_json::from_slice(entry.manifest_json).map_err(|e| Broken::Manifest(e.to_string()))?;
    if stem(manifest.name.as_str()) != stem(name) {
        return Err(Broken::OtherName(manifest.name));
    }
    Ok((manifest, entry))
}

/// A scenario names offers, not plugins: an offer that two plugins make names neither.
fn drop_offer_clashes(loaded: &mut Loaded) {
    let mut offered: BTreeMap<(Kind, Name), Name> = BTreeMap::new();
    let mut clashing = BTreeSet::new();
    for (name, plugin) in &loaded.plugins {
        for offer in &plugin.manifest.offers {
            let key = (plugin.manifest.kind, offer.name.clone());
            let Some(other) = offered.get(&key).filter(|other| *other != name) else {
                offered.insert(key, name.clone());
                continue;
            };
            let origin = |name: &Name| (name.clone(), loaded.plugins[name].origin.clone());
            loaded.problems.push(LoadError::OfferClash {
                kind: key.0,
                offer: key.1,
                first: origin(other),
                second: origin(name),
            });
            clashing.extend([other.clone(), name.clone()]);
        }
    }
    loaded.plugins.retain(|name, _| !clashing.contains(name));
}
