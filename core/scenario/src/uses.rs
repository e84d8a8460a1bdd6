//! What the names in the matrix mean: which offer of which plugin, with which options.
//!
//! Owns the lookup of names among the scenario's definitions and the offers. It must never load a plugin.

use std::collections::BTreeMap;

use crossvisor_model::{Axes, Catalog, Kind, Name, Use};

use crate::options;
use crate::reader::Reader;
use crate::scenario::Definitions;
use crate::source::Spanned;
use crate::suggest;

/// The names of one kind of plugin in a scenario.
pub(crate) struct Lookup<'a> {
    pub kind: Kind,
    pub catalog: &'a Catalog,
    pub definitions: &'a Definitions,
}

impl Lookup<'_> {
    /// Checks all definitions, used or not, and finds what each of the `wanted` names means.
    pub fn uses<'n>(
        &self,
        reader: &mut Reader,
        wanted: impl Iterator<Item = &'n Spanned<Name>>,
    ) -> BTreeMap<Name, Use> {
        let mut defined = self.defined(reader);
        let mut uses = BTreeMap::new();
        for name in wanted {
            if uses.contains_key(&name.value) || self.is_bare(&name.value) {
                continue;
            }
            let found = match self.definitions.contains_key(&name.value) {
                true => defined.remove(&name.value),
                false => self.offered(reader, name, &[]),
            };
            uses.extend(found.map(|found| (name.value.clone(), found)));
        }
        uses
    }

    fn is_bare(&self, name: &Name) -> bool {
        self.kind == Kind::Hypervisor && name.as_str() == Axes::BARE
    }

    fn defined(&self, reader: &mut Reader) -> BTreeMap<Name, Use> {
        let mut defined = BTreeMap::new();
        for (name, definition) in self.definitions {
            if *name != definition.offer.value && self.catalog.offer(self.kind, name.as_str()).is_some() {
                let message = format!("'{name}' is the name of another {} offer", self.kind);
                reader.problem(definition.span, message, "choose a name that does not mislead");
            }
            let found = self.offered(reader, &definition.offer, &definition.options);
            defined.extend(found.map(|found| (name.clone(), found)));
        }
        defined
    }

    /// The offer called `name` with the options `written`.
    fn offered(
        &self,
        reader: &mut Reader,
        name: &Spanned<Name>,
        written: &[(Spanned<String>, crate::tree::Node)],
    ) -> Option<Use> {
        let Some((plugin, offer)) = self.catalog.offer(self.kind, name.value.as_str()) else {
            self.unknown(reader, name);
            return None;
        };
        let options = options::check(reader, offer, written);
        Some(Use { plugin: plugin.clone(), offer: offer.name.clone(), options })
    }

    fn unknown(&self, reader: &mut Reader, name: &Spanned<Name>) {
        if reader.is_full() {
            return;
        }
        let kind = self.kind;
        let mut known: Vec<_> = self.catalog.offers(kind).map(|(_, offer)| offer.name.as_str()).collect();
        let own = self.definitions.keys().map(Name::as_str).take(suggest::MAX_KNOWN);
        known.extend(own.filter(|own| *own != name.value.as_str()));
        if kind == Kind::Hypervisor {
            known.push(Axes::BARE);
        }
        known.sort_unstable();
        known.dedup();
        let there = suggest::among(name.value.as_str(), "there are", &known);
        let help = format!("{there}; any other needs one more {kind} plugin, see 'crossvisor plugin list'");
        reader.problem(name.span, format!("no loaded {kind} plugin offers '{}'", name.value), help);
    }
}
