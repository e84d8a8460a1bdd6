//! How a program ended, and what its last words were.

use crossvisor_model::text::is_harmful;
use crossvisor_model::{Exec, ExecResult};
use crossvisor_target::TargetError;

/// # Errors
/// [`TargetError::EndedEarly`] with the end of what the program said when its exit code is not a success.
pub fn judge(exec: &Exec, result: &ExecResult) -> Result<(), TargetError> {
    if result.exit.is_some_and(|code| exec.ok_exit.contains(&code)) {
        return Ok(());
    }
    let how = result.exit.map_or("was ended by a signal".to_string(), |code| format!("exit code {code}"));
    let said = tail(if result.stderr.trim().is_empty() { &result.stdout } else { &result.stderr }, 5);
    Err(TargetError::EndedEarly { what: exec.argv.join(" "), tail: format!("{how}: {said}") })
}

/// The last lines of a text, on one line, without what could steer a terminal or turn the direction of writing.
pub fn tail(text: &str, lines: usize) -> String {
    let clean = |line: &str| line.chars().filter(|c| !is_harmful(*c)).collect::<String>();
    let all: Vec<String> = text.lines().map(clean).filter(|line| !line.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines_without_what_a_terminal_would_obey() {
        assert_eq!(tail("a\n\nb\n\u{1b}[31mc\u{7}\u{202e}\n", 2), "b | [31mc");
        assert_eq!(tail("", 3), "");
    }
}
