//! `overlay`: a qcow2 file that refers to the image's file for all that is not written.

use crossvisor_plugin::model::{Action, Name, NameError, Offer, Place, Volume, VolumeSource};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{CreateInput, CreateOutput, Failure, Turn, finish};
use crossvisor_storage_kit::{modes, program};

const CREATE_TIMEOUT_S: f64 = 60.0;

pub(crate) fn create(chosen: &Chosen, input: &CreateInput) -> Result<Turn, Failure> {
    let (cache, io) = modes::modes(chosen)?;
    let path = input.folder.join(format!("{}.qcow2", input.name));
    let (golden, file) = (input.golden.to_string_lossy(), path.to_string_lossy());
    let argv = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", &golden, &file];
    let step = program("make the overlay", argv, CREATE_TIMEOUT_S)
        .undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
    let volume =
        Volume { cache: Some(cache), io: Some(io), ..Volume::new(VolumeSource::File(path), "qcow2") };
    finish(vec![step], CreateOutput { volume })
}

pub(crate) fn offer(name: &str) -> Result<Offer, NameError> {
    Ok(Offer {
        options: modes::options().into(),
        host_programs: ["qemu-img", "stat", "df"].map(String::from).into(),
        stages: true,
        ..Offer::new(
            Name::new(name)?,
            "a qcow2 file over the guest's image, which holds what the guest writes",
        )
    })
}
