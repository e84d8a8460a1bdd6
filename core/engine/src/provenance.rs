//! Gathers where a run's numbers come from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use crossvisor_image::{GuestDefinition, Image};
use crossvisor_loader::Plugin;
use crossvisor_model::provenance::{GuestFacts, HostFacts, PluginFacts};
use crossvisor_model::{Name, Plan, Provenance, Use};

use crate::hosts::{Host, Staged};

/// The circumstances of a run that starts now.
pub fn of(
    plan: &Plan,
    plugins: &BTreeMap<Name, Plugin>,
    hosts: &BTreeMap<Name, Arc<Host>>,
    staged: &Staged,
    guest: &GuestDefinition,
    image: Option<&Image>,
) -> Provenance {
    let uses = [&plan.hypervisors, &plan.storages, &plan.workloads].into_iter().flat_map(BTreeMap::values);
    Provenance {
        crossvisor: env!("CARGO_PKG_VERSION").into(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        hosts: hosts.iter().map(|(name, host)| (name.clone(), host_facts(host, staged))).collect(),
        guest: GuestFacts {
            image: guest.name.to_string(),
            definition: guest.hash.clone(),
            kernel: image.map(|image| image.facts.kernel.clone()).unwrap_or_default(),
            memory_bytes: plan.guest.memory.0,
            vcpus: plan.guest.vcpus,
            versions: image.map(|image| image.facts.versions.clone()).unwrap_or_default(),
        },
        plugins: uses.filter_map(|using| plugin_facts(plugins, using)).collect(),
        imported: None,
    }
}

fn host_facts(host: &Host, staged: &Staged) -> HostFacts {
    let staged = staged.facts.get(&host.name).cloned().unwrap_or_default();
    HostFacts { staged, ..host.facts.clone() }
}

fn plugin_facts(plugins: &BTreeMap<Name, Plugin>, using: &Use) -> Option<(Name, PluginFacts)> {
    let plugin = plugins.get(&using.plugin)?;
    let facts = PluginFacts { version: plugin.manifest.version.clone(), origin: plugin.origin.to_string() };
    Some((using.plugin.clone(), facts))
}
