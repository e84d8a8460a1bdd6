//! The words of the protocol of the gate and of telemetry, as the library's documentation lists them.
//!
//! Owns the exact form of each line. It must never write one.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One line of the protocol, with its newline; the last two begin with the newline that belongs to them.
pub enum Line<'a> {
    Ready,
    Clock(Clocks),
    Go(Clocks),
    End(Clocks, ExitStatus),
    Fail(&'a str),
    /// Not of the gate: before a reading of the sampler or the follower.
    At(Clocks),
}

/// One moment by both clocks, in nanoseconds.
pub struct Clocks {
    mono: u128,
    real: u128,
}

impl Clocks {
    /// Now; `mono` counts from `start`.
    pub fn since(start: Instant) -> Self {
        let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { mono: start.elapsed().as_nanos(), real: real.as_nanos() }
    }
}

impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mono={} real={}", self.mono, self.real)
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => writeln!(f, "@crossvisor ready"),
            Self::Clock(clocks) => writeln!(f, "@crossvisor clock {clocks}"),
            Self::At(clocks) => writeln!(f, "@crossvisor at {clocks}"),
            Self::Go(clocks) => writeln!(f, "@crossvisor go {clocks}"),
            Self::End(clocks, status) => match status.code() {
                Some(code) => writeln!(f, "\n@crossvisor end {clocks} exit={code}"),
                None => {
                    writeln!(f, "\n@crossvisor end {clocks} signal={}", status.signal().unwrap_or_default())
                }
            },
            Self::Fail(message) => writeln!(f, "\n@crossvisor fail {}", message.replace('\n', " ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_exact_form() {
        let clocks = || Clocks { mono: 5, real: 1_700_000_000_000_000_007 };
        let end = |raw| Line::End(clocks(), ExitStatus::from_raw(raw)).to_string();
        assert_eq!(Line::Ready.to_string(), "@crossvisor ready\n");
        assert_eq!(Line::Go(clocks()).to_string(), "@crossvisor go mono=5 real=1700000000000000007\n");
        assert_eq!(Line::At(clocks()).to_string(), "@crossvisor at mono=5 real=1700000000000000007\n");
        assert_eq!(Line::Clock(clocks()).to_string(), "@crossvisor clock mono=5 real=1700000000000000007\n");
        assert_eq!(end(3 << 8), "\n@crossvisor end mono=5 real=1700000000000000007 exit=3\n");
        assert_eq!(end(9), "\n@crossvisor end mono=5 real=1700000000000000007 signal=9\n");
        assert_eq!(Line::Fail("no\nway").to_string(), "\n@crossvisor fail no way\n");
    }
}
