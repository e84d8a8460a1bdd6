//! What the plugins of a run get ready on each host before its first guest.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_loader::Plugin;
use crossvisor_model::{Axes, Name, Plan, Use};
use crossvisor_plugin::{Call, StageInput, StageOutput};

use super::{Host, HostImage};
use crate::EngineError;
use crate::context::{Plugins, find, offer};
use crate::steps::{Steps, in_seconds, no_round};

/// A golden image may be copied whole; in seconds.
const LIMIT_S: f64 = 1800.0;

/// What was made ready, by host.
#[derive(Default)]
pub struct Staged {
    goldens: BTreeMap<(Name, Name), PathBuf>,
    /// What the plugins found, by host and by the name of the use.
    pub facts: BTreeMap<Name, BTreeMap<Name, BTreeMap<String, String>>>,
}

impl Staged {
    /// What a storage of a host makes its volumes from.
    pub fn golden<'s>(&'s self, host: &Name, storage: &Name, image: &'s HostImage) -> &'s PathBuf {
        self.goldens.get(&(host.clone(), storage.clone())).unwrap_or(&image.root)
    }

    /// Stages everything that the cells of a host use.
    ///
    /// # Errors
    /// [`EngineError::Stage`] of the first plugin that finds the host lacking.
    pub fn stage(
        plan: &Plan,
        plugins: &Plugins,
        (host, image): (&Host, &HostImage),
        steps: &Steps<'_>,
        id: &str,
    ) -> Result<Self, EngineError> {
        let mut staged = Self::default();
        let on_host = || plan.cells.iter().map(|cell| &cell.axes).filter(|axes| axes.host == host.name);
        let hypervisors = most(on_host().map(|axes| (Some(&axes.hypervisor), axes.guests)));
        let storages = most(on_host().map(|axes| (axes.storage.as_ref(), axes.guests)));
        let uses = [(&plan.hypervisors, hypervisors), (&plan.storages, storages)];
        let uses = uses.into_iter().flat_map(|(uses, most)| most.into_iter().map(move |most| (uses, most)));
        for (number, (uses, (name, guests))) in (1..).zip(uses) {
            let using = find(uses, plugins, name)?;
            if !offer(using).is_some_and(|offer| offer.stages) {
                continue;
            }
            let input = StageInput {
                golden: image.root.clone(),
                golden_bytes: image.root_bytes,
                folder: host.folder.clone(),
                name: Name::new(format!("cv-{id}-s{number}"))?,
                guests,
                memory_bytes: plan.guest.memory.0,
                vcpus: plan.guest.vcpus,
            };
            let output = ask(using, input, steps).map_err(|reason| EngineError::Stage {
                host: host.name.clone(),
                using: name.clone(),
                reason,
            })?;
            staged.facts.entry(host.name.clone()).or_default().insert(name.clone(), output.facts);
            let golden = output.golden.map(|golden| ((host.name.clone(), name.clone()), golden));
            staged.goldens.extend(golden);
        }
        Ok(staged)
    }

    /// Takes what was made ready on other hosts.
    pub fn join(&mut self, other: Self) {
        self.goldens.extend(other.goldens);
        self.facts.extend(other.facts);
    }
}

fn ask(using: (&Plugin, &Use), input: StageInput, steps: &Steps<'_>) -> Result<StageOutput, String> {
    let deadline = in_seconds(LIMIT_S);
    let output = steps.operate(using, Call::Stage(input), None, deadline, &mut no_round);
    let output = output.map_err(|e| e.to_string())?;
    serde_json::from_value(output).map_err(|e| format!("its output is not understood: {e}"))
}

/// The most guests that each name has at once; the bare host has none.
fn most<'a>(uses: impl Iterator<Item = (Option<&'a Name>, u32)>) -> BTreeMap<&'a Name, u32> {
    let mut most = BTreeMap::new();
    for (name, guests) in uses {
        if let Some(name) = name.filter(|name| name.as_str() != Axes::BARE) {
            let known = most.entry(name).or_insert(guests);
            *known = guests.max(*known);
        }
    }
    most
}
