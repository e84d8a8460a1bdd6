//! What a person sees while a run goes on, on standard error.
//!
//! Owns the choice between bars on a terminal, plain lines elsewhere, and notices only. It must never write to
//! standard output or fail.

mod bars;
mod building;
mod estimate;
pub mod lines;
pub mod time;
mod track;

use std::io::IsTerminal;

use crossvisor_engine::Observer;
use crossvisor_model::Stamped;

pub use building::Building;
pub use track::Track;

use self::bars::Bars;
use crate::output;

/// Shows the events of a run.
pub enum Progress {
    Bars(Bars),
    Lines,
    Quiet,
}

impl Progress {
    pub fn new(quiet: bool, no_color: bool) -> Self {
        match (quiet, terminal()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bars(Bars::new(colored(no_color))),
            (false, false) => Self::Lines,
        }
    }

    /// A line that stays, above the bars where there are bars.
    pub fn say(&self, text: &str) {
        match self {
            Self::Bars(bars) => bars.say(text),
            Self::Lines | Self::Quiet => output::say(text),
        }
    }

    /// Takes the bars away for good.
    pub fn finish(&self) {
        if let Self::Bars(bars) = self {
            bars.finish();
        }
    }
}

impl Observer for Progress {
    fn event(&self, stamped: &Stamped) {
        let text = match self {
            Self::Bars(bars) => {
                bars.event(stamped);
                lines::loud(&stamped.event)
            }
            Self::Lines => lines::line(stamped),
            Self::Quiet => lines::notice(&stamped.event),
        };
        if let Some(text) = text {
            self.say(&output::long_line(&text));
        }
    }
}

fn terminal() -> bool {
    std::io::stderr().is_terminal()
}

fn colored(no_color: bool) -> bool {
    !no_color && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
