//! Backing `file`: a volume is a file of its own, raw or qcow2, copied whole from the guest's image.
//!
//! Owns the choice of format and of what serves the file. It must never touch a file itself.

use crossvisor_plugin::model::{
    Action, Kind, Manifest, Name, NameError, Offer, OptionSpec, Place, Volume, VolumeSource,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, Resume, StageInput, Storage, Turn, finish,
};
use crossvisor_storage_kit::{copy, folder, modes, program};
use serde_json::json;

/// The plugin.
pub struct File;

crossvisor_plugin::plugin!(storage_file, storage, File);

impl Storage for File {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn stage(&self, _: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
        folder::stage(input, resume)
    }

    fn create(&self, chosen: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let format = chosen.word("format").unwrap_or("raw").to_string();
        let (cache, io) = modes::modes(chosen)?;
        let path = input.folder.join(format!("{}.{format}", input.name));
        let copy = match format.as_str() {
            "raw" => copy::to_file(&input.golden, &path),
            _ => {
                let (golden, path) = (input.golden.to_string_lossy(), path.to_string_lossy());
                let argv = ["qemu-img", "convert", "-f", "raw", "-O", &format, &golden, &path];
                program("copy the image", argv, copy::TIMEOUT_S)
            }
        };
        let step = copy.undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
        let volume = Volume {
            source: VolumeSource::File(path),
            format,
            cache: Some(cache),
            io: Some(io),
            backend: chosen.word("backend").map(String::from),
        };
        finish(vec![step], CreateOutput { volume })
    }

    fn inspect(&self, _: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        folder::inspect(input, resume)
    }
}

fn manifest() -> Result<Manifest, NameError> {
    let own = [
        OptionSpec::new("format", modes::choice(&["raw", "qcow2"]), json!("raw"), "format of the file"),
        OptionSpec::new(
            "backend",
            modes::choice(&["tap"]),
            None,
            "what serves the file on Xen; unset: what the toolstack chooses",
        ),
    ];
    let file = Offer {
        options: own.into_iter().chain(modes::options()).collect(),
        host_programs: ["cp", "df", "stat"].map(String::from).into(),
        stages: true,
        ..Offer::new(Name::new("file")?, "a file of its own, copied whole from the guest's image")
    };
    Ok(Manifest {
        name: Name::new("storage-file")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Storage,
        summary: "volumes that are files".into(),
        offers: vec![file],
    })
}
