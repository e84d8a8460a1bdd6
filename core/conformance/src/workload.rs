//! The operations of workload plugins.

use crossvisor_model::{Action, Offer, Place, Value};
use crossvisor_plugin::{Call, Instance, ParseOutput};

use crate::inputs;
use crate::operation::{self, Ended, Machine};
use crate::options::{self, OptionSet};
use crate::session::Session;
use crate::steps::{self, Allowed};

/// Instances at once that are tried.
const COUNTS: [u32; 2] = [1, 3];
/// Bytes of the longest text that is given to `parse`.
const MUCH: usize = 1 << 20;
/// Texts that no tool prints as its result.
const GARBAGE: [(&str, &str); 7] = [
    ("nothing", ""),
    ("empty lines", "\n\n\r\n\n"),
    ("words", "command not found: please install it, then try again\n"),
    ("open braces", "{\"results\": [{{{,"),
    ("an empty object", "{}"),
    ("commas", ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n"),
    ("text that was not UTF-8", "\u{fffd}\u{fffd}\u{0}\u{1b}[31m\u{fffd}\u{7f}\u{202e}\n"),
];

pub(crate) fn prepare(session: &mut Session<'_>) {
    every(session, |session, offer, set, instances| {
        let call = Call::Prepare(inputs::work(instances));
        let ended = operation::run(session, (offer, &set.options), call, Machine::Quiet, set.name.is_empty());
        if let Some(ended) = ended {
            judge(session, &ended, instances, false);
        }
    });
}

pub(crate) fn work(session: &mut Session<'_>) {
    every(session, |session, offer, set, instances| {
        let call = Call::Work(inputs::work(instances));
        let ended = operation::run(session, (offer, &set.options), call, Machine::Quiet, set.name.is_empty());
        let Some(ended) = ended else { return };
        judge(session, &ended, instances, true);
        rounds(session, &ended, instances);
    });
}

/// With every set of options, every number of instances, on guests and on the bare host.
fn every(session: &mut Session<'_>, mut make: impl FnMut(&mut Session<'_>, &Offer, &OptionSet, &[Instance])) {
    for offer in session.subject.manifest().offers.iter().filter(|offer| !offer.only_imported) {
        for set in options::sets(session, offer, &Call::Work(inputs::work(&[inputs::instance(1, false)]))) {
            for (count, bare) in COUNTS.into_iter().flat_map(|count| [(count, false), (count, true)]) {
                let instances: Vec<_> = (1..=count).map(|index| inputs::instance(index, bare)).collect();
                let who = if bare { "copies on the host" } else { "guests" };
                session.place = format!("{}, {count} {who}", set.place(offer));
                make(session, offer, &set, &instances);
            }
        }
    }
}

fn judge(session: &mut Session<'_>, ended: &Ended, instances: &[Instance], rounds: bool) {
    let mut places: Vec<Place> = instances.iter().map(|instance| instance.place).collect();
    if !rounds {
        places.extend([Place::Host, Place::Controller]);
    }
    steps::check(session, &ended.steps, Allowed { places: &places, rounds, creates: false, domains: false });
}

/// A round has at most one run for each instance, in their order.
fn rounds(session: &mut Session<'_>, ended: &Ended, instances: &[Instance]) {
    let given: Vec<Place> = instances.iter().map(|instance| instance.place).collect();
    let mut names = Vec::new();
    for step in &ended.steps {
        let Action::Together { round, runs, .. } = &step.action else { continue };
        let asked: Vec<Place> = runs.iter().map(|run| run.on).collect();
        let mut rest = given.iter();
        if asked.is_empty() || !asked.iter().all(|on| rest.any(|place| place == on)) {
            session.error(format!("round '{round}' has runs at {asked:?}; instances are at {given:?}"));
        }
        if round.is_empty() || names.contains(round) {
            session.error(format!("round '{round}' needs a name of its own"));
        }
        names.push(round.clone());
    }
    if names.is_empty() {
        session.error("it measures nothing: there is no round");
    }
}

/// The rounds of an offer with its defaults.
fn round_names(session: &mut Session<'_>, offer: &Offer, set: &OptionSet) -> Vec<String> {
    let call = Call::Work(inputs::work(&[inputs::instance(1, false)]));
    let ended = operation::run(session, (offer, &set.options), call, Machine::Quiet, false);
    let name = |action: &Action| match action {
        Action::Together { round, .. } => Some(round.clone()),
        _ => None,
    };
    ended.map(|ended| ended.steps.iter().filter_map(|step| name(&step.action)).collect()).unwrap_or_default()
}

pub(crate) fn parse(session: &mut Session<'_>) {
    let tries: Vec<(String, Option<i32>, String)> = GARBAGE
        .into_iter()
        .flat_map(|(what, text)| {
            [Some(0), Some(1), None].map(|exit| (what.to_string(), exit, text.to_string()))
        })
        .collect();
    each_round(session, &tries);
}

pub(crate) fn parse_much(session: &mut Session<'_>) {
    let line = "0123456789 abcdefghij,klmnopqrst: 1.5e+300 [uvw] {xyz}\n";
    let one_line: String = line.trim_end().chars().cycle().take(MUCH).collect();
    let tries = vec![
        ("many lines".to_string(), Some(1), line.repeat(MUCH / line.len())),
        ("one long line".to_string(), Some(1), one_line),
    ];
    each_round(session, &tries);
}

fn each_round(session: &mut Session<'_>, tries: &[(String, Option<i32>, String)]) {
    for offer in &session.subject.manifest().offers {
        let call = Call::Work(inputs::work(&[inputs::instance(1, false)]));
        let options = options::defaults(session, offer, &call);
        let defaults = OptionSet { name: String::new(), options };
        for round in round_names(session, offer, &defaults) {
            for (what, exit, text) in tries {
                let how = exit.map_or("ended by a signal".to_string(), |code| format!("exit code {code}"));
                session.place = format!("offer '{}', round '{round}', {what}, {how}", offer.name);
                garbage(session, offer, &defaults, inputs::parse(&round, *exit, text, &tail(text)), *exit);
            }
        }
    }
}

/// The last characters of a text: standard error is seldom long.
fn tail(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(4096);
    text.chars().skip(skipped).collect()
}

/// What no tool printed may be refused, or give no sample. After an exit code of 0 a workload may know its result
/// from the time alone, as one does whose scenario says what there is to read.
fn garbage(session: &mut Session<'_>, offer: &Offer, set: &OptionSet, call: Call, exit: Option<i32>) {
    let Some(ended) = operation::run(session, (offer, &set.options), call, Machine::Quiet, false) else {
        return;
    };
    if !ended.steps.is_empty() {
        session.error("parse has steps");
    }
    let Some(parsed) = operation::output::<ParseOutput>(session, ended.output) else { return };
    let metrics = offer.metrics_with(&set.options);
    for sample in &parsed.samples {
        if !metrics.iter().any(|metric| metric.name == sample.metric) {
            session.error(format!("metric '{}' is not in its manifest", sample.metric));
        }
        match (&sample.value, exit) {
            (Value::Missing(_), _) => {}
            (_, Some(0)) if offer.takes_metrics() => {}
            (value, Some(0)) => session.warning(format!("{} is {value:?}, from no result", sample.metric)),
            (value, _) => session.error(format!("{} is {value:?}, from no result", sample.metric)),
        }
    }
}
