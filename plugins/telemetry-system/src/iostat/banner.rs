//! The line that the programs of sysstat begin with: `Linux 6.1.0 (host) 11/30/21 _x86_64_ (4 CPU)`, with tabs.
//!
//! Owns what a recording tells of its machine.

use std::collections::BTreeMap;

use crossvisor_plugin::model::Values;
use crossvisor_plugin::{Imported, Refused};

/// The machine of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Banner {
    pub machine: Option<String>,
    pub kernel: Option<String>,
    pub cpus: Option<u64>,
}

impl Banner {
    /// `None` where the line is none.
    pub fn read(line: &str) -> Option<Self> {
        let rest = line.trim().strip_prefix("Linux ")?;
        let (kernel, rest) = rest.split_once(" (")?;
        let (machine, rest) = rest.split_once(')')?;
        let cpus = rest.rsplit_once('(').and_then(|(_, cpus)| cpus.split_whitespace().next()?.parse().ok());
        let text = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
        Some(Self { machine: text(machine), kernel: text(kernel), cpus })
    }

    /// A result on this machine; `settings` tell what it is of.
    pub fn imported(
        &self,
        line: usize,
        settings: impl IntoIterator<Item = (&'static str, String)>,
        values: Values,
    ) -> Imported {
        let mut settings: BTreeMap<String, String> =
            settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        settings.extend(self.cpus.map(|cpus| ("cpus".to_string(), cpus.to_string())));
        let versions = self.kernel.iter().map(|kernel| ("linux".to_string(), kernel.clone())).collect();
        Imported { line, machine: self.machine.clone(), settings, values, warnings: Vec::new(), versions }
    }
}

/// What is no result, and why.
pub fn refused(line: usize, reason: impl Into<String>) -> Refused {
    Refused { line, reason: reason.into() }
}
