//! The operations of hypervisor plugins.

use crossvisor_model::{Accel, Name, Network, Place};
use crossvisor_plugin::{AliveOutput, DefineOutput};

use crate::inputs::{self, BRIDGE, FOLDER, NAME, SSH_PORT};
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
        let call = inputs::define(&name, ACCELS[0], inputs::user(), offer.own_boot);
        for set in options::sets(session, offer, &call) {
            session.place = set.place(offer);
            let mut made = false;
            for (accel, network) in
                ACCELS.into_iter().flat_map(|accel| [(accel, inputs::user()), (accel, inputs::bridge())])
            {
                let call = inputs::define(&name, accel, network.clone(), offer.own_boot);
                let ended = operation::run(session, (offer, &set.options), call, Machine::Quiet, false);
                made |= ended.inspect(|ended| defined(session, ended, &network, offer.own_boot)).is_some();
            }
            if !made && set.name.is_empty() && !session.has_ended() {
                session
                    .error("it makes no domain, with accel kvm, tcg or xen, behind forwards or on a bridge");
            }
        }
    }
}

fn defined(session: &mut Session<'_>, ended: &Ended, network: &Network, own_boot: bool) {
    steps::check(session, &ended.steps, HERE);
    let output = operation::output::<Option<DefineOutput>>(session, ended.output.clone());
    let output = output.flatten().unwrap_or_default();
    let console = output.console_log.is_none().then(|| format!("{FOLDER}/{NAME}.console"));
    let needed = [
        ("volume", Some(format!("{FOLDER}/{NAME}.raw"))),
        ("initrd", (!own_boot).then(|| format!("{FOLDER}/{NAME}.initrd"))),
        ("identity disk", own_boot.then(|| format!("{FOLDER}/{NAME}.identity"))),
        ("console log", console),
        ("forwarded port", matches!(network, Network::User { .. }).then(|| SSH_PORT.to_string())),
        ("bridge", matches!(network, Network::Bridge { .. }).then(|| BRIDGE.into())),
    ];
    let text = format!("{:?}", ended.steps);
    for (what, value) in needed {
        if let Some(value) = value.filter(|value| !text.contains(value)) {
            session.error(format!("no step uses the domain's {what} ({value})"));
        }
    }
    if output.volumes.is_some_and(|volumes| volumes.len() != 1 + usize::from(own_boot)) {
        session.error("its output has other volumes than the domain");
    }
    if ended.steps.iter().all(|step| step.undo.is_none()) {
        session.error("no step has an undo: the guest would stay");
    }
}

pub(crate) fn alive(session: &mut Session<'_>) {
    let Ok(name) = Name::new(NAME) else { return };
    let allowed = Allowed { creates: false, ..HERE };
    for offer in &session.subject.manifest().offers {
        session.place = format!("offer '{}'", offer.name);
        let options = options::defaults(session, offer, &inputs::alive(&name, Accel::Tcg));
        for machine in [Machine::Quiet, Machine::Babbling("no such process\n")] {
            let call = inputs::alive(&name, Accel::Tcg);
            let must = machine == Machine::Quiet;
            let ended = operation::run(session, (offer, &options), call, machine, must);
            let Some(ended) = ended else { continue };
            steps::check(session, &ended.steps, allowed);
            if ended.steps.is_empty() {
                session.error("it says whether the guest runs without looking");
            }
            operation::output::<AliveOutput>(session, ended.output);
        }
    }
}
