//! What a run would do, without doing it: every plugin is asked for its steps, and each step is taken for done.
//!
//! It must never touch a machine.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;
use std::path::PathBuf;

use crossvisor_loader::Plugin;
use crossvisor_model::host::driver;
use crossvisor_model::{
    Accel, Action, Axes, Catalog, DomainSpec, ExecResult, HostGuest, HostSpec, Name, Phase, Place, Plan,
    Step, StepResult, Use, Volume, VolumeSource,
};
use crossvisor_plugin::limits::TURNS;
use crossvisor_plugin::{
    Call, CreateInput, CreateOutput, DefineInput, InspectInput, Instance, Peer, WorkInput,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EngineError;
use crate::context::{Plugins, find, offer};
use crate::hosts::GuestNetwork;
use crate::identity::DomainIdentity;
use crate::rules;
use crate::steps::first_request;
use crate::visit::GUEST_PROBE;
use crate::work::{make_work_folder, remove_work_folder};

/// Stand-ins for what is only known in a run.
const RUN: &str = "run";
const SSH_PORT: u16 = 2201;
const PEER_PORT: u16 = 5201;
const HOST_ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
const MAC: &str = "52:54:00:00:00:01";
const LOOPBACK: &str = "127.0.0.1";

/// The steps of a whole plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    pub setups: Vec<SetupOutline>,
}

/// The steps at one set of machines, shown for its smallest number of guests: the others are the same for more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetupOutline {
    pub host: Name,
    pub hypervisor: Name,
    pub storage: Option<Name>,
    /// All numbers of guests (on the bare host: copies) that the plan has here, ascending; the steps are for the first.
    pub guests: Vec<u32>,
    pub steps: Vec<PlannedStep>,
}

/// One step and where it belongs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedStep {
    pub phase: Phase,
    /// Steps that are done once for each guest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<u32>,
    /// Steps of one workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Name>,
    #[serde(flatten)]
    pub what: Planned,
}

/// Who asks for a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Planned {
    /// A plugin, by an action.
    Step(Step),
    /// The engine itself: what it does, and the details.
    Own { say: String, own: String },
}

/// Host, hypervisor and storage.
type Machines<'p> = (&'p Name, &'p Name, Option<&'p Name>);

/// The other axes' values that the plan has with the same machines.
#[derive(Default)]
struct Points<'p> {
    guests: BTreeSet<u32>,
    workloads: BTreeSet<&'p Name>,
}

/// How a host executes its guests and connects them, as far as that is known before it is asked.
struct Ground {
    accel: Accel,
    network: GuestNetwork,
}

impl Ground {
    fn of(plan: &Plan, catalog: &Catalog, host: &Name) -> Self {
        let offer = |guest: &HostGuest| catalog.guests.get(&guest.guest)?.host.as_ref();
        let offered = |guest| offer(guest).map(|offer| (offer.uri.as_str(), Some(offer.bridge.as_str())));
        let known = plan.hosts.get(host).and_then(|spec| match spec {
            HostSpec::Reached(address) => Some((address.uri.as_str(), address.bridge.as_deref())),
            HostSpec::Made(guest) => offered(guest),
            HostSpec::Kept { up } => catalog.kept.get(up).and_then(offered),
        });
        let (uri, bridge) = known.unwrap_or_default();
        let network = bridge.map_or(GuestNetwork::User, |bridge| GuestNetwork::Bridge {
            name: bridge.into(),
            host: HOST_ADDRESS,
            index: 0,
        });
        Self { accel: if driver(uri) == "xen" { Accel::Xen } else { Accel::Kvm }, network }
    }
}

/// Asks the plugins for the steps of a plan; `catalog` tells what the hosts are that are guests of this machine.
///
/// # Errors
/// [`EngineError::Outline`] when a plugin refuses, with its reason; another [`EngineError`] for a plan that does not
/// fit its plugins.
pub fn outline(plan: &Plan, plugins: &Plugins, catalog: &Catalog) -> Result<Outline, EngineError> {
    let mut setups: BTreeMap<Machines<'_>, Points<'_>> = BTreeMap::new();
    for Axes { host, hypervisor, storage, guests, workload } in plan.cells.iter().map(|cell| &cell.axes) {
        let points = setups.entry((host, hypervisor, storage.as_ref())).or_default();
        points.guests.insert(*guests);
        points.workloads.insert(workload);
    }
    let outlines = setups.into_iter().map(|((host, hypervisor, storage), Points { guests, workloads })| {
        let count = guests.first().copied().unwrap_or(1);
        let mut steps = Vec::new();
        let ground = Ground::of(plan, catalog, host);
        if let Some(storage) = storage {
            let storage = find(&plan.storages, plugins, storage)?;
            let hypervisor = find(&plan.hypervisors, plugins, hypervisor)?;
            for guest in 1..=count {
                steps.extend(provision(plan, hypervisor, storage, &ground, guest)?);
            }
        }
        let place = |index| storage.map_or(Place::Host, |_| Place::Guest(index));
        let instances: Vec<Instance> =
            (1..=count).map(|index| instance(plan, &ground, index, place(index))).collect();
        for name in workloads {
            steps.extend(work(name, find(&plan.workloads, plugins, name)?, &instances)?);
        }
        // A stable sort: within a phase, the order in which the steps are done.
        steps.sort_by_key(|planned| planned.phase);
        Ok(SetupOutline {
            host: host.clone(),
            hypervisor: hypervisor.clone(),
            storage: storage.cloned(),
            guests: guests.into_iter().collect(),
            steps,
        })
    });
    Ok(Outline { setups: outlines.collect::<Result<_, EngineError>>()? })
}

fn provision(
    plan: &Plan,
    hypervisor: (&Plugin, &Use),
    storage: (&Plugin, &Use),
    ground: &Ground,
    guest: u32,
) -> Result<Vec<PlannedStep>, EngineError> {
    let refused =
        |reason: String| EngineError::Outline { plugin: hypervisor.0.manifest.name.clone(), reason };
    let identity = DomainIdentity::guest(RUN, 1, guest).map_err(|e| refused(e.to_string()))?;
    let work = PathBuf::from("/<work>");
    let image = PathBuf::from("/<image>");
    let create = CreateInput {
        golden: image.join("root.img"),
        golden_bytes: 0,
        folder: work.clone(),
        name: identity.name.clone(),
    };
    let (mut steps, output) = ask(storage, Call::Create(create))?;
    let CreateOutput { volume } = serde_json::from_value(output).map_err(|e| refused(e.to_string()))?;
    let own_boot = offer(hypervisor).is_some_and(|offer| offer.own_boot);
    let seed = work.join(format!("{}.{}", identity.name, if own_boot { "identity" } else { "initrd" }));
    let mut volumes = vec![volume.clone()];
    volumes.extend(own_boot.then(|| Volume::new(VolumeSource::File(seed.clone()), "raw")));
    let domain = DomainSpec {
        name: identity.name.clone(),
        uuid: identity.uuid,
        run: Name::new(RUN).map_err(|e| refused(e.to_string()))?,
        number: guest,
        multiboot: None,
        emulated_cpu: None,
        accel: ground.accel,
        vcpus: plan.guest.vcpus,
        memory_mib: plan.guest.memory.mib(),
        mac: identity.mac,
        kernel: image.join("vmlinuz"),
        initrd: if own_boot { image.join("initrd.img") } else { seed.clone() },
        cmdline: "<image's command line>".into(),
        console_log: work.join(format!("{}.console", identity.name)),
        volumes,
        network: ground.network.of_domain(SSH_PORT),
    };
    steps.extend(ask(hypervisor, Call::Define(DefineInput { domain }))?.0);
    let undo: Vec<Step> = steps.iter().rev().filter_map(undo_step).collect();
    let (collect, _) = ask(storage, Call::Inspect(InspectInput { volume }))?;
    let planned = |phase, what| PlannedStep { phase, guest: Some(guest), workload: None, what };
    let own = |phase, say: &str, own: String| planned(phase, Planned::Own { say: say.into(), own });
    let mut all = vec![own(
        Phase::Create,
        if own_boot { "write the identity disk" } else { "write the seed" },
        format!("controller: {}, with the guest's host name, machine id and SSH keys", seed.display()),
    )];
    all.extend(steps.into_iter().map(|step| planned(Phase::Create, Planned::Step(step))));
    all.push(own(
        Phase::Boot,
        "wait until it answers",
        format!("controller: SSH to its forwarded port, host key pinned, at most {}", plan.deadlines.boot),
    ));
    all.push(own(
        Phase::Prepare,
        "put the probe into it",
        format!("guest {guest}: write {GUEST_PROBE}, {} bytes", crossvisor_probe::BINARY.len()),
    ));
    all.extend(collect.into_iter().map(|step| planned(Phase::Collect, Planned::Step(step))));
    all.extend(undo.into_iter().map(|step| planned(Phase::Destroy, Planned::Step(step))));
    Ok(all)
}

fn undo_step(step: &Step) -> Option<Step> {
    step.undo.clone().map(|undo| Step::new(format!("undo: {}", step.say), undo))
}

fn instance(plan: &Plan, ground: &Ground, index: u32, place: Place) -> Instance {
    let network = &ground.network;
    let (address, listen, folder) = match place {
        Place::Guest(_) => (network.host_address(), network.listen_address(), "/<guest's work>"),
        Place::Host | Place::Controller => (LOOPBACK.into(), LOOPBACK, "/<work>"),
    };
    let own_address = match place {
        Place::Guest(_) => network.guest_address(MAC),
        Place::Host | Place::Controller => Some(LOOPBACK.into()),
    };
    Instance {
        index,
        place,
        folder: PathBuf::from(folder).join(index.to_string()),
        probe: "/<probe>".into(),
        memory_bytes: plan.guest.memory.0,
        cpus: plan.guest.vcpus,
        peer: Peer { address, port: PEER_PORT, listen: listen.into() },
        address: own_address,
    }
}

fn work(
    name: &Name,
    using: (&Plugin, &Use),
    instances: &[Instance],
) -> Result<Vec<PlannedStep>, EngineError> {
    let input = || WorkInput { instances: instances.to_vec() };
    let (mut prepare, _) = ask(using, Call::Prepare(input()))?;
    let (work, _) = ask(using, Call::Work(input()))?;
    let folder = |say: &str, exec| Step::new(say, Action::Exec(exec));
    let make = instances.iter().map(|i| folder("make the work folder", make_work_folder(i.place, &i.folder)));
    let remove =
        instances.iter().map(|i| folder("remove the work folder", remove_work_folder(i.place, &i.folder)));
    prepare.splice(..0, make);
    let planned = |phase| {
        move |step| PlannedStep {
            phase,
            guest: None,
            workload: Some(name.clone()),
            what: Planned::Step(step),
        }
    };
    let prepare = prepare.into_iter().map(planned(Phase::Prepare));
    Ok(prepare
        .chain(work.into_iter().map(planned(Phase::Run)))
        .chain(remove.map(planned(Phase::Collect)))
        .collect())
}

/// All steps of an operation, as if each went well and printed nothing, and its output.
fn ask((plugin, using): (&Plugin, &Use), call: Call) -> Result<(Vec<Step>, Value), EngineError> {
    let refused = |reason: String| EngineError::Outline { plugin: plugin.manifest.name.clone(), reason };
    let mut request = first_request(using, call);
    let mut steps = Vec::new();
    for _ in 0..TURNS {
        let turn = plugin.call(&request).map_err(|e| refused(e.to_string()))?;
        if let Some(reason) = rules::broken(plugin.manifest.kind, &turn.steps) {
            return Err(refused(reason));
        }
        request.results = turn.steps.iter().map(|step| assumed(&step.action)).collect();
        steps.extend(turn.steps);
        if turn.done {
            return Ok((steps, turn.output));
        }
        request.state = turn.state;
    }
    Err(refused(format!("it is not done after {TURNS} turns")))
}

fn assumed(action: &Action) -> StepResult {
    match action {
        Action::Exec(_) => StepResult::Exec(ExecResult {
            exit: Some(0),
            stdout: String::new(),
            stderr: String::new(),
            wall_s: 0.0,
        }),
        Action::DomainState { .. } => StepResult::Domain { active: true },
        _ => StepResult::Done,
    }
}
