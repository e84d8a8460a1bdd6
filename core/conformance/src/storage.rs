//! The operations of storage plugins.

use std::path::Path;

use crossvisor_model::{Name, Place, VolumeSource};
use crossvisor_plugin::{CreateOutput, InspectOutput};

use crate::inputs::{self, FOLDER, GOLDEN, NAME};
use crate::operation::{self, Machine};
use crate::options;
use crate::session::Session;
use crate::stage;
use crate::steps::{self, Allowed};

const HERE: Allowed<'_> =
    Allowed { places: &[Place::Host, Place::Controller], rounds: false, creates: true, domains: false };

pub(crate) fn create(session: &mut Session<'_>) {
    let Ok(name) = Name::new(NAME) else { return };
    for offer in &session.subject.manifest().offers {
        let call = inputs::create(&name, GOLDEN.as_ref());
        for set in options::sets(session, offer, &call) {
            session.place = set.place(offer);
            let must = set.name.is_empty();
            let using = (offer, &set.options);
            let golden = stage::golden(session, offer, &set.options);
            let call = inputs::create(&name, &golden);
            let ended = operation::run(session, using, call, Machine::Quiet, must);
            let Some(ended) = ended else { continue };
            steps::check(session, &ended.steps, HERE);
            let text = format!("{:?}", ended.steps);
            if golden.file_name().is_none_or(|name| !text.contains(&*name.to_string_lossy())) {
                session.error("no step reads the guest's image");
            }
            if !text.contains(NAME) {
                session.error("no step carries the name that the volume was given");
            }
            if let Some(output) = operation::output::<CreateOutput>(session, ended.output) {
                volume(session, &output);
            }
        }
    }
}

fn volume(session: &mut Session<'_>, output: &CreateOutput) {
    let (VolumeSource::File(path) | VolumeSource::Block(path)) = &output.volume.source;
    if !path.is_absolute() {
        session.error(format!("the volume's path {} is relative", path.display()));
    }
    if let VolumeSource::File(path) = &output.volume.source {
        if !path.to_string_lossy().contains(NAME) {
            session.error(format!("the volume {} does not carry the name it was given", path.display()));
        }
        if !path.starts_with(Path::new(FOLDER)) {
            session.error(format!("the volume {} is not in the folder it was given", path.display()));
        }
    }
    if output.volume.format.is_empty() {
        session.error("the volume has no format");
    }
}

pub(crate) fn inspect(session: &mut Session<'_>) {
    let allowed = Allowed { creates: false, ..HERE };
    for offer in &session.subject.manifest().offers {
        session.place = format!("offer '{}'", offer.name);
        let options = options::defaults(session, offer, &inputs::inspect());
        for machine in [Machine::Quiet, Machine::Babbling("18446744073709551616 -1\nno number\u{0}\u{fffd}")]
        {
            let using = (offer, &options);
            let ended = operation::run(session, using, inputs::inspect(), machine, machine == Machine::Quiet);
            let Some(ended) = ended else { continue };
            steps::check(session, &ended.steps, allowed);
            let Some(output) = operation::output::<InspectOutput>(session, ended.output) else { continue };
            if ended.steps.is_empty() {
                continue;
            }
            if let Some(bytes) = output.allocated_bytes {
                session.error(format!("{bytes} bytes are told from output that does not tell"));
            }
            if let Some(why) = output.spoiled {
                session.error(format!("spoiled ('{why}') is told from output that does not tell"));
            }
        }
    }
}
