//! The building of a guest image, on standard error.
//!
//! Owns how its stages look: one bar on a terminal, a line for each stage elsewhere. It must never fail.

use std::time::Instant;

use crossvisor_image::Progress;
use indicatif::ProgressBar;

use super::{bars, colored, terminal, time};
use crate::output;

const FULL: u64 = 1000;

/// Shows one build.
pub struct Building {
    start: Instant,
    stage: &'static str,
    bar: Option<ProgressBar>,
}

impl Building {
    pub fn new(image: &str, no_color: bool) -> Self {
        let bar = terminal().then(|| {
            let bar = ProgressBar::new(FULL).with_style(bars::style(colored(no_color)));
            bar.with_prefix(image.to_string())
        });
        Self { start: Instant::now(), stage: "", bar }
    }

    pub fn progress(&mut self, progress: &Progress) {
        let elapsed_s = self.start.elapsed().as_secs_f64();
        if let Some(bar) = &self.bar {
            if let Some(fraction) = progress.fraction {
                bar.set_position((fraction.clamp(0.0, 1.0) * FULL as f64) as u64);
            }
            let line = output::line(&progress.line);
            bar.set_message(format!("{} {}: {line}", time::duration(elapsed_s), progress.stage));
        } else if progress.stage != self.stage {
            output::say(&format!("{} {}", time::stamp(elapsed_s), progress.stage));
        }
        self.stage = progress.stage;
    }

    /// Says lines that stay, from any thread.
    pub fn voice(&self) -> impl Fn(&str) + Send + 'static {
        let bar = self.bar.clone();
        move |text| match &bar {
            Some(bar) => bar.suspend(|| output::say(text)),
            None => output::say(text),
        }
    }

    /// Takes the bar away and gives the time the build took, for people.
    pub fn finish(self) -> String {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        time::duration(self.start.elapsed().as_secs_f64())
    }
}
