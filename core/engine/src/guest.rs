//! One guest, from its volume to its first answer over SSH.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crossvisor_image::Identity;
use crossvisor_model::{DomainSpec, Multiboot, Name, Volume};
use crossvisor_plugin::{
    AliveInput, AliveOutput, Call, CreateInput, CreateOutput, DefineInput, DefineOutput,
};
use crossvisor_target::ssh::{HostKey, Login};
use crossvisor_target::{Ssh, SshAddress, TargetError};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::EngineError;
use crate::context::{Setup, offer};
use crate::exit::tail;
use crate::hosts::{Host, HostImage, put_identity_disk};
use crate::identity::{DomainIdentity, RunKey, wire_form};
use crate::steps::{StepError, Steps, in_seconds, no_round};

/// Reading a console from its host may take this long, in seconds.
const CONSOLE_S: f64 = 60.0;
/// Lines of the console that a failure shows.
const CONSOLE_LINES: usize = 12;

/// What a guest is made of.
#[derive(Clone, Copy)]
pub struct Making<'a> {
    /// The run whose tag the domain carries.
    pub run: &'a Name,
    pub setup: Setup<'a>,
    pub image: &'a HostImage,
    /// What its root volume is made from.
    pub golden: &'a Path,
    pub key: &'a RunKey,
    /// The user to log in as.
    pub login: &'a str,
    pub cmdline: &'a str,
    pub memory_mib: u64,
    pub vcpus: u32,
    /// Set for a guest that is a host.
    pub host: Option<&'a HostParts>,
}

/// What a guest that is a host has beside the others.
pub struct HostParts {
    pub multiboot: Option<Multiboot>,
    pub emulated_cpu: Option<String>,
    /// Its second disk.
    pub disk: Volume,
}

/// A guest that is being made or is up.
pub struct Guest {
    /// From 1.
    pub number: u32,
    pub domain: DomainSpec,
    pub machine: Ssh,
    /// The root volume as its storage made it.
    pub volume: Volume,
    /// The root volume as the hypervisor really uses it.
    pub used: Volume,
    /// A port of the host reserved for this guest's work.
    pub peer_port: u16,
    /// A port of the host that leads to its SSH server, where it is behind user networking.
    pub ssh_port: u16,
    /// Its SSH host key, one OpenSSH line.
    pub host_key: String,
    console: PathBuf,
}

impl Guest {
    /// Makes the guest's volume, seed and domain, and starts it. Its files go into `folder` on the host.
    ///
    /// # Errors
    /// [`StepError`] of the step that failed; what was created is in the undo log.
    pub fn create(
        making: &Making<'_>,
        steps: &Steps<'_>,
        identity: DomainIdentity,
        number: u32,
        folder: &Path,
        deadline: Instant,
    ) -> Result<Self, StepError> {
        let Setup { hypervisor, storage } = making.setup;
        let host = steps.host;
        let create = CreateInput {
            golden: making.golden.to_path_buf(),
            golden_bytes: making.image.root_bytes,
            folder: folder.to_path_buf(),
            name: identity.name.clone(),
        };
        let output = steps.operate(storage, Call::Create(create), Some(number), deadline, &mut no_round)?;
        let CreateOutput { volume } = read(output, &storage.0.manifest.name)?;

        let seed =
            Identity::generate(identity.name.as_str(), &making.key.public).map_err(EngineError::from)?;
        let mut volumes = vec![volume.clone()];
        volumes.extend(making.host.map(|parts| parts.disk.clone()));
        let initrd = if offer(hypervisor).is_some_and(|offer| offer.own_boot) {
            let disk = folder.join(format!("{}.identity", identity.name));
            volumes.push(put_identity_disk(host, &seed, disk, deadline)?);
            making.image.initrd.clone()
        } else {
            let initrd = folder.join(format!("{}.initrd", identity.name));
            making.image.seed(host, &seed, &initrd, deadline)?;
            initrd
        };

        let failed = |source: TargetError| StepError::Step { say: "reserve ports".into(), source };
        let ports = host.free_ports(2).map_err(failed)?;
        let [ssh_port, peer_port]: [u16; 2] = ports.try_into().unwrap_or_default();
        let domain = DomainSpec {
            name: identity.name.clone(),
            uuid: identity.uuid,
            run: making.run.clone(),
            number,
            accel: host.accel,
            vcpus: making.vcpus,
            memory_mib: making.memory_mib,
            mac: identity.mac,
            multiboot: making.host.and_then(|parts| parts.multiboot.clone()),
            emulated_cpu: making.host.and_then(|parts| parts.emulated_cpu.clone()),
            kernel: making.image.kernel.clone(),
            initrd,
            cmdline: making.cmdline.into(),
            console_log: folder.join(format!("{}.console", identity.name)),
            volumes,
            network: host.network.of_domain(ssh_port),
        };
        let define = Call::Define(DefineInput { domain: domain.clone() });
        let output = steps.operate(hypervisor, define, Some(number), deadline, &mut no_round)?;
        let output: Option<DefineOutput> = read(output, &hypervisor.0.manifest.name)?;
        let DefineOutput { console_log, volumes } = output.unwrap_or_default();
        let address = SshAddress {
            way: host.way_to_guest(ssh_port, &domain.mac),
            user: making.login.into(),
            login: Login::Key(making.key.private.clone()),
            host_key: HostKey::Pinned(wire_form(&seed.host_key_public)?),
        };
        Ok(Self {
            number,
            machine: Ssh::new(address),
            used: volumes.and_then(|used| used.into_iter().next()).unwrap_or_else(|| volume.clone()),
            volume,
            peer_port,
            ssh_port,
            host_key: seed.host_key_public,
            console: console_log.unwrap_or_else(|| domain.console_log.clone()),
            domain,
        })
    }

    /// Waits until the guest answers over SSH.
    ///
    /// # Errors
    /// [`TargetError`] with the end of the console when it does not in time, or its domain has stopped.
    pub fn wait_until_up(
        &self,
        setup: &Setup<'_>,
        steps: &Steps<'_>,
        deadline: Instant,
    ) -> Result<(), TargetError> {
        let alive = || {
            let stopped =
                |tail: String| TargetError::EndedEarly { what: format!("domain {}", self.domain.name), tail };
            let call = Call::Alive(AliveInput { domain: self.domain.clone() });
            let output = steps.operate(setup.hypervisor, call, Some(self.number), deadline, &mut no_round);
            let output = output.map_err(|e| stopped(e.to_string()))?;
            match serde_json::from_value(output) {
                Ok(AliveOutput { alive: true }) => Ok(()),
                Ok(AliveOutput { alive: false }) => Err(stopped("it stopped while it was booting".into())),
                Err(e) => Err(stopped(format!("whether it runs is not understood: {e}"))),
            }
        };
        self.machine.wait_until_up(deadline, steps.cancel, &alive).map_err(|error| match error {
            error if error.is_cancelled() => error,
            error => TargetError::EndedEarly {
                what: format!("guest {} never came up", self.number),
                tail: format!("{error}; its console ends: {}", self.console_tail(steps.host)),
            },
        })
    }

    /// What the guest has written to its console.
    ///
    /// # Errors
    /// [`TargetError`] when the host does not give it.
    pub fn console(&self, host: &Host) -> Result<Vec<u8>, TargetError> {
        host.machine.read(&self.console, in_seconds(CONSOLE_S))
    }

    fn console_tail(&self, host: &Host) -> String {
        let text = self.console(host).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match text.map(|text| tail(&text, CONSOLE_LINES)) {
            Ok(text) if !text.is_empty() => text,
            Ok(_) => "(nothing was written to it)".into(),
            Err(e) => format!("({e})"),
        }
    }
}

/// An operation's output in its own type.
fn read<T: DeserializeOwned>(output: Value, plugin: &Name) -> Result<T, StepError> {
    serde_json::from_value(output).map_err(|e| StepError::Contract {
        plugin: plugin.clone(),
        reason: format!("its output is not understood: {e}"),
    })
}
