//! The volume group that a scenario chose, and the room it has.

use std::collections::BTreeMap;

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::{OptionKind, OptionSpec, Step};
use crossvisor_plugin::sdk::Chosen;

use super::TIMEOUT_S;
use super::report::{number, rows, text};
use crate::{program, size};

/// Characters of the longest name that LVM takes.
const LONGEST: usize = 127;

/// A volume group of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Bytes of one extent.
    pub extent: u64,
    /// Extents that no logical volume has.
    pub free: u64,
}

/// The option `vg`.
#[must_use]
pub fn option() -> OptionSpec {
    OptionSpec::new("vg", OptionKind::Text, None, "volume group of the volumes; must be set")
}

/// The volume group's name as chosen.
///
/// # Errors
/// [`Failure`] where none is set, or the text is none that LVM takes.
pub fn chosen_group(chosen: &Chosen) -> Result<&str, Failure> {
    let name = chosen.word("vg").ok_or_else(|| {
        Failure::new("set the option 'vg' to the volume group for the volumes: 'vgs' lists those of a host")
    })?;
    check_name("vg", name)
}

/// `name` where LVM takes it.
///
/// # Errors
/// [`Failure`] that names the option.
pub(super) fn check_name<'a>(option: &str, name: &'a str) -> Result<&'a str, Failure> {
    let inside = |c: char| c.is_ascii_alphanumeric() || "+_.-".contains(c);
    let good =
        (1..=LONGEST).contains(&name.len()) && name.chars().all(inside) && !name.starts_with(['-', '.']);
    if good {
        return Ok(name);
    }
    let shown: String = name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    Err(Failure::new(format!(
        "{option}: '{shown}' is no name of LVM: that has 1 to {LONGEST} of a-z, A-Z, 0-9, '+', '_', '.' and '-', and does \
         not begin with '.' or '-'"
    )))
}

/// Asks for all volume groups of the host.
#[must_use]
pub fn ask_groups() -> Step {
    let fields = "vg_name,vg_size,vg_extent_size,vg_free_count";
    let argv = ["vgs", "--reportformat", "json", "--units", "b", "--nosuffix", "--options", fields];
    program("read the volume groups", argv, TIMEOUT_S)
}

impl Group {
    /// The volume group `name` of a report.
    ///
    /// # Errors
    /// [`Failure`] that tells those which are there, where it is not among them.
    pub fn find(report: &str, name: &str) -> Result<Self, Failure> {
        let row = |row: &serde_json::Value| {
            Some(Self {
                name: text(row, "vg_name")?.into(),
                size: number(row, "vg_size")?,
                extent: number(row, "vg_extent_size").filter(|extent| *extent > 0)?,
                free: number(row, "vg_free_count")?,
            })
        };
        let all = rows(report, "vg", row)?;
        let names: Vec<_> = all.iter().map(|group| group.name.as_str()).collect();
        let there = match names.is_empty() {
            true => "it has none, and vgcreate makes one".to_string(),
            false => format!("it has {}", names.join(", ")),
        };
        let found = all.iter().find(|group| group.name == name).cloned();
        found.ok_or_else(|| Failure::new(format!("host has no volume group '{name}': {there}")))
    }

    /// Extents that hold this many bytes.
    #[must_use]
    pub fn extents(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.extent)
    }

    /// Is there room for so many extents?
    ///
    /// # Errors
    /// [`Failure`] with both sizes; `who` is what needs them: `4 guests need`.
    pub fn check_room(&self, extents: u64, who: &str) -> Result<(), Failure> {
        if extents <= self.free {
            return Ok(());
        }
        Err(Failure::new(format!(
            "volume group {} has {} free, {who} {}: free some of it, or take fewer guests or a smaller image",
            self.name,
            size::text(self.free.saturating_mul(self.extent)),
            size::text(extents.saturating_mul(self.extent)),
        )))
    }

    /// What a person should know of it.
    #[must_use]
    pub fn facts(&self) -> BTreeMap<String, String> {
        let free = size::text(self.free.saturating_mul(self.extent));
        BTreeMap::from([
            ("volume group".into(), self.name.clone()),
            ("volume group size".into(), size::text(self.size)),
            ("volume group free".into(), free),
            ("extent size".into(), size::text(self.extent)),
        ])
    }
}
