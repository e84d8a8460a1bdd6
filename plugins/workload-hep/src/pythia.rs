//! PYTHIA 8: simulated proton collisions per second of wall-clock time.
//!
//! Owns its options and metrics, and the particle counts that are known. It must never count one itself.

use crossvisor_plugin::ParsedSample;
use crossvisor_plugin::model::{Better, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec, Value};
use crossvisor_plugin::sdk::Chosen;
use serde_json::json;

use crate::copies::Line;
use crate::line::Asked;

/// The version of the module pythia8mc that the guest definition `debian-12-hep` installs.
pub const VERSION: &str = "8.317.2";
/// One event, to see whether the module works.
pub const TRIAL: [Asked; 3] = [("copies", 1), ("events", 1), ("seed", SEED)];

const SEED: u64 = 20_090_512;
const EVENTS: u64 = 500;
/// Charged particles in the final state of the first events from that version with that seed. Processors with and
/// without fused multiplication make the same.
const KNOWN: [(u64, f64); 6] =
    [(50, 4590.0), (100, 10_694.0), (200, 22_314.0), (500, 54_678.0), (1000, 109_906.0), (2000, 223_826.0)];

pub fn asked(chosen: &Chosen) -> [Asked; 2] {
    [("events", chosen.whole("events").unwrap_or(EVENTS)), ("seed", chosen.whole("seed").unwrap_or(SEED))]
}

/// # Errors
/// [`NameError`] when a name of the plugin's own is not valid.
pub fn offer() -> Result<Offer, NameError> {
    let whole = |max| OptionKind::Integer { min: 1, max };
    let rate = |name: &str, label: &str| MetricSpec::new(name, label, "events/s", Better::Higher);
    Ok(Offer {
        options: vec![
            OptionSpec::new("events", whole(10_000_000), json!(EVENTS), "collisions of each copy"),
            OptionSpec::new("seed", whole(900_000_000), json!(SEED), "seed of the random numbers"),
            copies_option(),
        ],
        metrics: vec![
            rate("events", "events per second, all copies").headline(),
            rate("events_core", "events per second and copy").headline(),
            rate("copy_min", "events per second, slowest copy"),
            rate("copy_max", "events per second, fastest copy"),
            MetricSpec::new("cpu", "processor time of the copies to wall-clock time", "%", Better::Neither),
            MetricSpec::new("ready", "start until all copies are initialised", "s", Better::Lower),
            MetricSpec::new("particles", "charged particles of a copy", "particles", Better::Neither),
        ],
        guest_programs: vec!["python3".into()],
        ..Offer::new(Name::new("pythia")?, "simulated proton collisions by PYTHIA 8 on every processor")
    })
}

pub fn copies_option() -> OptionSpec {
    let kind = OptionKind::Integer { min: 1, max: 4096 };
    OptionSpec::new("copies", kind, None, "processes at once; unset: one for each processor")
}

/// The samples and what a person should know about them.
pub fn samples(chosen: &Chosen, line: &Line) -> (Vec<ParsedSample>, Vec<String>) {
    let [(_, events), (_, seed)] = asked(chosen);
    let copies = line.each.len() as f64;
    let rate = |seconds: f64| events as f64 / seconds;
    let all = copies * rate(line.wall_s);
    let walls = || line.each.iter().map(|one| one.wall_s);
    let wall: f64 = walls().sum();
    let cpu: f64 = line.each.iter().map(|one| one.cpu_s).sum();
    let particles = line.each.first().map_or(0.0, |one| one.check);
    let flags = doubt(events, seed, line.version.as_deref(), particles);
    let sample = |metric: &str, value| ParsedSample {
        metric: metric.into(),
        value: Value::Measured(value),
        flags: flags.clone(),
    };
    let samples = vec![
        sample("events", all),
        sample("events_core", all / copies),
        sample("copy_min", rate(walls().fold(0.0, f64::max))),
        sample("copy_max", rate(walls().fold(f64::INFINITY, f64::min))),
        sample("cpu", 100.0 * cpu / wall),
        sample("ready", line.ready_s),
        sample("particles", particles),
    ];
    (samples, Vec::new())
}

/// Why the work was perhaps not the same as elsewhere.
fn doubt(events: u64, seed: u64, version: Option<&str>, particles: f64) -> Vec<String> {
    if version != Some(VERSION) {
        let found = version.unwrap_or("of unknown version");
        return vec![format!("pythia8mc {found} made the events, not {VERSION}: its work may differ")];
    }
    let known = KNOWN.iter().find(|(known, _)| seed == SEED && *known == events);
    let other = known.filter(|(_, known)| *known != particles);
    let flag = |(_, known): &(u64, f64)| {
        format!("{particles} particles where {known} are known: other events than elsewhere, or a fault")
    };
    other.map(flag).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_events_than_the_known_ones_are_doubted() {
        assert!(doubt(500, SEED, Some(VERSION), 54_678.0).is_empty());
        assert!(doubt(501, SEED, Some(VERSION), 1.0).is_empty());
        assert!(doubt(500, 1, Some(VERSION), 1.0).is_empty());
        let flags = doubt(500, SEED, Some(VERSION), 54_679.0);
        assert_eq!(flags.len(), 1);
        assert!(flags[0].contains("54679 particles where 54678 are known"), "{flags:?}");
        assert!(doubt(500, SEED, Some("8.310.0"), 54_678.0)[0].contains("8.310.0"));
        assert!(doubt(500, SEED, None, 54_678.0)[0].contains("of unknown version"));
    }
}
