//! Bars on a terminal: what happens now, one bar for each guest, one for the whole run.
//!
//! Owns the drawing and the thread that keeps it moving. It must never decide what is shown: that is `track`.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossvisor_model::Stamped;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::track::{Bar, Track};
use crate::output;

const TICK: Duration = Duration::from_millis(250);
/// Steps of a full bar.
const FULL: u64 = 1000;
/// Guests beyond these have no bar: a screen has an end.
const MOST_GUESTS: usize = 16;

/// Draws until it is finished or dropped.
pub struct Bars {
    board: Arc<Mutex<Board>>,
    ticker: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

struct Board {
    track: Track,
    multi: MultiProgress,
    headline: ProgressBar,
    guests: Vec<ProgressBar>,
    overall: ProgressBar,
    style: ProgressStyle,
    /// The run's own time at an instant.
    clock: (f64, Instant),
}

impl Bars {
    pub fn new(color: bool) -> Self {
        let board = Arc::new(Mutex::new(Board::new(color)));
        let (stop, stopped) = mpsc::channel();
        let ticking = Arc::clone(&board);
        let ticker = thread::spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                lock(&ticking).draw();
            }
        });
        Self { board, ticker: Mutex::new(Some((stop, ticker))) }
    }

    pub fn event(&self, stamped: &Stamped) {
        let mut board = lock(&self.board);
        board.clock = (stamped.at_s, Instant::now());
        board.track.event(stamped);
        board.draw();
    }

    pub fn say(&self, text: &str) {
        lock(&self.board).multi.suspend(|| output::say(text));
    }

    pub fn finish(&self) {
        let ticker = lock(&self.ticker).take();
        if let Some((stop, ticker)) = ticker {
            drop(stop);
            let _ = ticker.join();
        }
        let _ = lock(&self.board).multi.clear();
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A panic elsewhere is no reason to stop showing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    fn new(color: bool) -> Self {
        let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = style(color);
        let headline = multi.add(ProgressBar::new(FULL).with_style(message_only()));
        let overall = multi.add(ProgressBar::new(FULL).with_style(style.clone()));
        Self {
            track: Track::default(),
            multi,
            headline,
            guests: Vec::new(),
            overall,
            style,
            clock: (0.0, Instant::now()),
        }
    }

    fn draw(&mut self) {
        let now_s = self.clock.0 + self.clock.1.elapsed().as_secs_f64();
        let bars = self.track.guests(now_s);
        self.fit(bars.len().min(MOST_GUESTS));
        self.headline.set_message(output::line(&self.track.headline()));
        for (drawn, bar) in self.guests.iter().zip(&bars) {
            put(drawn, bar);
        }
        put(&self.overall, &self.track.overall(now_s));
    }

    fn fit(&mut self, count: usize) {
        for bar in self.guests.drain(count.min(self.guests.len())..) {
            self.multi.remove(&bar);
        }
        while self.guests.len() < count {
            let bar = ProgressBar::new(FULL).with_style(self.style.clone());
            self.guests.push(self.multi.insert_before(&self.overall, bar));
        }
    }
}

fn put(drawn: &ProgressBar, bar: &Bar) {
    drawn.set_prefix(bar.title.clone());
    drawn.set_position((bar.share * FULL as f64) as u64);
    drawn.set_message(bar.text.clone());
}

/// A bar between its title and its text.
pub fn style(color: bool) -> ProgressStyle {
    let bar = if color { "{bar:24.cyan/dim}" } else { "{bar:24}" };
    let style = ProgressStyle::with_template(&format!("{{prefix:9}} {bar} {{wide_msg}}"));
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

fn message_only() -> ProgressStyle {
    ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar())
}
