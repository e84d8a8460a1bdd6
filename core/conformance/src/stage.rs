//! The operation that gets a host ready, of hypervisors and of backings.

use std::path::PathBuf;

use crossvisor_model::{Kind, Name, Offer, Place};
use crossvisor_plugin::StageOutput;

use crate::inputs::{self, NAME};
use crate::operation::{self, Machine};
use crate::options;
use crate::session::Session;
use crate::steps::{self, Allowed};

// Most steps only look: those have no undo.
const HERE: Allowed<'_> =
    Allowed { places: &[Place::Host, Place::Controller], rounds: false, creates: false, domains: false };

pub(crate) fn check(session: &mut Session<'_>) {
    let Ok(name) = Name::new(NAME) else { return };
    let call = inputs::stage(&name);
    for offer in session.subject.manifest().offers.iter().filter(|offer| offer.stages) {
        for set in options::sets(session, offer, &call) {
            session.place = set.place(offer);
            let must = set.name.is_empty();
            for machine in [Machine::Quiet, Machine::Babbling("-1 \u{fffd}\u{0}{[\n")] {
                let must = must && machine == Machine::Quiet;
                let ended = operation::run(session, (offer, &set.options), call.clone(), machine, must);
                let Some(ended) = ended else { continue };
                steps::check(session, &ended.steps, HERE);
                if let Some(output) = operation::output::<StageOutput>(session, ended.output) {
                    judge(session, &output);
                }
            }
        }
    }
}

fn judge(session: &mut Session<'_>, output: &StageOutput) {
    if output.golden.is_some() && session.subject.manifest().kind == Kind::Hypervisor {
        session.error("a hypervisor has no image to give");
    }
    if let Some(golden) = output.golden.as_ref().filter(|golden| !golden.is_absolute()) {
        session.error(format!("the image's path {} is relative", golden.display()));
    }
    for (fact, text) in &output.facts {
        if fact.trim().is_empty() || text.chars().any(char::is_control) {
            session.error(format!("the fact '{fact}' has no name, or is not one line of text"));
        }
    }
}

/// What `create` gets as the image: that of the host, or what the offer makes of it when it stages.
pub(crate) fn golden(session: &mut Session<'_>, offer: &Offer, set: &crossvisor_model::Options) -> PathBuf {
    let staged = Name::new(NAME)
        .ok()
        .filter(|_| offer.stages)
        .and_then(|name| operation::run(session, (offer, set), inputs::stage(&name), Machine::Quiet, false));
    let output = staged.and_then(|ended| serde_json::from_value::<StageOutput>(ended.output).ok());
    output.and_then(|output| output.golden).unwrap_or_else(|| inputs::GOLDEN.into())
}
