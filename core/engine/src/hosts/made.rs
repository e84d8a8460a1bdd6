//! Makes a host of a guest definition, on this machine, by the same plugins that make guests.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossvisor_image::{GuestDefinition, HostDefinition, Image};
use crossvisor_model::host::driver;
use crossvisor_model::{
    Action, Event, Exec, HostAddress, HostGuest, Kind, Multiboot, Name, Options, Place, Use, Volume,
    VolumeSource,
};
use crossvisor_target::{Cancel, Libvirt, TargetError};

use super::{Host, HostImage};
use crate::EngineError;
use crate::context::{Plugins, Setup};
use crate::exit::judge;
use crate::guest::{Guest, HostParts, Making};
use crate::identity::{DomainIdentity, RunKey};
use crate::steps::{StepError, Steps, in_seconds};
use crate::undo::UndoLog;
use crate::work_folder::folder_error;

/// Under emulation a host with a hypervisor below it takes a minute or two.
const BOOT_S: f64 = 900.0;
const CREATE_S: f64 = 600.0;

/// Makes hosts on one machine for one run.
pub struct Maker<'a> {
    /// The run whose tag their domains carry.
    pub run: &'a Name,
    pub plugins: &'a Plugins,
    pub outer: &'a Host,
    pub undo: &'a UndoLog<'a>,
    pub key: &'a RunKey,
    pub show: &'a (dyn Fn(Event) + Sync),
    pub cancel: &'a Cancel,
}

/// One host to be made.
pub struct Recipe<'a> {
    /// Its name in the scenario.
    pub name: &'a Name,
    pub spec: &'a HostGuest,
    pub definition: &'a GuestDefinition,
    pub image: &'a Image,
    pub identity: DomainIdentity,
    /// A new folder on this machine for all that belongs to it.
    pub folder: PathBuf,
}

impl Maker<'_> {
    /// Makes a host and waits until its libvirt answers. Returns with its address the port of this machine that leads to
    /// its SSH server.
    ///
    /// # Errors
    /// [`EngineError::Made`] with what went wrong; what was created is in the undo log.
    pub fn make(&self, recipe: Recipe<'_>) -> Result<(HostAddress, u16), EngineError> {
        let (host, guest) = (recipe.name.clone(), recipe.definition.name.clone());
        let Some(parts) = &recipe.definition.host else {
            return Err(EngineError::Made {
                host,
                guest,
                reason: "it is not the definition of a host".into(),
            });
        };
        let made = self.boot(&recipe, parts).and_then(|guest| {
            let address = self.address(&recipe, parts, &guest)?;
            self.tell(recipe.name, "wait for its libvirt");
            self.wait_for_libvirt(&address, &recipe.folder)?;
            Ok((address, guest.ssh_port))
        });
        made.map_err(|reason| match reason.is_cancelled() {
            true => EngineError::Interrupted,
            false => EngineError::Made { host, guest, reason: reason.to_string() },
        })
    }

    fn tell(&self, host: &Name, stage: &str) {
        (self.show)(Event::MakingHost { host: host.clone(), stage: stage.into() });
    }

    fn boot(&self, recipe: &Recipe<'_>, parts: &HostDefinition) -> Result<Guest, StepError> {
        let Recipe { name, spec, definition, image, identity, folder } = recipe;
        fs::DirBuilder::new().mode(0o711).create(folder).map_err(folder_error("make", folder))?;
        self.tell(name, "make its disks");
        let disk = self.disk(spec.disk.unwrap_or(parts.disk).0, &folder.join("disk.raw"))?;
        let multiboot = definition.boot.multiboot.as_ref().zip(image.multiboot.as_ref());
        let host = HostParts {
            multiboot: multiboot.map(|(boot, kernel)| Multiboot {
                kernel: kernel.clone(),
                cmdline: boot.cmdline.clone(),
                console: boot.console.clone(),
            }),
            emulated_cpu: parts.emulated_cpu.clone(),
            disk,
        };
        let hypervisor = self.using(Kind::Hypervisor, &parts.hypervisor, &Options::new())?;
        let storage = self.using(Kind::Storage, &parts.storage.offer, &parts.storage.options)?;
        let image = HostImage::here(image);
        let setup = Setup {
            hypervisor: (&self.plugins[&hypervisor.plugin], &hypervisor),
            storage: (&self.plugins[&storage.plugin], &storage),
        };
        let making = Making {
            run: self.run,
            setup,
            image: &image,
            golden: &image.root,
            key: self.key,
            login: &definition.login,
            cmdline: &definition.boot.cmdline,
            memory_mib: spec.memory.unwrap_or(parts.memory).mib(),
            vcpus: spec.vcpus.unwrap_or(parts.vcpus),
            host: Some(&host),
        };
        let quiet = |_: Event| ();
        let steps = Steps {
            visit: 0,
            host: self.outer,
            guests: &[],
            undo: self.undo,
            show: &quiet,
            cancel: self.cancel,
        };
        let guest = Guest::create(&making, &steps, identity.clone(), 1, folder, in_seconds(CREATE_S))?;
        self.tell(name, "boot");
        let failed = |source| StepError::Step { say: format!("boot host {name}"), source };
        guest.wait_until_up(&setup, &steps, in_seconds(BOOT_S)).map_err(failed)?;
        Ok(guest)
    }

    /// An empty disk: a file of which nothing is allocated yet.
    fn disk(&self, bytes: u64, path: &Path) -> Result<Volume, StepError> {
        self.undo.announce(self.outer, &Action::RemoveFile { on: Place::Host, path: path.into() })?;
        let argv = ["truncate", "-s", &bytes.to_string(), "--", &path.to_string_lossy()];
        let exec = Exec::new(Place::Host, argv, 60.0);
        let made = self.outer.machine.run(&exec, self.cancel).and_then(|result| judge(&exec, &result));
        made.map_err(|source| StepError::Step { say: "make the second disk".into(), source })?;
        let disk = Volume::new(VolumeSource::File(path.into()), "raw");
        Ok(Volume { cache: Some("unsafe".into()), io: Some("threads".into()), ..disk })
    }

    /// An offer with its defaults, and `options` in place of some of them.
    fn using(&self, kind: Kind, offer: &Name, options: &Options) -> Result<Use, EngineError> {
        let offers = self.plugins.values().filter(|plugin| plugin.manifest.kind == kind);
        let found = offers.flat_map(|plugin| {
            plugin.manifest.offers.iter().map(move |offer| (&plugin.manifest.name, offer))
        });
        let (plugin, offer) = found
            .into_iter()
            .find(|(_, found)| found.name == *offer)
            .ok_or_else(|| EngineError::NotInPlan { what: "offer", name: offer.clone() })?;
        let defaults =
            offer.options.iter().filter_map(|option| Some((option.name.clone(), option.default.clone()?)));
        let mut all: Options = defaults.collect();
        all.extend(options.clone());
        Ok(Use { plugin: plugin.clone(), offer: offer.name.clone(), options: all })
    }

    /// How the host is reached: by an SSH configuration of its own, which pins its key.
    fn address(
        &self,
        recipe: &Recipe<'_>,
        parts: &HostDefinition,
        guest: &Guest,
    ) -> Result<HostAddress, EngineError> {
        let (folder, alias) = (&recipe.folder, &recipe.identity.name);
        let known = folder.join("known_hosts");
        let config = folder.join("ssh_config");
        let key = guest.host_key.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let write = |path: &Path, text: String| fs::write(path, text).map_err(folder_error("write", path));
        write(&known, format!("{alias} {key}\n"))?;
        write(&config, ssh_config(guest, alias, &self.key.private, &known, &recipe.definition.login))?;
        let (login, path) = (&recipe.definition.login, parts.uri.rsplit('/').next().unwrap_or_default());
        Ok(HostAddress {
            uri: format!("{}+ssh://{login}@{alias}/{path}", driver(&parts.uri)),
            ssh_config: Some(config),
            bridge: Some(parts.bridge.clone()),
        })
    }

    fn wait_for_libvirt(&self, address: &HostAddress, folder: &Path) -> Result<(), StepError> {
        let deadline = in_seconds(BOOT_S);
        loop {
            match Libvirt::open(address, folder, folder).and_then(|libvirt| libvirt.versions()) {
                Ok(_) => return Ok(()),
                Err(source) => wait(source, deadline, self.cancel)?,
            }
        }
    }
}

/// Lets a second pass, or gives the reason when there is no time left.
fn wait(source: TargetError, deadline: Instant, cancel: &Cancel) -> Result<(), StepError> {
    let say = "wait for its libvirt".to_string();
    if let Err(ended) = cancel.check(deadline, &say) {
        let source = if ended.is_cancelled() { ended } else { source };
        return Err(StepError::Step { say, source });
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    Ok(())
}

/// OpenSSH's configuration for one host that is a guest behind a forwarded port.
fn ssh_config(guest: &Guest, alias: &Name, key: &Path, known: &Path, login: &str) -> String {
    let quoted = |path: &Path| format!("\"{}\"", path.display());
    [
        format!("Host {alias}"),
        "HostName 127.0.0.1".into(),
        format!("Port {}", guest.ssh_port),
        format!("User {login}"),
        format!("HostKeyAlias {alias}"),
        format!("IdentityFile {}", quoted(key)),
        "IdentitiesOnly yes".into(),
        format!("UserKnownHostsFile {}", quoted(known)),
        "GlobalKnownHostsFile none".into(),
        "StrictHostKeyChecking yes".into(),
        "CheckHostIP no".into(),
        "BatchMode yes".into(),
        "LogLevel ERROR".into(),
    ]
    .map(|line| line + "\n")
    .concat()
}
