//! From places to plugins: which file is used for which name, and what is told of the rest.
//!
//! Owns the rules of precedence and of clashes. It must never let one broken plugin keep another from loading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crossvisor_model::{Kind, Manifest, Name};
use crossvisor_plugin::abi::EntryFn;

use crate::admit::{Consent, admit, describe};
use crate::plugin::Way;
use crate::search::Found;
use crate::{Broken, Candidate, LoadError, Origin, Plugin, SearchPath, State, descriptor, trust};

/// Plugins that are linked into the program: the name of each and its entry function.
pub type Linked = &'static [(&'static str, EntryFn)];

/// What could be loaded, and what could not.
#[derive(Debug, Default)]
pub struct Loaded {
    pub plugins: BTreeMap<Name, Plugin>,
    pub problems: Vec<LoadError>,
    /// Everything the search came upon, in its order.
    pub candidates: Vec<Candidate>,
}

impl Loaded {
    /// What each plugin says of itself.
    #[must_use]
    pub fn manifests(&self) -> BTreeMap<Name, Manifest> {
        self.plugins.iter().map(|(name, plugin)| (name.clone(), plugin.manifest.clone())).collect()
    }

    fn take(&mut self, mut candidate: Candidate, opened: Result<Plugin, Broken>) {
        match opened {
            Ok(plugin) => {
                candidate.manifest = Some(plugin.manifest.clone());
                self.plugins.insert(plugin.manifest.name.clone(), plugin);
            }
            Err(reason) => {
                (candidate.state, candidate.reason) = (reason.state(), reason.to_string());
                let (name, origin) = (candidate.name.clone(), candidate.origin.clone());
                self.problems.push(LoadError::Broken { name, origin, reason });
            }
        }
        self.candidates.push(candidate);
    }

    fn pass_over(&mut self, name: &str, origin: Origin, state: State, reason: String) {
        let candidate = Candidate { state, reason, ..Candidate::new(name, origin) };
        self.candidates.push(candidate);
    }
}

impl Candidate {
    fn new(name: &str, origin: Origin) -> Self {
        Self {
            name: name.into(),
            origin,
            sha256: None,
            manifest: None,
            state: State::Loaded,
            reason: String::new(),
        }
    }
}

/// Loads every plugin there is: those given explicitly, then those found in the folders, then, where no file of
/// the name was found, those linked in. A problem with one is kept for whoever needs that one.
#[must_use]
pub fn load_all(search: &SearchPath, linked: Linked) -> Loaded {
    let mut loaded = Loaded::default();
    let mut taken: BTreeMap<String, Origin> = BTreeMap::new();
    for (name, path) in &search.explicit {
        let origin = Origin::Path(path.clone());
        if taken.insert(stem(name.as_str()), origin.clone()).is_some() {
            loaded.problems.push(LoadError::ExplicitTwice(name.clone()));
            continue;
        }
        let mut candidate = Candidate::new(name.as_str(), origin);
        let opened = admit(&mut candidate, path, search, &Consent::Given);
        loaded.take(candidate, opened);
    }
    load_found(&mut loaded, search, &mut taken);
    for &(name, entry) in linked {
        if let Some(by) = taken.get(&stem(name)) {
            loaded.pass_over(name, Origin::Linked, State::Shadowed, format!("{by} goes before it"));
        } else {
            let opened = descriptor::read(entry).and_then(|entry| {
                let manifest = describe(name, entry.manifest_json)?;
                Ok(Plugin { manifest, origin: Origin::Linked, way: Way::InProcess(entry) })
            });
            loaded.take(Candidate::new(name, Origin::Linked), opened);
        }
    }
    drop_offer_clashes(&mut loaded);
    loaded
}

/// Loads one plugin from a file that the user named.
///
/// # Errors
/// [`LoadError::Broken`] with the reason.
pub fn load_one(name: &Name, path: &Path, search: &SearchPath) -> Result<Plugin, LoadError> {
    let origin = Origin::Path(path.into());
    let mut candidate = Candidate::new(name.as_str(), origin.clone());
    admit(&mut candidate, path, search, &Consent::Given).map_err(|reason| LoadError::Broken {
        name: name.to_string(),
        origin,
        reason,
    })
}

fn load_found(loaded: &mut Loaded, search: &SearchPath, taken: &mut BTreeMap<String, Origin>) {
    let consents = trust::consents(&search.trust_file).unwrap_or_else(|problem| {
        loaded.problems.push(LoadError::Trust(problem));
        Vec::new()
    });
    let consent = Consent::Recorded(consents);
    for (stem, files) in by_name(search.found(&mut loaded.problems)) {
        let name = stem.replace('_', "-");
        if let Some(by) = taken.get(&stem) {
            let reason = format!("{by} goes before it");
            for path in files {
                loaded.pass_over(&name, Origin::Path(path), State::Shadowed, reason.clone());
            }
            continue;
        }
        taken.insert(stem, Origin::Path(files[0].clone()));
        if let [first, second, ..] = files.as_slice() {
            let (first, second) = (first.clone(), second.clone());
            let clash = LoadError::Clash { name: name.clone(), first, second };
            for path in files {
                loaded.pass_over(&name, Origin::Path(path), State::Clash, clash.to_string());
            }
            loaded.problems.push(clash);
        } else {
            for path in files {
                let mut candidate = Candidate::new(&name, Origin::Path(path.clone()));
                let opened = admit(&mut candidate, &path, search, &consent);
                loaded.take(candidate, opened);
            }
        }
    }
}

/// A plugin's name as its file and its symbol have it.
pub(crate) fn stem(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

fn by_name(found: Vec<Found>) -> BTreeMap<String, Vec<PathBuf>> {
    let mut names: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for found in found {
        names.entry(found.stem).or_default().push(found.path);
    }
    names
}

/// A scenario names offers, not plugins: an offer that two plugins make names neither.
fn drop_offer_clashes(loaded: &mut Loaded) {
    let mut offered: BTreeMap<(Kind, Name), Name> = BTreeMap::new();
    let mut clashing = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, plugin) in &loaded.plugins {
        for offer in &plugin.manifest.offers {
            let key = (plugin.manifest.kind, offer.name.clone());
            let Some(other) = offered.get(&key).filter(|other| *other != name) else {
                offered.insert(key, name.clone());
                continue;
            };
            let origin = |name: &Name| (name.clone(), loaded.plugins[name].origin.clone());
            let (kind, offer) = key;
            let problem = LoadError::OfferClash { kind, offer, first: origin(other), second: origin(name) };
            for name in [other, name] {
                clashing.insert(name.clone(), problem.to_string());
            }
            problems.push(problem);
        }
    }
    loaded.problems.extend(problems);
    for (name, reason) in clashing {
        let Some(plugin) = loaded.plugins.remove(&name) else { continue };
        let mut used = loaded.candidates.iter_mut().filter(|c| c.state == State::Loaded);
        let is_it = |c: &&mut Candidate| c.origin == plugin.origin && stem(&c.name) == stem(name.as_str());
        if let Some(candidate) = used.find(is_it) {
            (candidate.state, candidate.reason) = (State::Clash, reason);
        }
    }
}
