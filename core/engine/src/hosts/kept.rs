//! Hosts that stay: made once, used by runs and by hand, and removed when somebody says so.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossvisor_image::GuestLibrary;
use crossvisor_model::{Accel, Event, HostAddress, HostGuest, Name};
use crossvisor_store::Journal;
use crossvisor_target::{Cancel, embed};
use serde::{Deserialize, Serialize};

use super::{Connections, Hosts, Maker, Recipe};
use crate::context::Plugins;
use crate::identity::{DomainIdentity, RunKey};
use crate::work_folder::{WorkFolder, folder_error};
use crate::{EngineError, Settings};

const FILE: &str = "host.json";
/// An answer from this machine's own loopback takes no time.
const PATIENCE: Duration = Duration::from_millis(500);

/// A host that was made to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptHost {
    pub name: Name,
    pub made_of: HostGuest,
    pub address: HostAddress,
    /// How it is executed itself.
    pub outer_accel: Accel,
    /// The port of this machine's loopback that leads to its SSH server.
    pub ssh_port: u16,
}

impl KeptHost {
    /// Whether its domain still runs.
    #[must_use]
    pub fn is_up(&self) -> bool {
        let socket = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ssh_port));
        TcpStream::connect_timeout(&socket, PATIENCE).is_ok()
    }

    /// The host's name for OpenSSH, with [`HostAddress::ssh_config`].
    #[must_use]
    pub fn ssh_alias(&self) -> &str {
        let host = self.address.uri.split("://").nth(1).unwrap_or_default();
        host.split('/').next().and_then(|host| host.rsplit('@').next()).unwrap_or_default()
    }

    /// The tag that its domain carries.
    pub(crate) fn tag(name: &Name) -> Result<Name, EngineError> {
        Ok(Name::new(format!("host-{name}"))?)
    }

    /// # Errors
    /// [`EngineError::NotKept`] when there is none of this name, or it was never finished.
    pub fn find(settings: &Settings, name: &Name) -> Result<Self, EngineError> {
        let path = settings.hosts().join(name.as_str()).join(FILE);
        let text = match fs::read(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(EngineError::NotKept(name.clone())),
            text => text.map_err(folder_error("read", &path))?,
        };
        serde_json::from_slice(&text).map_err(|e| folder_error("read", &path)(e.into()))
    }
}

/// What a host that stays is made with.
pub struct KeepRequest<'a> {
    pub name: &'a Name,
    pub made_of: &'a HostGuest,
    pub settings: &'a Settings,
    pub plugins: &'a Plugins,
    pub guests: &'a GuestLibrary,
    pub show: &'a (dyn Fn(Event) + Sync),
    pub cancel: &'a Cancel,
}

/// Makes a host that stays until [`down`].
///
/// # Errors
/// [`EngineError`] when the name is taken or the host cannot be made; what was created is then removed.
pub fn up(request: &KeepRequest<'_>) -> Result<KeptHost, EngineError> {
    let KeepRequest { name, settings, .. } = *request;
    let work = WorkFolder::create(&settings.hosts(), name.as_str()).map_err(|error| match error {
        EngineError::NameTaken(_) => EngineError::AlreadyKept(name.clone()),
        error => error,
    })?;
    match make(request, &work) {
        Ok(kept) => Ok(kept),
        Err(error) => {
            if crossvisor_store::journal::pending(&work.journal())?.is_empty() {
                work.remove()?;
            }
            Err(error)
        }
    }
}

fn make(request: &KeepRequest<'_>, work: &WorkFolder) -> Result<KeptHost, EngineError> {
    let KeepRequest { name, made_of, settings, plugins, guests, show, cancel } = *request;
    let definition = guests.get(made_of.guest.as_str())?;
    let image = crate::course::build_image(&definition, settings, show, cancel)?;
    let journal = Journal::open(&work.journal())?;
    let connections = Connections::new(settings, work.path());
    let mut hosts = Hosts::new(work, &journal, &connections, cancel);
    let outer = Name::new("this-machine")?;
    let key = RunKey::generate(&work.path().join("ssh"))?;
    let made = hosts.reach(&outer, &HostAddress::new(embed::URI), true, None).and_then(|outer| {
        let undo = hosts.undo(&outer.name)?;
        let run = KeptHost::tag(name)?;
        let maker = Maker { run: &run, plugins, outer: &outer, undo, key: &key, show, cancel };
        let (address, ssh_port) = maker.make(Recipe {
            name,
            spec: made_of,
            definition: &definition,
            image: &image,
            identity: DomainIdentity::host(work.id(), 1)?,
            folder: work.path().join("host"),
        })?;
        let (name, made_of) = (name.clone(), made_of.clone());
        let kept = KeptHost { name, made_of, address, outer_accel: outer.accel, ssh_port };
        let path = work.path().join(FILE);
        let text = serde_json::to_vec_pretty(&kept).map_err(|e| folder_error("write", &path)(e.into()))?;
        fs::write(&path, text).map_err(folder_error("write", &path))?;
        Ok(kept)
    });
    if made.is_err() {
        // What cannot be removed stays in the journal, for `down`.
        hosts.clear();
    }
    made
}

/// Removes a host that stayed, or what is left of one that was never finished.
///
/// # Errors
/// [`EngineError`] when there is none of this name, another process is making it, or it cannot be removed.
pub fn down(settings: &Settings, name: &Name) -> Result<(), EngineError> {
    let folder = settings.hosts().join(name.as_str());
    if !WorkFolder::is_one(&folder) {
        return Err(EngineError::NotKept(name.clone()));
    }
    let work = WorkFolder::adopt(&folder)?.ok_or_else(|| EngineError::Busy(folder.clone()))?;
    let connections = Connections::new(settings, work.path());
    let failures = crate::clean::undo_journal(&work, &connections)?;
    // Before the folder, in which a connection has a file of its own.
    drop(connections);
    match failures.into_iter().next() {
        Some(reason) => Err(EngineError::NotRemoved { name: name.clone(), reason }),
        None => work.remove(),
    }
}

/// All hosts that stay, by name; `None` for one that is being made or was never finished.
///
/// # Errors
/// [`EngineError::Folder`] when their folder cannot be read.
pub fn list(settings: &Settings) -> Result<BTreeMap<Name, Option<KeptHost>>, EngineError> {
    let mut all = BTreeMap::new();
    for path in folders(&settings.hosts())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let (true, Ok(name)) = (WorkFolder::is_one(&path), Name::new(name)) {
            let kept = KeptHost::find(settings, &name).ok();
            all.insert(name, kept);
        }
    }
    Ok(all)
}

/// Whether an address is that of a host that stayed and was taken down since, with all that was on it.
///
/// # Errors
/// As [`list`] has it.
pub fn is_gone(settings: &Settings, address: &HostAddress) -> Result<bool, EngineError> {
    let config = address.ssh_config.as_ref();
    let stayed = config.is_some_and(|config| config.starts_with(settings.hosts()));
    Ok(stayed && !list(settings)?.values().flatten().any(|kept| kept.address == *address))
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(folder_error("read", parent)(e)),
    };
    let paths: Result<_, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    paths.map_err(folder_error("read", parent))
}
