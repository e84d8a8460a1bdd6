//! Looking at a host before a run, and giving dom0 its CPUs for it.
//!
//! Owns what a host must have. It must never change dom0 before it has read how to change it back.

use std::collections::BTreeMap;

use crossvisor_plugin::model::{Action, Exec, ExecResult, Place, Step, StepResult};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, Resume, StageInput, StageOutput, Turn, finish};

use crate::info::{self, Info, Vcpu};
use crate::variant::Mode;
use crossvisor_plugin::cpus::CpuSet;

const XL_TIMEOUT_S: f64 = 60.0;
const MIB: u64 = 1 << 20;
/// What Xen's tools leave to dom0 whatever happens, in MiB.
const DOM0_LEAST_MIB: u64 = 128;
/// What they reserve beside a guest's memory, in MiB.
const GUEST_EXTRA_MIB: u64 = 2;

/// Asks the host, then judges what it said.
///
/// # Errors
/// [`Failure`] when it is no Xen host, cannot run the variant, or has no room for the guests.
pub fn stage(chosen: &Chosen, mode: Mode, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
    match resume.results.as_slice() {
        [] => Ok(Turn { steps: look(), ..Turn::default() }),
        [StepResult::Exec(xl_info), StepResult::Exec(list), StepResult::Exec(vcpus)] => {
            judge(chosen, mode, input, [xl_info, list, vcpus])
        }
        other => Err(Failure::new(format!("xl's three answers came as {other:?}"))),
    }
}

/// Questions that may end with an error, so that it can be explained.
fn look() -> Vec<Step> {
    let ask = |say, argv: &[&str]| {
        let exec = Exec { ok_exit: (0..=3).collect(), ..xl(argv) };
        Step::new(say, Action::Exec(exec))
    };
    vec![
        ask("look at Xen", &["info"]),
        ask("look at dom0", &["list", "0"]),
        ask("look at dom0's vcpus", &["vcpu-list", "0"]),
    ]
}

fn xl(arguments: &[&str]) -> Exec {
    Exec::new(Place::Host, ["xl"].iter().chain(arguments).copied(), XL_TIMEOUT_S)
}

fn judge(chosen: &Chosen, mode: Mode, input: &StageInput, xl: [&ExecResult; 3]) -> Result<Turn, Failure> {
    if let Some(failed) = xl.iter().find(|answer| answer.exit != Some(0)) {
        return Err(no_xen(failed));
    }
    let said = xl.map(|answer| answer.stdout.as_str());
    if said == [""; 3] {
        // A plan is made with such answers: nothing is known of the host.
        return finish(Vec::new(), StageOutput::default());
    }
    let [info, list, vcpus] = said;
    let info = Info::read(info);
    let unreadable = |what: &str| Failure::new(format!("cannot read {what} in what xl says of the host"));
    let cpus = info.number("nr_cpus").ok_or_else(|| unreadable("nr_cpus"))?;
    let dom0_mib = info::dom0_memory_mib(list).ok_or_else(|| unreadable("dom0's memory"))?;
    let vcpus = info::vcpus(vcpus).filter(|vcpus| !vcpus.is_empty());
    let vcpus = vcpus.ok_or_else(|| unreadable("dom0's vcpus"))?;
    capable(mode, info.get("virt_caps").ok_or_else(|| unreadable("virt_caps"))?)?;
    let free_mib = info.number("free_memory").ok_or_else(|| unreadable("free_memory"))?;
    room(mode, input, free_mib, dom0_mib, info.dom0_balloons())?;
    if let Some(set) = CpuSet::option(chosen, "cpus")? {
        set.fit(cpus, "cpus")?;
    }
    let dom0 = Dom0::of(chosen, cpus, &vcpus)?;
    let facts = facts(&info, dom0_mib, &dom0);
    finish(dom0.steps, StageOutput { golden: None, facts })
}

fn no_xen(answer: &ExecResult) -> Failure {
    let said = format!("{} {}", answer.stderr, answer.stdout);
    let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing");
    Failure::new(format!(
        "this host does not run under Xen, or not for this user (xl says: {said}): install Xen and its tools (Debian: \
         xen-system-amd64), boot the host with Xen, and connect as root"
    ))
}

fn capable(mode: Mode, capabilities: &str) -> Result<(), Failure> {
    if !mode.needs_hardware() || capabilities.split_whitespace().any(|capability| capability == "hvm") {
        return Ok(());
    }
    Err(Failure::new(
        "this host's Xen has no hardware virtualisation (virt_caps without hvm), which xen-pvh, xen-hvm and \
         xen-hvm-pv need: switch on VT-x or AMD-V in its firmware, or use xen-pv",
    ))
}

/// Whether the guests fit in at once.
fn room(mode: Mode, input: &StageInput, free: u64, dom0: u64, balloons: bool) -> Result<(), Failure> {
    let memory = input.memory_bytes.div_ceil(MIB);
    // The tools' own estimate of what a guest with hardware virtualisation needs for its page tables.
    let tables = if mode.needs_hardware() { u64::from(input.vcpus) + memory.div_ceil(128) } else { 0 };
    let need = u64::from(input.guests) * (memory + tables + GUEST_EXTRA_MIB);
    let have = free + if balloons { dom0.saturating_sub(DOM0_LEAST_MIB) } else { 0 };
    if need <= have {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{guests} guests of {memory} MiB need {need} MiB, but Xen has {have} MiB for guests here: run fewer or \
         smaller guests at once, or give dom0 less (dom0_mem= on Xen's command line)",
        guests = input.guests
    )))
}

/// How dom0 is during the run, and the steps that make it so.
struct Dom0 {
    vcpus: String,
    affinity: String,
    steps: Vec<Step>,
}

impl Dom0 {
    fn of(chosen: &Chosen, cpus: u64, vcpus: &[Vcpu]) -> Result<Self, Failure> {
        let mut steps = Vec::new();
        let online = vcpus.iter().filter(|vcpu| vcpu.online).count().to_string();
        let wanted = chosen.whole("dom0-vcpus");
        if let Some(wanted) = wanted {
            if wanted > vcpus.len() as u64 {
                return Err(Failure::new(format!(
                    "option 'dom0-vcpus': dom0 has {} vcpus at most on this host, not {wanted}: ask for fewer, or \
                     boot Xen with dom0_max_vcpus={wanted}",
                    vcpus.len()
                )));
            }
            let set = Action::Exec(xl(&["vcpu-set", "0", &wanted.to_string()]));
            let back = Action::Exec(xl(&["vcpu-set", "0", &online]));
            steps.push(Step::new("set dom0's number of vcpus", set).undone_by(back));
        }
        let set = CpuSet::option(chosen, "dom0-cpus")?;
        if let Some(set) = &set {
            set.fit(cpus, "dom0-cpus")?;
            steps.extend(vcpus.iter().map(|vcpu| pin(vcpu, &set.to_string())));
        }
        let affinity = set.map_or_else(|| affinities(vcpus), |set| set.to_string());
        Ok(Self { vcpus: wanted.map_or(online, |wanted| wanted.to_string()), affinity, steps })
    }
}

/// One vcpu at a time, because each may have been somewhere else before.
fn pin(vcpu: &Vcpu, cpus: &str) -> Step {
    let number = vcpu.number.to_string();
    let to = |cpus: &str| Action::Exec(xl(&["vcpu-pin", "0", &number, cpus]));
    Step::new(format!("pin dom0's vcpu {number}"), to(cpus)).undone_by(to(&vcpu.affinity))
}

/// `all`, or each vcpu's own where they differ: `0, 1-3`.
fn affinities(vcpus: &[Vcpu]) -> String {
    let mut each: Vec<_> = vcpus.iter().map(|vcpu| vcpu.affinity.as_str()).collect();
    if each.iter().all(|affinity| *affinity == each[0]) {
        each.truncate(1);
    }
    each.join(" / ")
}

fn facts(info: &Info<'_>, dom0_mib: u64, dom0: &Dom0) -> BTreeMap<String, String> {
    let said = [
        ("xen version", "xen_version"),
        ("xen scheduler", "xen_scheduler"),
        ("xen command line", "xen_commandline"),
        ("xen capabilities", "virt_caps"),
        ("xen cpus", "nr_cpus"),
    ];
    let said = said.iter().filter_map(|(name, key)| Some((*name, info.get(key)?.to_string())));
    let total = info.get("total_memory").map(|memory| ("xen memory", format!("{memory} MiB")));
    let dom0 = [
        ("dom0 vcpus", dom0.vcpus.clone()),
        ("dom0 memory", format!("{dom0_mib} MiB")),
        ("dom0 cpu affinity", dom0.affinity.clone()),
    ];
    said.chain(total).chain(dom0).map(|(name, value)| (name.to_string(), value)).collect()
}
