//! `crossvisor clean`: what a crash left behind, removed.

use std::io::{self, Write};

use crossvisor_engine::{clean, Cleaned, Settings};

use crate::arguments::Clean;
use crate::exit::{Exit, Failure};
use crate::libvirt_log;
use crate::output::{self, long_line};

/// # Errors
/// [`Failure`] when what is left cannot be found out.
pub fn execute(asked: &Clean) -> Result<Exit, Failure> {
    let settings = Settings::from_environment();
    libvirt_log::to_file(&settings.state);
    let cleaned = clean(&settings, asked.dry_run, asked.run.as_deref())?;
    output::show(|out| text(&cleaned, asked, out))?;
    let stuck = cleaned.actions.iter().any(|action| action.failure.is_some());
    Ok(if stuck { Exit::Environment } else { Exit::Good })
}

fn text(cleaned: &Cleaned, asked: &Clean, out: &mut dyn Write) -> io::Result<()> {
    for action in &cleaned.actions {
        let (run, what) = (long_line(&action.run), long_line(&action.what));
        match &action.failure {
            None if asked.dry_run => writeln!(out, "would remove {what} of run {run}")?,
            None => writeln!(out, "removed {what} of run {run}")?,
            Some(reason) => writeln!(out, "cannot remove {what} of run {run}: {}", long_line(reason))?,
        }
    }
    let asked_for = |run: &&String| asked.run.as_ref().is_none_or(|wanted| wanted == *run);
    for run in cleaned.alive.iter().filter(asked_for) {
        writeln!(out, "left alone: run {} is alive", long_line(run))?;
    }
    if cleaned.actions.is_empty() {
        writeln!(out, "nothing to remove")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crossvisor_engine::CleanedAction;

    use super::*;

    fn shown(cleaned: &Cleaned, run: Option<&str>, dry_run: bool) -> String {
        let mut out = Vec::new();
        let asked = Clean { run: run.map(String::from), dry_run };
        text(cleaned, &asked, &mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn what_was_removed_what_not_and_what_was_left_alone_is_said() {
        let action = |what: &str, failure: Option<&str>| CleanedAction {
            run: "a-1".into(),
            what: what.into(),
            failure: failure.map(String::from),
        };
        let cleaned = Cleaned {
            actions: vec![action("domain x", None), action("file /y", Some("read-only"))],
            alive: vec!["b-2".into()],
        };
        assert_eq!(
            shown(&cleaned, None, false),
            "removed domain x of run a-1\ncannot remove file /y of run a-1: read-only\nleft alone: run b-2 is alive\n"
        );
        assert!(shown(&cleaned, None, true).starts_with("would remove domain x of run a-1\n"));
        assert!(!shown(&cleaned, Some("a-1"), false).contains("b-2"));
        assert_eq!(shown(&Cleaned::default(), None, false), "nothing to remove\n");
    }
}
