//! What `xl` says of a Xen host.
//!
//! Owns the reading of `xl info`, `xl list 0` and `xl vcpu-list 0`. It must never judge what it read.

use std::collections::BTreeMap;

/// `xl info`: a key, a colon and a value on each line.
pub struct Info<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Info<'a> {
    pub fn read(text: &'a str) -> Self {
        let line = |line: &'a str| line.split_once(':').map(|(key, value)| (key.trim(), value.trim()));
        Self(text.lines().filter_map(line).collect())
    }

    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied()
    }

    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }

    /// Whether dom0 gives memory back for new guests: the tools' own rule is that it does unless its memory was set
    /// when Xen was booted.
    pub fn dom0_balloons(&self) -> bool {
        let arguments = self.get("xen_commandline").unwrap_or_default();
        !arguments.split_whitespace().any(|argument| argument.starts_with("dom0_mem="))
    }
}

/// Dom0's memory in MiB, from `xl list 0`.
pub fn dom0_memory_mib(list: &str) -> Option<u64> {
    list.lines().nth(1)?.split_whitespace().nth(2)?.parse().ok()
}

/// A vcpu of dom0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vcpu {
    pub number: u32,
    /// False: it was taken from dom0.
    pub online: bool,
    /// The CPUs that it may run on, as `xl vcpu-pin` takes them: `all`, `0-1,3`.
    pub affinity: String,
}

/// The lines of `xl vcpu-list 0`; `None` when one is of another form.
pub fn vcpus(list: &str) -> Option<Vec<Vcpu>> {
    list.lines().skip(1).filter(|line| !line.trim().is_empty()).map(vcpu).collect()
}

/// `Domain-0  0  1  0  -b-  12.3  all / all`.
fn vcpu(line: &str) -> Option<Vcpu> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let affinity = *fields.get(6)?;
    let known =
        affinity == "all" || affinity.bytes().all(|byte| byte.is_ascii_digit() || b"-,".contains(&byte));
    known.then_some(())?;
    Some(Vcpu { number: fields[2].parse().ok()?, online: fields[3] != "-", affinity: affinity.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_is_read_with_colons_in_its_values() {
        let info = Info::read("nr_cpus   : 4\nxen_compiler : gcc (Debian: 12)\nno colon\nfree_memory:17\n");
        assert_eq!((info.number("nr_cpus"), info.number("free_memory")), (Some(4), Some(17)));
        assert_eq!(info.get("xen_compiler"), Some("gcc (Debian: 12)"));
        assert_eq!((info.number("xen_compiler"), info.get("no colon")), (None, None));
    }

    #[test]
    fn dom0_gives_memory_back_unless_it_was_set_at_boot() {
        for (line, balloons) in [
            ("xen_commandline : placeholder dom0_mem=2G,max:2G", false),
            ("xen_commandline : placeholder dom0_max_vcpus=2 nodom0_mem=1", true),
            ("xen_version : 4.17.5", true),
        ] {
            assert_eq!(Info::read(line).dom0_balloons(), balloons, "{line}");
        }
    }

    #[test]
    fn dom0_is_read_vcpu_by_vcpu() {
        let list = "Name     ID   Mem VCPUs\tState\tTime(s)\nDomain-0  0  1792     2     r-----      41.2\n";
        assert_eq!(dom0_memory_mib(list), Some(1792));
        assert_eq!(dom0_memory_mib("Name ID Mem\n"), None);
        let list = "Name      ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)\n\
                    Domain-0   0     0    1   r--      28.6  all / all\n\
                    Domain-0   0     1    -   --p      12.0  0-1,3 / all\n";
        let vcpu = |number, online, affinity: &str| Vcpu { number, online, affinity: affinity.into() };
        assert_eq!(vcpus(list), Some(vec![vcpu(0, true, "all"), vcpu(1, false, "0-1,3")]));
        assert_eq!(vcpus("head\nDomain-0 0 0 1 r-- 28.6 any cpu\n"), None);
        assert_eq!(vcpus("head\nDomain-0 0 0\n"), None);
    }
}
