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

const TIMEOUT_S: f64 = 60.0;
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
    Exec::new(Place::Host, ["xl"].iter().chain(arguments).copied(), TIMEOUT_S)
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
            let wrong = vcpus.iter().filter(|vcpu| vcpu.online != (u64::from(vcpu.number) < wanted));
            steps.extend(wrong.map(switch));
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

/// Takes a vcpu from dom0, or gives it back. Dom0's kernel is told directly: what `xl vcpu-set` takes it only half
/// gives back, the kernel then has the vcpu but leaves it off.
fn switch(vcpu: &Vcpu) -> Step {
    let file = format!("/sys/devices/system/cpu/cpu{}/online", vcpu.number);
    let to = |online: bool| {
        let stdin = Some(u8::from(online).to_string());
        Action::Exec(Exec { stdin, ..Exec::new(Place::Host, ["tee", file.as_str()], TIMEOUT_S) })
    };
    let say = format!("turn dom0's vcpu {} {}", vcpu.number, if vcpu.online { "off" } else { "on" });
    Step::new(say, to(!vcpu.online)).undone_by(to(vcpu.online))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_plugin::model::Name;

    #[test]
    fn guests_fit_to_the_last_mebibyte_and_dom0_counts_where_it_balloons() {
        let input = StageInput {
            golden: "/golden".into(),
            golden_bytes: 1,
            folder: "/run".into(),
            name: Name::new("cv-x").expect("name"),
            guests: 3,
            memory_bytes: 512 * MIB - 1,
            vcpus: 2,
        };
        // 512 and 2 for itself; with hardware virtualisation 2 for the vcpus and 4 for page tables too.
        for (mode, need) in [(Mode::Pv, 3 * 514), (Mode::Pvh, 3 * 520), (Mode::HvmPv, 3 * 520)] {
            assert_eq!(room(mode, &input, need, 1024, false), Ok(()));
            let failure = room(mode, &input, need - 1, 1024, false).expect_err("too little");
            assert!(failure.message.starts_with("3 guests of 512 MiB need"), "{failure}");
            assert_eq!(room(mode, &input, need - 896, 1024, true), Ok(()));
            assert!(room(mode, &input, need - 897, 1024, true).is_err());
            assert!(room(mode, &input, need - 1, 100, true).is_err());
        }
    }
}
