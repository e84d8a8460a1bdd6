//! One guest of a visit, from its volume to its first answer over SSH.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossvisor_image::{Identity, seed_initrd};
use crossvisor_model::{DomainSpec, Forward, Network, Volume};
use crossvisor_plugin::{AliveInput, AliveOutput, Call, CreateInput, CreateOutput, DefineInput};
use crossvisor_target::{Ssh, SshAddress, TargetError, port};

use crate::EngineError;
use crate::context::{Run, Setup};
use crate::exit::tail;
use crate::identity::{DomainIdentity, wire_form};
use crate::steps::{StepError, Steps, no_round};

/// The host as QEMU's user network shows it to the guest.
const HOST_ADDRESS: &str = "10.0.2.2";
const SSH_PORT: u16 = 22;
/// Lines of the console that a failure shows.
const CONSOLE_LINES: usize = 12;

/// A guest that is being made or is up.
pub struct Guest {
    /// From 1.
    pub number: u32,
    pub domain: DomainSpec,
    pub machine: Ssh,
    pub volume: Volume,
    pub console: PathBuf,
    /// A port of the host's loopback reserved for this guest's work.
    pub peer_port: u16,
}

impl Guest {
    /// The host's address inside the guest.
    pub const fn host_address() -> &'static str {
        HOST_ADDRESS
    }

    /// Makes the guest's volume, seed and domain, and starts it.
    ///
    /// # Errors
    /// [`StepError`] of the step that failed; what was created is in the undo log.
    pub fn create(
        run: &Run<'_>,
        setup: &Setup<'_>,
        steps: &Steps<'_>,
        folder: &Path,
        number: u32,
        deadline: Instant,
    ) -> Result<Self, StepError> {
        let identity = DomainIdentity::new(run.name.as_str(), steps.visit, number).map_err(|e| {
            StepError::Contract { plugin: setup.hypervisor.0.manifest.name.clone(), reason: e.to_string() }
        })?;
        let image = run.image()?;
        let create = CreateInput {
            golden: image.root.clone(),
            golden_bytes: image.facts.root_bytes,
            folder: folder.to_path_buf(),
            name: identity.name.clone(),
        };
        let output =
            steps.operate(setup.storage, Call::Create(create), Some(number), deadline, &mut no_round)?;
        let CreateOutput { volume } = serde_json::from_value(output).map_err(|e| StepError::Contract {
            plugin: setup.storage.0.manifest.name.clone(),
            reason: format!("its output is not a volume: {e}"),
        })?;

        let seed = Identity::generate(identity.name.as_str(), &run.key.public).map_err(EngineError::from)?;
        let initrd = folder.join(format!("{}.initrd", identity.name));
        seed_initrd(&image.initrd, &seed, &initrd).map_err(EngineError::from)?;

        let failed = |source: TargetError| StepError::Step { say: "reserve ports".into(), source };
        let [ssh_port, peer_port]: [u16; 2] = port::free(2).map_err(failed)?.try_into().unwrap_or_default();
        let console = folder.join(format!("{}.console", identity.name));
        let domain = DomainSpec {
            name: identity.name.clone(),
            uuid: identity.uuid,
            run: run.name.clone(),
            number,
            multiboot: None,
            emulated_cpu: None,
            accel: steps.host.accel,
            vcpus: run.plan.guest.vcpus,
            memory_mib: run.plan.guest.memory.mib(),
            mac: identity.mac,
            kernel: image.kernel.clone(),
            initrd,
            cmdline: run.cmdline.clone(),
            console_log: console.clone(),
            volumes: vec![volume.clone()],
            network: Network::User {
                host_address: HOST_ADDRESS.into(),
                forwards: vec![Forward { host_port: ssh_port, guest_port: SSH_PORT }],
            },
        };
        let define = Call::Define(DefineInput { domain: domain.clone() });
        steps.operate(setup.hypervisor, define, Some(number), deadline, &mut no_round)?;
        let address = SshAddress {
            socket: SocketAddr::from((Ipv4Addr::LOCALHOST, ssh_port)),
            user: run.login.clone(),
            key: run.key.private.clone(),
            host_key: wire_form(&seed.host_key_public)?,
        };
        Ok(Self { number, domain, machine: Ssh::new(address), volume, console, peer_port })
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
                tail: format!("{error}; its console ends: {}", self.console_tail()),
            },
        })
    }

    fn console_tail(&self) -> String {
        let text = fs::read(&self.console).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match text.map(|text| tail(&text, CONSOLE_LINES)) {
            Ok(text) if !text.is_empty() => text,
            Ok(_) => "(nothing was written to it)".into(),
            Err(e) => format!("({e})"),
        }
    }
}
