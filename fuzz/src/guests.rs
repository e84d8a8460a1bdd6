//! What must hold for the reading of a guest that another tool describes.
//!
//! Owns that the scenario which is written of it is one.

use crossvisor_model::{Bytes, Name};
use crossvisor_oldguest::{Image, Reading, scenario, scenario_name, twins};

/// # Panics
/// Where a problem has no place in the text, or what is written is not read back.
pub fn holds_for_guests(text: &str, readings: &[Reading]) {
    let lines = 1..=text.split('\n').count();
    for problem in readings.iter().flat_map(|reading| &reading.problems) {
        assert!(lines.contains(&problem.line), "{problem}");
        assert!(!problem.message.contains(char::is_control), "{problem:?}");
    }
    let guests: Vec<_> = readings.iter().filter_map(|reading| reading.guest.as_ref()).collect();
    let image = Image { name: Name::new("debian-12").expect("a name"), min_memory: Bytes(256 << 20) };
    for guest in &guests {
        serde_json::to_string(guest).expect("a line of JSON");
        Name::new(scenario_name(guest.called())).expect("a name");
        let written = scenario(guest, &image);
        if let Err(problems) = crossvisor_scenario::parse(&written, "written.yaml") {
            panic!("{}\n{written}", problems[0]);
        }
    }
    let named: Vec<_> = guests.iter().map(|guest| (guest.called().to_string(), *guest)).collect();
    assert!(twins(&named).iter().all(|twin| !twin.is_empty()));
}
