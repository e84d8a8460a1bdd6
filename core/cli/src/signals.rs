//! Signals that ask the program to stop.
//!
//! Owns the escalation: the first asks politely, the second is answered, the third ends the program at once. It
//! must never interrupt a teardown before the third.

use std::thread::JoinHandle;

use crossvisor_target::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::exit::{Exit, Failure};

/// What is said to the person who stops something.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// At the first signal: what is removed now.
    pub removing: &'static str,
    /// At the third: what removes the rest.
    pub rest: &'static str,
}

/// Watches until it is dropped.
pub struct Watch {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// Raises `cancel` at the first SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// [`Failure::Signals`] when the handlers cannot be installed.
pub fn watch(cancel: &Cancel, words: Words, say: impl Fn(&str) + Send + 'static) -> Result<Watch, Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::Signals)?;
    let handle = signals.handle();
    let cancel = cancel.clone();
    let answer = move || {
        for (count, _) in signals.forever().enumerate() {
            cancel.raise();
            say(&line(count, words));
            if count >= 2 {
                std::process::exit(Exit::Cells as i32);
            }
        }
    };
    Ok(Watch { handle, thread: Some(std::thread::spawn(answer)) })
}

/// What is said after `count` earlier signals.
fn line(count: usize, words: Words) -> String {
    match count {
        0 => format!("stopping: removing {} (Ctrl-C twice more leaves at once)", words.removing),
        1 => format!("still removing {} (Ctrl-C once more leaves at once)", words.removing),
        _ => format!("left at once: {}", words.rest),
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_signal_cancels_and_the_second_only_answers() {
        let cancel = Cancel::default();
        let (send, said) = mpsc::channel();
        let words = Words { removing: "it", rest: "nothing" };
        let watch = watch(&cancel, words, move |text| drop(send.send(text.to_string()))).expect("watch");
        assert!(!cancel.is_raised());
        for start in ["stopping: removing it", "still removing it"] {
            signal_hook::low_level::raise(SIGHUP).expect("raise");
            let text = said.recv_timeout(Duration::from_secs(5)).expect("said");
            assert!(text.starts_with(start), "{text}");
            assert!(cancel.is_raised());
        }
        drop(watch);
        assert!(said.try_recv().is_err());
    }
}
