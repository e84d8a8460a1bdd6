//! What a run has at hand: its plan, plugins, hosts, image, log, and what the plan means by its names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossvisor_image::Image;
use crossvisor_loader::Plugin;
use crossvisor_model::{Axes, MetricSpec, Name, Offer, Plan, Use};
use crossvisor_store::Journal;
use crossvisor_target::Cancel;

use crate::EngineError;
use crate::host::Host;
use crate::identity::RunKey;
use crate::log::Log;
use crate::work_folder::WorkFolder;

/// A run under way.
pub struct Run<'a> {
    pub name: Name,
    pub plan: &'a Plan,
    pub plugins: &'a BTreeMap<Name, Plugin>,
    pub hosts: BTreeMap<Name, Host>,
    pub work: &'a WorkFolder,
    pub journal: &'a Journal,
    pub log: &'a Log<'a>,
    pub cancel: &'a Cancel,
    pub key: RunKey,
    /// The probe on this machine.
    pub probe: PathBuf,
    /// `None` when no cell has guests.
    pub image: Option<Image>,
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
        self.hosts.get(name).ok_or_else(|| EngineError::NotInPlan { what: "host", name: name.clone() })
    }

    /// # Errors
    /// [`EngineError::NotInPlan`] when the plan has no guests.
    pub fn image(&self) -> Result<&Image, EngineError> {
        let name = || self.plan.guest.image.clone();
        self.image.as_ref().ok_or_else(|| EngineError::NotInPlan { what: "image", name: name() })
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
    plugins: &'a BTreeMap<Name, Plugin>,
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
