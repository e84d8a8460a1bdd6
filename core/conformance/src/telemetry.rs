//! The operations of telemetry plugins.

use crossvisor_model::{Place, Recording};
use crossvisor_plugin::SourcesOutput;

use crate::inputs;
use crate::operation::{self, Machine};
use crate::options;
use crate::session::Session;

/// Texts that no source prints.
const GARBAGE: [(&str, &str); 4] = [
    ("nothing", ""),
    ("words", "command not found: please install it, then try again\n"),
    (
        "times without readings",
        "@crossvisor at mono=0 real=0\n@crossvisor at mono=1000000000 real=1000000000\n",
    ),
    ("text that was not UTF-8", "@crossvisor at mono=0 real=0\n\u{fffd}\u{0}\u{1b}[31m\u{fffd}\u{202e}\n"),
];

/// What it wants to run on the host and in a guest.
pub(crate) fn sources(session: &mut Session<'_>) {
    for offer in &session.subject.manifest().offers {
        for place in [Place::Host, Place::Guest(1)] {
            session.place = format!("offer '{}', {place}", offer.name);
            let call = inputs::sources(place);
            let options = options::defaults(session, offer, &call);
            let ended = operation::run(session, (offer, &options), call, Machine::Quiet, true);
            let Some(ended) = ended else { continue };
            if !ended.steps.is_empty() {
                session.error("sources has steps");
            }
            let Some(output) = operation::output::<SourcesOutput>(session, ended.output) else { continue };
            let mut names = Vec::new();
            for source in output.sources {
                if source.argv.first().is_none_or(String::is_empty) {
                    session.error(format!("source '{}' names no program", source.name));
                }
                if names.contains(&source.name) {
                    session.error(format!("source '{}' needs a name of its own", source.name));
                }
                names.push(source.name);
            }
        }
    }
}

/// What no source printed may be refused, or give no value.
pub(crate) fn record(session: &mut Session<'_>) {
    for offer in &session.subject.manifest().offers {
        for (what, text) in GARBAGE {
            session.place = format!("offer '{}', {what}", offer.name);
            let call = inputs::record(offer.name.clone(), text);
            let options = options::defaults(session, offer, &call);
            let ended = operation::run(session, (offer, &options), call, Machine::Quiet, false);
            let Some(ended) = ended else { continue };
            let Some(recording) = operation::output::<Recording>(session, ended.output) else { continue };
            for series in &recording.series {
                if series.values.len() != recording.at_s.len() {
                    session.error(format!("series '{}' does not have a value for each span", series.name));
                }
                if series.values.iter().any(Option::is_some) {
                    session.error(format!("series '{}' has values, from no source", series.name));
                }
            }
        }
    }
}
