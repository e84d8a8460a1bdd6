//! The operations of storage plugins.

use std::path::Path;

use crossvisor_model::{Name, Place, VolumeSource};
use crossvisor_plugin::{CreateOutput, InspectOutput};

use crate::inputs::{self, FOLDER, GOLDEN, NAME};
use crate::operation::{self, Machine};
use crate::options;
use crate::session::Session;
use crate::steps::{self, Allowed};

const HERE: Allowed<'_> =
    Allowed { places: &[Place::Host, Place::Controller], rounds: false, creates: true, domains: false };

pub(crate) fn create(session: &mut Session<'_>) {
    let Ok(name) = Name::new(NAME) else { return };
    for offer in &session.subject.manifest().offers {
        for set in options::sets(offer) {
            session.place = set.place(offer);
            let must = set.name.is_empty();
            let using = (offer, &set.options);
            let ended = operation::run(session, using, inputs::create(&name), Machine::Quiet, must);
            let Some(ended) = ended else { continue };
            steps::check(session, &ended.steps, HERE);
            if !format!("{:?}", ended.steps).contains(GOLDEN) {
                session.error("no step reads the guest's image");
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
    if !path.to_string_lossy().contains(NAME) {
        session.error(format!("the volume {} does not carry the name it was given", path.display()));
    }
    if matches!(&output.volume.source, VolumeSource::File(path) if !path.starts_with(Path::new(FOLDER))) {
        session.error(format!("the volume {} is not in the folder it was given", path.display()));
    }
    if output.volume.format.is_empty() {
        session.error("the volume has no format");
    }
}

pub(crate) fn inspect(session: &mut Session<'_>) {
    let allowed = Allowed { creates: false, ..HERE };
    for offer in &session.subject.manifest().offers {
        let Some(defaults) = options::sets(offer).into_iter().next() else { continue };
        session.place = defaults.place(offer);
        for machine in [Machine::Quiet, Machine::Babbling("18446744073709551616 -1\nno number\u{0}\u{fffd}")]
        {
            let using = (offer, &defaults.options);
            let ended = operation::run(session, using, inputs::inspect(), machine, machine == Machine::Quiet);
            let Some(ended) = ended else { continue };
            steps::check(session, &ended.steps, allowed);
            let output = operation::output::<InspectOutput>(session, ended.output);
            if let (Some(InspectOutput { allocated_bytes: Some(bytes), .. }), true) =
                (output, !ended.steps.is_empty())
            {
                session.error(format!("{bytes} bytes are told from output that does not tell"));
            }
        }
    }
}
