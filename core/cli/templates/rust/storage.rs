//! A storage plugin: a volume is a copy of the guest's image. It does nothing itself: it answers with steps.

use crossvisor_plugin::model::{Action, Exec, Manifest, Place, Step, StepResult, Volume, VolumeSource};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, InspectOutput, Resume, Storage, Turn, finish,
};
use serde_json::json;

pub struct Copies;

crossvisor_plugin::plugin!(@stem@, storage, Copies);

impl Storage for Copies {
    fn manifest(&self) -> Manifest {
        let manifest = json!({
            "name": "@name@", "version": env!("CARGO_PKG_VERSION"), "kind": "storage",
            "summary": "volumes that are copies of the guest's image",
            "offers": [{
                "name": "@offer@", "summary": "a sparse raw file",
                "options": [{
                    "name": "cache", "type": "choice", "of": ["none", "writeback"], "default": "none",
                    "help": "host page cache mode of the disk",
                }],
                "host_programs": ["cp", "stat"],
            }],
        });
        serde_json::from_value(manifest).unwrap_or_else(|e| unreachable!("the manifest is one: {e}"))
    }

    fn create(&self, chosen: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let path = input.folder.join(format!("{}.raw", input.name));
        let argv = ["cp", "--sparse=always", "--", &input.golden.to_string_lossy(), &path.to_string_lossy()];
        let step = Step::new("copy the image", Action::Exec(Exec::new(Place::Host, argv, 600.0)))
            .undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
        let cache = chosen.word("cache").map(String::from);
        let volume = Volume { cache, ..Volume::new(VolumeSource::File(path), "raw") };
        finish(vec![step], CreateOutput { volume })
    }

    fn inspect(&self, _: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        let (VolumeSource::File(path) | VolumeSource::Block(path)) = &input.volume.source;
        match resume.results.first() {
            Some(StepResult::Exec(stat)) => {
                finish(Vec::new(), InspectOutput::of(allocated(&stat.stdout)))
            }
            _ => {
                let argv = ["stat", "--format=%b %B", "--", &path.to_string_lossy()];
                let stat = Action::Exec(Exec::new(Place::Host, argv, 30.0));
                Ok(Turn { steps: vec![Step::new("read the volume's size", stat)], ..Turn::default() })
            }
        }
    }
}

/// Bytes from stat's number of blocks and their size.
fn allocated(printed: &str) -> Option<u64> {
    let (blocks, size) = printed.trim().split_once(' ')?;
    blocks.parse::<u64>().ok()?.checked_mul(size.parse().ok()?)
}
