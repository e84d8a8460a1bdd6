//! The processor's times of /proc/stat.
//!
//! Owns the classes. A share is of the time of all processors, as iostat has it; the time of guests, which the kernel
//! counts as time of programs too, counts once.

/// One line `cpu …`, in ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu(Vec<u64>);

/// The fields of the line; a kernel may have fewer.
const FIELDS: [&str; 10] =
    ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest nice"];

impl Cpu {
    /// `None` where it is no such line.
    pub fn read(line: &str) -> Option<Self> {
        let numbers = line.strip_prefix("cpu ")?;
        let numbers: Option<Vec<u64>> = numbers.split_whitespace().map(|word| word.parse().ok()).collect();
        numbers.filter(|numbers| numbers.len() >= 4).map(Self)
    }

    /// The share of each class in the time since `before`; none where that stood still. A counter that went backwards,
    /// as iowait may, counts as one that did not move.
    pub fn shares(&self, before: &Self) -> Vec<(&'static str, f64)> {
        let known = FIELDS.iter().zip(self.0.iter().zip(&before.0));
        let grown: Vec<(&str, f64)> =
            known.map(|(name, (now, before))| (*name, now.saturating_sub(*before) as f64)).collect();
        let of = |name: &str| grown.iter().find(|(known, _)| *known == name).map(|(_, ticks)| *ticks);
        let zero = |name: &str| of(name).unwrap_or_default();
        let classes = [
            ("user", Some((zero("user") - zero("guest")).max(0.0))),
            ("nice", Some((zero("nice") - zero("guest nice")).max(0.0))),
            ("system", of("system")),
            ("irq", of("irq").map(|irq| irq + zero("softirq"))),
            ("iowait", of("iowait")),
            ("steal", of("steal")),
            ("guest", of("guest").map(|guest| guest + zero("guest nice"))),
            ("idle", of("idle")),
        ];
        let total: f64 = classes.iter().filter_map(|(_, ticks)| *ticks).sum();
        let share = |(name, ticks): (&'static str, Option<f64>)| Some((name, ticks? / total));
        if total > 0.0 { classes.into_iter().filter_map(share).collect() } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_guests_count_once() {
        let cpu = |line: &str| Cpu::read(line).expect("a line");
        let before = cpu("cpu  100 0 100 1000 50 0 0 0 50 0");
        let shares = cpu("cpu  150 0 110 1020 49 5 5 10 80 0").shares(&before);
        let of = |name: &str| shares.iter().find(|(known, _)| *known == name).map(|(_, share)| *share);
        for (name, share) in [
            ("user", 0.2),
            ("system", 0.1),
            ("irq", 0.1),
            ("iowait", 0.0),
            ("steal", 0.1),
            ("guest", 0.3),
            ("idle", 0.2),
        ] {
            assert_eq!(of(name), Some(share), "{name}");
        }
        assert!((shares.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(before.shares(&before), []);
        let old = cpu("cpu 0 0 0 0").shares(&cpu("cpu 0 0 0 0"));
        assert!(old.is_empty());
        assert_eq!(cpu("cpu 1 1 1 1").shares(&cpu("cpu 0 0 0 0")).len(), 4);
        for other in ["cpu0 1 2 3 4", "cpu 1 2 3", "cpu a b c d", "intr 1 2 3 4"] {
            assert_eq!(Cpu::read(other), None, "{other}");
        }
    }
}
