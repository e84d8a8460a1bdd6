//! Where a run stands, from the events so far.
//!
//! Owns what the bars show. It must never read a clock or draw.

use crossvisor_model::{Axes, Event, Phase, Stamped};

use super::estimate::Estimate;
use super::time;
use crate::output;

/// A guest of the present visit and, once it is there, the seconds it took to the end of the phase.
#[derive(Clone, Debug, Default, PartialEq)]
struct Guest {
    reached_s: Option<f64>,
}

/// One bar: how full it is (0..=1) and what stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub title: String,
    pub share: f64,
    pub text: String,
}

/// The state of a run as seen from outside. Visits come one after another.
#[derive(Clone, Debug, Default)]
pub struct Track {
    estimate: Estimate,
    visits: usize,
    visits_done: usize,
    setup: String,
    replicate: u32,
    visit_start_s: Option<f64>,
    guests: Vec<Guest>,
    /// Phase, its workload or nothing, and when it started.
    phase: Option<(Phase, String, f64)>,
    saying: String,
}

impl Track {
    /// Takes in one event.
    pub fn event(&mut self, stamped: &Stamped) {
        let at_s = stamped.at_s;
        match &stamped.event {
            Event::RunStarted { visits, .. } | Event::RunResumed { visits, .. } => {
                self.visits = self.visits_done + visits;
                self.visit_start_s = None;
            }
            Event::Repeating { visits, .. } => self.visits += visits,
            Event::Building { image, stage } => self.saying = format!("image {image}: {stage}"),
            Event::MakingHost { host, stage } => self.saying = format!("host {host}: {stage}"),
            Event::VisitStarted { setup, replicate, guests, .. } => {
                (self.setup, self.replicate) = (setup.clone(), *replicate);
                self.visit_start_s = Some(at_s);
                self.guests = vec![Guest::default(); *guests as usize];
                self.saying.clear();
            }
            Event::PhaseStarted { phase, cell, .. } => {
                let work = cell.as_ref().and_then(|cell| cell.0.rsplit('/').next()).unwrap_or_default();
                self.phase = Some((*phase, work.into(), at_s));
                self.guests.fill(Guest::default());
                self.saying.clear();
            }
            Event::GuestReached { guest, seconds, .. } => {
                let index = (*guest as usize).checked_sub(1);
                if let Some(guest) = index.and_then(|index| self.guests.get_mut(index)) {
                    guest.reached_s = Some(*seconds);
                }
            }
            Event::PhaseEnded { seconds, .. } => {
                if let Some((phase, work, _)) = self.phase.take() {
                    self.estimate.phase_took(phase, &work, *seconds);
                }
            }
            Event::StepStarted { guest: Some(guest), say, .. } => {
                self.saying = format!("guest {guest}: {say}")
            }
            Event::StepStarted { guest: None, say, .. } => self.saying = say.clone(),
            Event::VisitEnded { .. } => self.visit_ended(at_s),
            Event::Interrupted { .. } => self.saying = "stopping".into(),
            Event::Notice { .. }
            | Event::Released { .. }
            | Event::CellEnded { .. }
            | Event::RunEnded { .. } => {}
        }
    }

    fn visit_ended(&mut self, at_s: f64) {
        if let Some(start_s) = self.visit_start_s.take() {
            self.estimate.visit_took(at_s - start_s);
        }
        self.visits_done += 1;
        self.guests.clear();
        self.phase = None;
        self.saying.clear();
    }

    /// What happens now, in one line.
    pub fn headline(&self) -> String {
        let place = match self.visit_start_s {
            Some(_) => format!("{}, replicate {}", self.setup, self.replicate),
            None => String::new(),
        };
        let work = self.phase.as_ref().map_or("", |(_, work, _)| work);
        let parts = [place.as_str(), work, &self.saying];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }

    /// One bar for each guest at `now_s`.
    pub fn guests(&self, now_s: f64) -> Vec<Bar> {
        let noun = if self.setup.split('/').nth(1) == Some(Axes::BARE) { "copy" } else { "guest" };
        let bar = |(index, guest): (usize, &Guest)| {
            let title = format!("{noun} {}", index + 1);
            let Some((phase, work, start_s)) = &self.phase else {
                return Bar { title, share: 0.0, text: String::new() };
            };
            let expected_s = self.estimate.phase(*phase, work);
            match guest.reached_s {
                Some(seconds) => {
                    Bar { title, share: 1.0, text: format!("{phase:<8} done in {}", time::duration(seconds)) }
                }
                None => {
                    let elapsed_s = now_s - start_s;
                    let (elapsed, expected) = (time::duration(elapsed_s), time::duration(expected_s));
                    let text = format!("{phase:<8} {elapsed} of about {expected}");
                    Bar { title, share: share(elapsed_s, expected_s), text }
                }
            }
        };
        self.guests.iter().enumerate().map(bar).collect()
    }

    /// How many visits have ended, and how many there are as far as is known.
    pub fn visits(&self) -> (usize, usize) {
        (self.visits_done, self.visits)
    }

    /// Expected seconds from `now_s` until the last visit ends; `None` before the first has ended.
    pub fn rest(&self, now_s: f64) -> Option<f64> {
        let current_s = self.visit_start_s.map_or(0.0, |start_s| now_s - start_s);
        self.estimate.rest(self.visits.saturating_sub(self.visits_done), current_s)
    }

    /// The bar of the whole run at `now_s`.
    pub fn overall(&self, now_s: f64) -> Bar {
        let (visits_done, visits) = self.visits();
        let rest = match self.rest(now_s) {
            Some(seconds) => format!("about {} left", time::duration(seconds)),
            None => "time left unknown".into(),
        };
        let text = match visits {
            0 => "starting".into(),
            _ => {
                let visits = output::count(visits, "visit");
                format!("{visits_done} of {visits}, {}, {rest}", time::duration(now_s))
            }
        };
        Bar { title: "all".into(), share: share(visits_done as f64, visits as f64), text }
    }
}

/// The part of the whole, and never quite all of it: only the end is the end.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (part / whole).clamp(0.0, 0.99)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use crossvisor_model::CellId;

    use super::*;

    fn track(events: Vec<(f64, Event)>) -> Track {
        let mut track = Track::default();
        events.into_iter().for_each(|(at_s, event)| track.event(&Stamped { at_s, event }));
        track
    }

    fn visit(setup: &str) -> Event {
        Event::VisitStarted { visit: 1, setup: setup.into(), replicate: 2, guests: 2 }
    }

    #[test]
    fn each_guest_has_a_bar_of_its_own() {
        let track = track(vec![
            (0.0, Event::RunStarted { run: "x".into(), visits: 3 }),
            (1.0, visit("here/kvm-virtio/file/2")),
            (2.0, Event::PhaseStarted { visit: 1, phase: Phase::Boot, cell: None }),
            (12.0, Event::GuestReached { visit: 1, guest: 2, phase: Phase::Boot, seconds: 10.0 }),
            (12.0, Event::GuestReached { visit: 1, guest: 9, phase: Phase::Boot, seconds: 10.0 }),
            (13.0, Event::StepStarted { visit: 1, guest: Some(1), say: "wait".into() }),
        ]);
        let bars = track.guests(22.0);
        assert_eq!(
            bars[0],
            Bar { title: "guest 1".into(), share: 0.5, text: "boot     20 s of about 40 s".into() }
        );
        assert_eq!(
            bars[1],
            Bar { title: "guest 2".into(), share: 1.0, text: "boot     done in 10 s".into() }
        );
        assert_eq!(bars.len(), 2);
        assert_eq!(track.headline(), "here/kvm-virtio/file/2, replicate 2: guest 1: wait");
        assert_eq!(track.overall(22.0).text, "0 of 3 visits, 22 s, time left unknown");
    }

    #[test]
    fn what_took_long_once_is_expected_to_take_long_again() {
        let cell = Some(CellId("here/bare/-/2/pi".into()));
        let run = Event::PhaseStarted { visit: 1, phase: Phase::Run, cell };
        let track = track(vec![
            (0.0, Event::RunStarted { run: "x".into(), visits: 3 }),
            (0.0, visit("here/bare/-/2")),
            (0.0, run.clone()),
            (8.0, Event::PhaseEnded { visit: 1, phase: Phase::Run, seconds: 8.0 }),
            (10.0, Event::VisitEnded { visit: 1 }),
            (10.0, visit("here/bare/-/2")),
            (10.0, run),
        ]);
        assert_eq!(track.guests(14.0)[1].title, "copy 2");
        assert_eq!(track.guests(14.0)[1].text, "run      4 s of about 8 s");
        assert_eq!(track.headline(), "here/bare/-/2, replicate 2: pi");
        assert_eq!(Track::default().overall(1.0).text, "starting");
        assert_eq!(track.overall(14.0).text, "1 of 3 visits, 14 s, about 16 s left");
    }
}
