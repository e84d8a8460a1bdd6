//! A host in use: its machine, its libvirt, how it executes guests and how they are reached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossvisor_model::host::{driver, is_local};
use crossvisor_model::provenance::HostFacts;
use crossvisor_model::{Accel, Exec, HostAddress, Name, Place};
use crossvisor_target::accel::{Kvm, probe};
use crossvisor_target::ssh::{self, Way};
use crossvisor_target::{Cancel, Libvirt, Local, Machine, Ssh, TargetError, Uri, facts, port};

use super::network::{GuestNetwork, Passage};
use crate::exit::judge;
use crate::{EngineError, Settings, accel};

/// What the emulator is called on a host that is reached over SSH.
const EMULATOR: &str = "qemu-system-x86_64";
/// A host that is itself emulated takes its time.
const KVM_PATIENCE: Duration = Duration::from_secs(30);
/// A machine that is there answers within this time, in seconds.
const ANSWER_S: f64 = 60.0;

/// One host of the plan.
pub struct Host {
    pub name: Name,
    pub address: HostAddress,
    pub machine: Box<dyn Machine>,
    /// `None` when no cell of the plan makes guests here.
    pub domains: Option<Arc<Libvirt>>,
    pub accel: Accel,
    pub facts: HostFacts,
    pub network: GuestNetwork,
    /// On the host: a folder that is the run's own.
    pub folder: PathBuf,
    passage: Passage,
}

/// The connections to libvirt of one process, each opened once: the embedded driver serves only one.
pub struct Connections<'a> {
    pub settings: &'a Settings,
    /// Where what a connection needs is written.
    folder: PathBuf,
    open: Mutex<BTreeMap<String, Arc<Libvirt>>>,
}

impl<'a> Connections<'a> {
    pub fn new(settings: &'a Settings, folder: &Path) -> Self {
        Self { settings, folder: folder.to_path_buf(), open: Mutex::default() }
    }

    pub(super) fn get(&self, address: &HostAddress) -> Result<Arc<Libvirt>, TargetError> {
        let key = format!("{} {:?}", address.uri, address.ssh_config);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&key) {
            return Ok(Arc::clone(known));
        }
        let new = Arc::new(Libvirt::open(address, &self.settings.embed_root(), &self.folder)?);
        open.insert(key, Arc::clone(&new));
        Ok(new)
    }
}

impl Host {
    /// Reaches a host without asking what it is; `guests` tells whether it will have any. `folder` is the run's own
    /// on the host.
    ///
    /// # Errors
    /// [`EngineError::Host`] when it cannot be reached.
    pub fn attach(
        name: &Name,
        address: &HostAddress,
        guests: bool,
        connections: &Connections<'_>,
        folder: PathBuf,
    ) -> Result<Self, EngineError> {
        let failed = |source| failed(name, source);
        let (passage, machine) = reach(address).map_err(failed)?;
        let mut facts = HostFacts { uri: address.uri.clone(), ..HostFacts::default() };
        let mut domains = None;
        if guests {
            // First, because what is wrong on the way there is said more clearly than through libvirt.
            knock(&*machine).map_err(failed)?;
            let libvirt = connections.get(address).map_err(failed)?;
            facts.versions.extend(libvirt.versions().map_err(failed)?);
            domains = Some(libvirt);
        }
        let (name, address, network) = (name.clone(), address.clone(), GuestNetwork::User);
        Ok(Self { name, address, machine, domains, accel: Accel::None, facts, network, folder, passage })
    }

    /// Finds out what the host is, how it executes guests and how they are reached.
    ///
    /// # Errors
    /// [`EngineError::Host`] when it does not tell.
    pub fn explore(&mut self, connections: &Connections<'_>, cancel: &Cancel) -> Result<(), EngineError> {
        let found = facts::host(&*self.machine, &self.address.uri);
        self.facts = HostFacts { versions: std::mem::take(&mut self.facts.versions), ..found };
        if self.domains.is_none() {
            return Ok(());
        }
        let name = self.name.clone();
        let failed = |source| failed(&name, source);
        if let Some(bridge) = &self.address.bridge {
            self.network = GuestNetwork::of_bridge(bridge, &*self.machine).map_err(failed)?;
        }
        self.accel = match driver(&self.address.uri) {
            "xen" => Accel::Xen,
            _ => {
                let kvm = self.kvm(connections.settings, cancel).map_err(failed)?;
                self.facts.kvm = kvm.to_string();
                if kvm == Kvm::Usable { Accel::Kvm } else { Accel::Tcg }
            }
        };
        self.facts.accel = Some(self.accel);
        Ok(())
    }

    pub(super) fn kvm(&self, settings: &Settings, cancel: &Cancel) -> Result<Kvm, TargetError> {
        match self.is_here() {
            true => accel::kvm(settings, cancel),
            false => probe(&*self.machine, Path::new(EMULATOR), &self.folder, cancel, KVM_PATIENCE),
        }
    }

    /// Whether the host can still be reached.
    pub fn answers(&self) -> bool {
        knock(&*self.machine).is_ok()
    }

    /// Whether the host is this machine.
    pub fn is_here(&self) -> bool {
        self.passage == Passage::Here
    }

    /// The host's libvirt.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] on a host that was opened without.
    pub fn domains(&self) -> Result<&Libvirt, TargetError> {
        self.domains.as_deref().ok_or_else(|| TargetError::Libvirt {
            what: format!("use host {}", self.name),
            message: "it was opened without a connection".into(),
        })
    }

    /// Ports of the host that nothing listens on.
    ///
    /// # Errors
    /// [`TargetError`] when the host does not tell.
    pub fn free_ports(&self, count: usize) -> Result<Vec<u16>, TargetError> {
        if self.is_here() { port::free(count) } else { port::free_on(&*self.machine, count) }
    }

    /// Where the probe is on the host.
    pub fn probe(&self) -> PathBuf {
        self.folder.join("crossvisor-probe")
    }

    /// The way from here to the SSH server of a guest.
    pub fn way_to_guest(&self, ssh_port: u16, mac: &str) -> Way {
        self.network.way_to(&self.passage, ssh_port, mac)
    }

    /// What people should know before they read its figures.
    pub fn notice(&self) -> Option<String> {
        let name = &self.name;
        if self.facts.outer_accel == Some(Accel::Tcg) {
            return Some(format!("host {name} is emulated: compare shapes, not figures"));
        }
        (self.accel == Accel::Tcg).then(|| {
            format!("host {name}: no usable KVM ({}): guests are emulated (accel: tcg)", self.facts.kvm)
        })
    }
}

/// Asks whether a machine is there.
fn knock(machine: &dyn Machine) -> Result<(), TargetError> {
    let exec = Exec::new(Place::Host, ["true"], ANSWER_S);
    machine.run(&exec, &Cancel::default()).and_then(|result| judge(&exec, &result))
}

/// The machine of an address, and the way to it.
fn reach(address: &HostAddress) -> Result<(Passage, Box<dyn Machine>), TargetError> {
    if is_local(&address.uri) {
        return Ok((Passage::Here, Box::new(Local)));
    }
    let uri: Uri = address.uri.parse()?;
    let destination = uri
        .destination()
        .ok_or_else(|| TargetError::Uri { uri: address.uri.clone(), reason: "it names no host".into() })?;
    let config = address.ssh_config.clone();
    let machine = Ssh::new(ssh::host(&destination, config.as_deref())?);
    Ok((Passage::Ssh { destination, config }, Box::new(machine)))
}

fn failed(host: &Name, source: TargetError) -> EngineError {
    match source.is_cancelled() {
        true => EngineError::Interrupted,
        false => EngineError::Host { host: host.clone(), source },
    }
}
