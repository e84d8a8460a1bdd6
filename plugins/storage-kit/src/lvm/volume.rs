//! One logical volume: the steps that make it, ask for it and remove it.

use std::path::{Path, PathBuf};

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::{Action, Exec, Name, Place, Step};
use crossvisor_plugin::sdk::Chosen;

use super::TIMEOUT_S;
use super::group::{check_name, chosen_group};
use super::report::LvReport;
use crate::program;

/// The tag of every logical volume that is ours.
pub const TAG: &str = "crossvisor";

/// A logical volume by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lv {
    pub group: String,
    pub name: String,
}

impl Lv {
    /// The volume called `name` in the chosen volume group.
    ///
    /// # Errors
    /// [`Failure`] where no volume group, or an impossible one, is chosen.
    pub fn ours(chosen: &Chosen, name: &Name) -> Result<Self, Failure> {
        Ok(Self { group: chosen_group(chosen)?.into(), name: name.to_string() })
    }

    /// The volume that the text option `option` names in the chosen volume group. `None` where it is unset.
    ///
    /// # Errors
    /// [`Failure`] where a name is impossible.
    pub fn chosen(chosen: &Chosen, option: &str) -> Result<Option<Self>, Failure> {
        let Some(name) = chosen.word(option) else { return Ok(None) };
        let name = check_name(option, name)?.into();
        Ok(Some(Self { group: chosen_group(chosen)?.into(), name }))
    }

    /// `vg0/cv-a-1`, as LVM's commands take it.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// The block device.
    #[must_use]
    pub fn device(&self) -> PathBuf {
        Path::new("/dev").join(&self.group).join(&self.name)
    }

    /// Makes it, as the arguments of `how` say.
    #[must_use]
    pub fn create(&self, say: &str, how: &[&str]) -> Step {
        let common = ["lvcreate", "--yes", "--addtag", TAG, "--name", &self.name];
        program(say, common.iter().chain(how).copied(), TIMEOUT_S).undone_by(self.remove())
    }

    /// Makes a volume with room of its own for `bytes`, rounded up to whole extents.
    #[must_use]
    pub fn create_thick(&self, bytes: u64) -> Step {
        let size = format!("{bytes}b");
        let how = ["--wipesignatures", "n", "--size", &size, &self.group];
        self.create("make the logical volume", &how)
    }

    /// Removes it where it is there and ours.
    fn remove(&self) -> Action {
        let ours = format!("lv_name=\"{}\" && lv_tags=\"{TAG}\"", self.name);
        let argv = ["lvremove", "--yes", "--select", &ours, &self.group];
        Action::Exec(Exec::new(Place::Host, argv, TIMEOUT_S))
    }

    /// Asks for its [`LvReport`]; where the volume is not there the report is empty.
    #[must_use]
    pub fn ask(&self) -> Step {
        let this = format!("vg_name=\"{}\" && lv_name=\"{}\"", self.group, self.name);
        ask(&["--select", &this])
    }
}

/// Asks for the report of the volume with this device.
#[must_use]
pub fn ask_device(device: &Path) -> Step {
    ask(&["--", &device.to_string_lossy()])
}

fn ask(which: &[&str]) -> Step {
    let common =
        ["lvs", "--reportformat", "json", "--units", "b", "--nosuffix", "--options", LvReport::FIELDS];
    program("read the logical volume", common.iter().chain(which).copied(), TIMEOUT_S)
}
