//! What the PI job prints.
//!
//! Owns the form of its line and the decision whether it is the computation that was asked for. It must never
//! compute a decimal itself.

use serde::Deserialize;
use thiserror::Error;

/// The line, read; fields that do not matter here are left out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Printed {
    digits: u64,
    repeat: u64,
    /// Of all repetitions.
    pub cycles: u64,
    /// Of all repetitions.
    pub wall_s: f64,
    /// False where the decimals are wrong or change from one repetition to the next.
    ok: bool,
}

/// Why the output is not a result.
#[derive(Debug, Error)]
pub enum PrintedError {
    #[error("it printed no line of JSON")]
    NoLine,
    #[error("its line is broken: {0}")]
    Broken(#[from] serde_json::Error),
    #[error("it computed {digits} digits {repeat} times, not what was asked")]
    Other { digits: u64, repeat: u64 },
    #[error("its decimals of pi are wrong: do not trust the processor or the memory of this machine")]
    Wrong,
    #[error("its clocks stood still")]
    NoTime,
}

impl Printed {
    /// Finds the line and checks it.
    ///
    /// # Errors
    /// [`PrintedError`] when it is not the result of `digits` decimals `repeat` times.
    pub fn read(stdout: &str, digits: u64, repeat: u64) -> Result<Self, PrintedError> {
        let line = stdout.lines().map(str::trim).rfind(|line| line.starts_with('{'));
        let printed: Self = serde_json::from_str(line.ok_or(PrintedError::NoLine)?)?;
        if (printed.digits, printed.repeat) != (digits, repeat) {
            return Err(PrintedError::Other { digits: printed.digits, repeat: printed.repeat });
        }
        if !printed.ok {
            return Err(PrintedError::Wrong);
        }
        if printed.cycles == 0 || printed.wall_s <= 0.0 {
            return Err(PrintedError::NoTime);
        }
        Ok(printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"digits":100,"repeat":2,"cycles":7000,"wall_s":0.5,"each":[{"cycles":3000,"wall_s":0.25},{"cycles":4000,"wall_s":0.25}],"tail":"3421170679","fnv64":"0123456789abcdef","ok":true}"#;

    #[test]
    fn the_line_is_read_among_others() {
        let text = format!("Last login: Mon\r\n{LINE}\r\nbye\r\n");
        let printed = Printed::read(&text, 100, 2).expect("good");
        assert_eq!(printed.cycles, 7000);
        assert!((printed.wall_s - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let read = |from: &str, to: &str| Printed::read(&LINE.replacen(from, to, 1), 100, 2);
        assert!(matches!(read("100", "99"), Err(PrintedError::Other { digits: 99, repeat: 2 })));
        assert!(matches!(read("\"repeat\":2", "\"repeat\":1"), Err(PrintedError::Other { .. })));
        assert!(matches!(read("true", "false"), Err(PrintedError::Wrong)));
        assert!(matches!(read("7000", "0"), Err(PrintedError::NoTime)));
        assert!(matches!(read("\"wall_s\":0.5", "\"wall_s\":0"), Err(PrintedError::NoTime)));
        assert!(matches!(read("}", ""), Err(PrintedError::Broken(_))));
        assert!(matches!(Printed::read("", 100, 2), Err(PrintedError::NoLine)));
    }
}
