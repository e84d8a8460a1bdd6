//! The operations of hypervisor plugins.

use crossvisor_model::{Accel, Name, Place};
use crossvisor_plugin::AliveOutput;

use crate::inputs::{self, FOLDER, NAME, SSH_PORT};
use crate::operation::{self, Ended, Machine};
use crate::options;
use crate::session::Session;
use crate::steps::{self, Allowed};

const HERE: Allowed<'_> =
    Allowed { places: &[Place::Host, Place::Controller], rounds: false, creates: true, domains: true };
/// A host runs guests by one of these; which of them a plugin can use is its own affair.
const ACCELS: [Accel; 3] = [Accel::Kvm, Accel::Tcg, Accel::Xen];

pub(crate) fn define(session: &mut Session<'_>) {
    let Ok(name) = Name::new(NAME) else { return };
    for offer in &session.subject.manifest().offers {
        for set in options::sets(offer) {
            session.place = set.place(offer);
            let mut made = false;
            for accel in ACCELS {
                let call = inputs::define(&name, accel);
                let ended = operation::run(session, (offer, &set.options), call, Machine::Quiet, false);
                made |= ended.inspect(|ended| defined(session, ended)).is_some();
            }
            if !made && set.name.is_empty() && !session.has_ended() {
                session.error("it makes no domain, with accel kvm, tcg or xen");
            }
        }
    }
}

fn defined(session: &mut Session<'_>, ended: &Ended) {
    steps::check(session, &ended.steps, HERE);
    let text = format!("{:?}", ended.steps);
    let needed = [
        ("volume", format!("{FOLDER}/{NAME}.raw")),
        ("initrd", format!("{FOLDER}/{NAME}.initrd")),
        ("console log", format!("{FOLDER}/{NAME}.console")),
        ("forwarded port", SSH_PORT.to_string()),
    ];
    for (what, value) in needed {
        if !text.contains(&value) {
            session.error(format!("no step uses the domain's {what} ({value})"));
        }
    }
    if ended.steps.iter().all(|step| step.undo.is_none()) {
        session.error("no step has an undo: the guest would stay");
    }
}

pub(crate) fn alive(session: &mut Session<'_>) {
    let Ok(name) = Name::new(NAME) else { return };
    let allowed = Allowed { creates: false, ..HERE };
    for offer in &session.subject.manifest().offers {
        let Some(defaults) = options::sets(offer).into_iter().next() else { continue };
        session.place = defaults.place(offer);
        for machine in [Machine::Quiet, Machine::Babbling("no such process\n")] {
            let call = inputs::alive(&name, Accel::Tcg);
            let must = machine == Machine::Quiet;
            let ended = operation::run(session, (offer, &defaults.options), call, machine, must);
            let Some(ended) = ended else { continue };
            steps::check(session, &ended.steps, allowed);
            if ended.steps.is_empty() {
                session.error("it says whether the guest runs without looking");
            }
            operation::output::<AliveOutput>(session, ended.output);
        }
    }
}
