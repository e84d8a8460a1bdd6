//! The name of a run when nobody gives one.
//!
//! Owns its form: the scenario's name, the date and the time in UTC, and a number where that is not enough. It must
//! never read a clock or a folder.

use std::time::SystemTime;

use crossvisor_model::{Name, NameError};

/// `quickstart-20090518-101500`, or the first of `…-2`, `…-3` that is not taken; a long scenario name is cut so that
/// the whole is a name.
///
/// # Errors
/// [`NameError`] for a time so far away that its date does not fit a name.
pub fn of(scenario: &Name, now: SystemTime, taken: impl Fn(&Name) -> bool) -> Result<Name, NameError> {
    let digits: String =
        humantime::format_rfc3339_seconds(now).to_string().chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at(digits.len().saturating_sub(6));
    let mut end = format!("-{date}-{time}");
    let mut number = 1;
    loop {
        let start: String = scenario.as_str().chars().take(Name::MAX.saturating_sub(end.len())).collect();
        let name = Name::new(start + &end)?;
        if !taken(&name) {
            return Ok(name);
        }
        number += 1;
        end = format!("-{date}-{time}-{number}");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_run_is_called_after_its_scenario_and_start() {
        let may_2009 = SystemTime::UNIX_EPOCH + Duration::from_secs(1_242_641_700);
        let name = Name::new("quickstart").expect("name");
        let free = |_: &Name| false;
        assert_eq!(of(&name, may_2009, free), Name::new("quickstart-20090518-101500"));
        let long = Name::new("x".repeat(Name::MAX)).expect("name");
        assert_eq!(of(&long, may_2009, free), Name::new(format!("{}-20090518-101500", "x".repeat(32))));
        let taken = |name: &Name| !name.as_str().ends_with("-3");
        assert_eq!(of(&name, may_2009, taken), Name::new("quickstart-20090518-101500-3"));
        assert_eq!(of(&long, may_2009, taken), Name::new(format!("{}-20090518-101500-3", "x".repeat(30))));
    }
}
