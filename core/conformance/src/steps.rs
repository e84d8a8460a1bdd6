//! Are steps ones that can be carried out and undone?

use std::collections::BTreeSet;

use crossvisor_model::{Action, Exec, Place, Step};

use crate::inputs;
use crate::session::Session;

/// No program of a benchmark runs longer, in seconds.
const LONGEST_S: f64 = 7.0 * 24.0 * 3600.0;
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];
/// A text of the inputs in a shell's script was pasted into it.
const INPUTS: [&str; 4] = [inputs::FOLDER, inputs::NAME, inputs::GOLDEN, "/var/tmp/crossvisor/check-"];

/// Where the steps of an operation may happen, and whether they create things.
#[derive(Clone, Copy)]
pub(crate) struct Allowed<'a> {
    pub places: &'a [Place],
    pub rounds: bool,
    /// Everything that is made must be undone.
    pub creates: bool,
    pub domains: bool,
}

pub(crate) fn check(session: &mut Session<'_>, steps: &[Step], allowed: Allowed<'_>) {
    let mut undone = false;
    for step in steps {
        if step.say.trim().is_empty() || step.say.chars().any(char::is_control) {
            session.error("a step does not say in one line what it does");
        }
        let say = step.say.clone();
        undone |= step.undo.is_some();
        action(session, &say, &step.action, allowed);
        match &step.undo {
            Some(undo) => undo_action(session, &say, undo),
            None if allowed.creates => without_undo(session, &say, &step.action, undone),
            None => {}
        }
    }
}

fn action(session: &mut Session<'_>, say: &str, action: &Action, allowed: Allowed<'_>) {
    match action {
        Action::Exec(exec) => program(session, say, exec, allowed.places),
        Action::RemoveFile { on, path } => {
            place(session, say, *on, allowed.places);
            absolute(session, say, path);
        }
        Action::Together { .. } if !allowed.rounds => {
            session.error(format!("'{say}': a measured round is only possible in a workload's work"));
        }
        Action::Together { runs, servers, .. } => {
            runs.iter().for_each(|run| program(session, say, run, allowed.places));
            let places = [allowed.places, &[Place::Host, Place::Controller]].concat();
            servers.iter().for_each(|server| program(session, say, &server.exec, &places));
            let ports: BTreeSet<_> = servers.iter().map(|s| (s.exec.on, s.port)).collect();
            if ports.len() < servers.len() || ports.iter().any(|(_, port)| *port == 0) {
                session.error(format!("'{say}': its servers need ports of their own"));
            }
        }
        Action::DomainDefine { .. }
        | Action::DomainStart { .. }
        | Action::DomainStop { .. }
        | Action::DomainState { .. }
        | Action::DomainUndefine { .. }
            if !allowed.domains =>
        {
            session.error(format!("'{say}': only a hypervisor has to do with domains"));
        }
        _ => {}
    }
}

fn program(session: &mut Session<'_>, say: &str, exec: &Exec, places: &[Place]) {
    place(session, say, exec.on, places);
    if exec.argv.first().is_none_or(String::is_empty) {
        session.error(format!("'{say}': no program to run"));
    }
    if exec.argv.iter().any(|argument| argument.contains('\0')) {
        session.error(format!("'{say}': an argument holds a zero byte"));
    }
    if !exec.timeout_s.is_finite() || exec.timeout_s <= 0.0 || exec.timeout_s > LONGEST_S {
        session.error(format!(
            "'{say}': a timeout of {} s; it must be above 0 and at most 7 days",
            exec.timeout_s
        ));
    }
    if exec.ok_exit.is_empty() {
        session.error(format!("'{say}': no exit code is a success"));
    }
    if let Some(input) = pasted(&exec.argv) {
        session.error(format!(
            "'{say}': '{input}' is written into a shell's script: give it to the shell as an argument and use \"$1\""
        ));
    }
}

/// The input that a shell would read as part of its script.
fn pasted(argv: &[String]) -> Option<&'static str> {
    let program = argv.first()?.rsplit('/').next()?;
    let script = argv.iter().skip_while(|argument| *argument != "-c").nth(1)?;
    SHELLS.contains(&program).then(|| INPUTS.into_iter().find(|input| script.contains(input))).flatten()
}

fn place(session: &mut Session<'_>, say: &str, place: Place, places: &[Place]) {
    if !places.contains(&place) {
        session.error(format!("'{say}': it cannot happen on {place} in this operation"));
    }
}

fn absolute(session: &mut Session<'_>, say: &str, path: &std::path::Path) {
    if !path.is_absolute() {
        session.error(format!("'{say}': the path {} is relative", path.display()));
    }
}

fn undo_action(session: &mut Session<'_>, say: &str, undo: &Action) {
    let places = [Place::Host, Place::Controller];
    match undo {
        Action::DomainStop { .. } | Action::DomainUndefine { .. } => {}
        Action::RemoveFile { path, .. } => absolute(session, say, path),
        // What is in a guest goes with the guest.
        Action::Exec(exec) if matches!(exec.on, Place::Guest(_)) => program(session, say, exec, &[exec.on]),
        Action::Exec(exec) => program(session, say, exec, &places),
        Action::DomainDefine { .. }
        | Action::DomainStart { .. }
        | Action::DomainState { .. }
        | Action::Together { .. } => session.error(format!("'{say}': its undo undoes nothing")),
    }
}

fn without_undo(session: &mut Session<'_>, say: &str, action: &Action, undone: bool) {
    match action {
        Action::DomainDefine { .. } => session.error(format!("'{say}': the undo domain_undefine is missing")),
        Action::DomainStart { .. } => session.error(format!("'{say}': the undo domain_stop is missing")),
        // What a step before it made may be what it fills.
        Action::Exec(_) if !undone => {
            session.warning(format!("'{say}': it has no undo; does it leave nothing behind?"));
        }
        _ => {}
    }
}
