//! What a run has at hand: its plan, plugins, hosts, image, log, and what the plan means by its names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossvisor_loader::Plugin;
use crossvisor_model::{Axes, MetricSpec, Name, Offer, Plan, Use};
use crossvisor_store::Journal;
use crossvisor_target::Cancel;

use crate::EngineError;
use crate::hosts::{Host, HostImage, Staged};
use crate::identity::{DomainIdentity, RunKey};
use crate::log::Log;
use crate::work_folder::WorkFolder;

/// The loaded plugins, by name.
pub type Plugins = BTreeMap<Name, Plugin>;

/// A run under way.
pub struct Run<'a> {
    pub name: Name,
    pub plan: &'a Plan,
    pub plugins: &'a Plugins,
    pub hosts: BTreeMap<Name, Arc<Host>>,
    pub work: &'a WorkFolder,
    pub journal: &'a Journal,
    pub log: &'a Log<'a>,
    pub cancel: &'a Cancel,
    pub key: RunKey,
    /// The guest's image on each host that has guests.
    pub images: BTreeMap<Name, HostImage>,
    pub staged: Staged,
    /// The guest's kernel command line.
    pub cmdline: String,
    /// The user to log in as.
    pub login: String,
    pub metrics: BTreeMap<Name, Vec<MetricSpec>>,
}

/// The plugins of a setup with guests.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub hypervisor: (&'a Plugin, &'a Use),
    pub storage: (&'a Plugin, &'a Use),
}

impl Run<'_> {
    /// # Errors
    /// [`EngineError::NotInPlan`] for a plan that names a host it does not have.
    pub fn host(&self, name: &Name) -> Result<&Host, EngineError> {
        self.hosts
            .get(name)
            .map(Arc::as_ref)
            .ok_or_else(|| EngineError::NotInPlan { what: "host", name: name.clone() })
    }

    /// The guest's image on a host.
    ///
    /// # Errors
    /// [`EngineError::NotInPlan`] when the plan has no guests there.
    pub fn image(&self, host: &Name) -> Result<&HostImage, EngineError> {
        let name = || self.plan.guest.image.clone();
        self.images.get(host).ok_or_else(|| EngineError::NotInPlan { what: "image", name: name() })
    }

    /// The plugins that make the guests of these axes.
    ///
    /// # Errors
    /// [`EngineError`] for a plan that does not fit its plugins.
    pub fn setup(&self, axes: &Axes) -> Result<Setup<'_>, EngineError> {
        let bare = || EngineError::NotInPlan { what: "storage", name: axes.hypervisor.clone() };
        Ok(Setup {
            hypervisor: find(&self.plan.hypervisors, self.plugins, &axes.hypervisor)?,
            storage: find(&self.plan.storages, self.plugins, axes.storage.as_ref().ok_or_else(bare)?)?,
        })
    }

    /// What tells a guest of a visit from all other domains.
    ///
    /// # Errors
    /// [`EngineError::Name`] never, for numbers that fit a name.
    pub fn identity(&self, visit: usize, guest: u32) -> Result<DomainIdentity, EngineError> {
        Ok(DomainIdentity::guest(self.work.id(), visit, guest)?)
    }

    /// # Errors
    /// [`EngineError`] for a plan that does not fit its plugins.
    pub fn workload(&self, name: &Name) -> Result<(&Plugin, &Use), EngineError> {
        find(&self.plan.workloads, self.plugins, name)
    }
}

/// What the plan means by a name on an axis, with the plugin that offers it.
///
/// # Errors
/// [`EngineError`] when plan or plugins do not have it.
pub fn find<'a>(
    uses: &'a BTreeMap<Name, Use>,
    plugins: &'a Plugins,
    name: &Name,
) -> Result<(&'a Plugin, &'a Use), EngineError> {
    let using =
        uses.get(name).ok_or_else(|| EngineError::NotInPlan { what: "definition", name: name.clone() })?;
    let plugin = plugins.get(&using.plugin).ok_or_else(|| EngineError::NoPlugin(using.plugin.clone()))?;
    Ok((plugin, using))
}

/// The offer that is used.
pub fn offer<'a>((plugin, using): (&'a Plugin, &Use)) -> Option<&'a Offer> {
    plugin.manifest.offers.iter().find(|offer| offer.name == using.offer)
}
