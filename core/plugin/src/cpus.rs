//! Sets of the host's CPUs, and which of them a guest's vcpus get: the options `cpus` and `pin` of hypervisors.
//!
//! Owns the text form `1-3,5`. It must never know how a set is made to hold.

use crossvisor_model::{DomainSpec, OptionKind, OptionSpec};

use crate::Failure;
use crate::sdk::Chosen;

/// The most CPUs that a host is taken to have.
const LIMIT: u32 = 4096;

/// CPUs of the host, in the order they were named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSet(Vec<u32>);

impl CpuSet {
    /// The set that an option names; `None` when it is unset.
    ///
    /// # Errors
    /// [`Failure`] when its text is no set of CPUs.
    pub fn option(chosen: &Chosen, option: &str) -> Result<Option<Self>, Failure> {
        let parse = |text: &str| {
            Self::parse(text).ok_or_else(|| {
                Failure::new(format!("option '{option}': '{text}' is no set of CPUs: write it like 1-3,5"))
            })
        };
        chosen.word(option).map(parse).transpose()
    }

    /// `None` for what is empty, not of the form `1-3,5`, names a CPU twice or one that no host has.
    fn parse(text: &str) -> Option<Self> {
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return None;
            }
            cpus.extend(first..=last);
        }
        let mut sorted = cpus.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1]).then_some(Self(cpus))
    }

    /// # Errors
    /// [`Failure`] when a host with `cpus` CPUs does not have all of these.
    pub fn fit(&self, cpus: u64, option: &str) -> Result<(), Failure> {
        match self.0.iter().find(|cpu| u64::from(**cpu) >= cpus) {
            None => Ok(()),
            Some(cpu) => Err(Failure::new(format!(
                "option '{option}' names CPU {cpu}, but the host has {cpus} CPUs (0-{last}): name others",
                last = cpus.saturating_sub(1)
            ))),
        }
    }

    /// The CPU that is at this place, counted round and round.
    fn at(&self, place: usize) -> u32 {
        self.0[place % self.0.len()]
    }
}

impl std::fmt::Display for CpuSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cpus: Vec<_> = self.0.iter().map(u32::to_string).collect();
        f.pad(&cpus.join(","))
    }
}

/// A number in decimal digits alone.
fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|cpu| digits && *cpu < LIMIT)
}

/// The options `cpus` and `pin`, as [`placement`] reads them.
#[must_use]
pub fn options() -> Vec<OptionSpec> {
    let pin = OptionKind::Choice { of: vec!["shared".into(), "own".into()] };
    vec![
        OptionSpec::new("cpus", OptionKind::Text, None, "CPUs of the host that the guests run on: 1-3,5"),
        OptionSpec::new(
            "pin",
            pin,
            serde_json::Value::from("shared"),
            "all guests share the CPUs, or each vcpu has one of them as its own as far as they reach",
        ),
    ]
}

/// Where a guest's vcpus may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// All CPUs of the guest.
    pub all: String,
    /// Of each vcpu.
    pub each: Vec<String>,
}

/// What the options say of a guest's vcpus; `None`: nothing, the host's scheduler has them all.
///
/// # Errors
/// [`Failure`] for a wrong set of CPUs, or `pin: own` without one.
pub fn placement(chosen: &Chosen, spec: &DomainSpec) -> Result<Option<Placement>, Failure> {
    let own = chosen.word("pin") == Some("own");
    let Some(cpus) = CpuSet::option(chosen, "cpus")? else {
        let without = "option 'pin': own needs the CPUs to hand out: set 'cpus' too";
        return if own { Err(Failure::new(without)) } else { Ok(None) };
    };
    let before = spec.number.saturating_sub(1) as usize * spec.vcpus as usize;
    let cpu = |vcpu| if own { cpus.at(before + vcpu).to_string() } else { cpus.to_string() };
    let each = (0..spec.vcpus as usize).map(cpu).collect();
    Ok(Some(Placement { all: cpus.to_string(), each }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chosen(options: serde_json::Value) -> Chosen {
        let offer = crossvisor_model::Name::new("kvm-virtio").expect("name");
        Chosen { offer, options: serde_json::from_value(options).expect("options") }
    }

    fn spec(number: u32, vcpus: u32) -> DomainSpec {
        let spec = json!({
            "name": "cv-x-1", "uuid": "", "run": "x", "number": number, "accel": "kvm", "vcpus": vcpus,
            "memory_mib": 384, "mac": "", "kernel": "/k", "initrd": "/i", "cmdline": "", "console_log": "/c",
            "volumes": [], "network": {"mode": "bridge", "bridge": "br0", "host_address": ""},
        });
        serde_json::from_value(spec).expect("spec")
    }

    #[test]
    fn a_set_keeps_its_order_and_names_no_cpu_twice() {
        let text = |text| CpuSet::parse(text).map(|set| set.to_string());
        assert_eq!(text("1-3,5").as_deref(), Some("1,2,3,5"));
        assert_eq!(text("7,0").as_deref(), Some("7,0"));
        assert_eq!(text("4095-4095").as_deref(), Some("4095"));
        for bad in
            ["", ",", "1,", "3-1", "1-", "-1", "+1", "a", "1 ,2", "1,0-1", "4096", "0-4294967295", "^1"]
        {
            assert_eq!(text(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_set_must_be_on_the_host() {
        let set = CpuSet::parse("1-3").expect("set");
        assert_eq!(set.fit(4, "cpus"), Ok(()));
        let failure = set.fit(2, "cpus").expect_err("no CPU 2");
        assert!(failure.message.contains("CPU 2, but the host has 2 CPUs (0-1)"), "{failure}");
    }

    #[test]
    fn own_hands_the_cpus_out_guest_by_guest_and_wraps() {
        let chosen = chosen(json!({"cpus": "1-3,5", "pin": "own"}));
        let place = |number| placement(&chosen, &spec(number, 3)).expect("valid").expect("set").each;
        assert_eq!(place(1), ["1", "2", "3"]);
        assert_eq!(place(2), ["5", "1", "2"]);
        assert_eq!(place(3), ["3", "5", "1"]);
    }

    #[test]
    fn shared_gives_every_vcpu_all_of_them() {
        let place = |options| placement(&chosen(options), &spec(1, 2));
        let shared = place(json!({"cpus": "4,5", "pin": "shared"})).expect("valid").expect("set");
        assert_eq!(shared, Placement { all: "4,5".into(), each: vec!["4,5".into(), "4,5".into()] });
        assert_eq!(place(json!({"pin": "shared"})), Ok(None));
        assert!(place(json!({"pin": "own"})).is_err());
        assert!(place(json!({"cpus": "x"})).is_err());
    }
}
