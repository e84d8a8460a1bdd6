//! A host in use: its machine, its libvirt, and how it executes guests.

use crossvisor_model::provenance::HostFacts;
use crossvisor_model::{Accel, HostAddress, Name};
use crossvisor_target::accel::Kvm;
use crossvisor_target::{Cancel, Libvirt, Local, Machine, TargetError, facts};

use crate::{EngineError, Settings, accel};

/// One host of the plan.
pub struct Host {
    pub name: Name,
    pub machine: Box<dyn Machine>,
    /// `None` when no cell of the plan makes guests here.
    pub domains: Option<Libvirt>,
    pub accel: Accel,
    pub facts: HostFacts,
}

impl Host {
    /// Connects to a host; `guests` tells whether it will have any.
    ///
    /// # Errors
    /// [`EngineError::Host`] when libvirt cannot be reached.
    pub fn open(
        name: &Name,
        spec: &HostAddress,
        guests: bool,
        settings: &Settings,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let mut host = Self::attach(name, &spec.uri, guests, settings)?;
        host.facts = HostFacts { versions: host.facts.versions, ..facts::host(&*host.machine, &spec.uri) };
        if guests {
            let kvm = accel::kvm(settings, cancel).map_err(|source| failed(name, source))?;
            host.accel = if kvm == Kvm::Usable { Accel::Kvm } else { Accel::Tcg };
            host.facts.kvm = kvm.to_string();
            host.facts.accel = Some(host.accel);
        }
        Ok(host)
    }

    /// Connects to a host without asking what it is.
    ///
    /// # Errors
    /// [`EngineError::Host`] when libvirt cannot be reached.
    pub fn attach(name: &Name, uri: &str, guests: bool, settings: &Settings) -> Result<Self, EngineError> {
        let mut facts = HostFacts::default();
        let mut domains = None;
        if guests {
            let libvirt =
                Libvirt::open(uri, &settings.embed_root()).map_err(|source| failed(name, source))?;
            facts.versions.extend(libvirt.versions().map_err(|source| failed(name, source))?);
            domains = Some(libvirt);
        }
        Ok(Self { name: name.clone(), machine: Box::new(Local), domains, accel: Accel::None, facts })
    }

    /// The host's libvirt.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] on a host that was opened without.
    pub fn domains(&self) -> Result<&Libvirt, TargetError> {
        self.domains.as_ref().ok_or_else(|| TargetError::Libvirt {
            what: format!("use host {}", self.name),
            message: "it was opened without a connection".into(),
        })
    }

    /// One line for people when guests are emulated here.
    pub fn notice(&self) -> Option<String> {
        (self.accel == Accel::Tcg).then(|| {
            format!(
                "host {}: no usable KVM ({}): guests are emulated (accel: tcg)",
                self.name, self.facts.kvm
            )
        })
    }
}

fn failed(host: &Name, source: TargetError) -> EngineError {
    match source.is_cancelled() {
        true => EngineError::Interrupted,
        false => EngineError::Host { host: host.clone(), source },
    }
}
