//! Events as lines of plain text.
//!
//! Owns their wording. It must never write them.

use crossvisor_model::{CellStatus, Event, Outcome, Phase, Stamped};

use super::time;
use crate::output;

/// What must be seen whatever else is shown: what makes the figures different from what they seem.
pub fn notice(event: &Event) -> Option<String> {
    match event {
        Event::Notice { text } => Some(format!("!! {text}")),
        _ => None,
    }
}

/// What stays on the screen above the bars.
pub fn loud(event: &Event) -> Option<String> {
    match event {
        Event::CellEnded { outcome, .. } => match &outcome.status {
            CellStatus::Failed { phase, reason } => {
                Some(format!("{} failed in {phase}: {reason}", of(outcome)))
            }
            CellStatus::Good | CellStatus::Skipped { .. } => None,
        },
        _ => notice(event),
    }
}

/// The line of an event with its time; one for each phase, not for each step.
pub fn line(stamped: &Stamped) -> Option<String> {
    let text = loud(&stamped.event).or_else(|| quiet(&stamped.event))?;
    Some(format!("{} {text}", time::stamp(stamped.at_s)))
}

fn quiet(event: &Event) -> Option<String> {
    Some(match event {
        Event::RunStarted { run, visits } => format!("run {run}: {}", output::count(*visits, "visit")),
        Event::RunResumed { run, visits } => {
            format!("run {run} goes on: {} left", output::count(*visits, "visit"))
        }
        Event::Repeating { replicate, cells, visits } => {
            let (cells, visits) = (output::count(*cells, "cell"), output::count(*visits, "visit"));
            format!("replicate {replicate}, not precise enough yet: {cells}, {visits} more")
        }
        Event::Building { image, stage } => format!("image {image}: {stage}"),
        Event::MakingHost { host, stage } => format!("host {host}: {stage}"),
        Event::VisitStarted { visit, setup, replicate, .. } => {
            format!("visit {visit}: {setup}, replicate {replicate}")
        }
        Event::PhaseStarted { phase: Phase::Run, cell: Some(cell), .. } => format!("  run {cell}"),
        Event::PhaseEnded { phase, seconds, .. } => format!("  {phase} took {seconds:.1} s"),
        Event::CellEnded { outcome, .. } => match &outcome.status {
            CellStatus::Skipped { reason } => format!("{} skipped: {reason}", of(outcome)),
            CellStatus::Good | CellStatus::Failed { .. } => format!("{} good", of(outcome)),
        },
        Event::Interrupted { visit } => format!("stopped before visit {visit}"),
        Event::RunEnded { failed: 0 } => "run ended, every cell is good".into(),
        Event::RunEnded { failed } => format!("run ended, {failed} not good"),
        _ => return None,
    })
}

fn of(outcome: &Outcome) -> String {
    format!("{} (replicate {})", outcome.cell, outcome.replicate)
}

#[cfg(test)]
mod tests {
    use crossvisor_model::CellId;

    use super::*;

    fn ended(status: CellStatus) -> Event {
        let cell = CellId("here/kvm-virtio/file/2/pi".into());
        Event::CellEnded { visit: 1, outcome: Outcome { cell, replicate: 2, status, warnings: Vec::new() } }
    }

    #[test]
    fn a_failure_is_loud_and_a_good_cell_is_a_line() {
        let failed = ended(CellStatus::Failed { phase: Phase::Boot, reason: "no answer".into() });
        let text = "here/kvm-virtio/file/2/pi (replicate 2) failed in boot: no answer";
        assert_eq!(loud(&failed).as_deref(), Some(text));
        assert_eq!(line(&Stamped { at_s: 61.0, event: failed }), Some(format!("00:01:01 {text}")));
        let good = ended(CellStatus::Good);
        assert_eq!(loud(&good), None);
        let good = line(&Stamped { at_s: 0.0, event: good });
        assert_eq!(good.as_deref(), Some("00:00:00 here/kvm-virtio/file/2/pi (replicate 2) good"));
    }

    #[test]
    fn a_notice_is_always_said_and_a_step_never() {
        let event = Event::Notice { text: "no usable KVM: emulating".into() };
        assert_eq!(notice(&event).as_deref(), Some("!! no usable KVM: emulating"));
        let event = Event::StepStarted { visit: 1, guest: None, say: "clone the image".into() };
        assert_eq!(line(&Stamped { at_s: 0.0, event }), None);
    }
}
