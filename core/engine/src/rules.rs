//! What a step of a plugin must be before anything of its turn is done: a plugin is not trusted to be sane.

use crossvisor_model::{Action, Exec, Kind, Name, Step};

/// Longer than any measurement: 30 days.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// Why a turn's steps cannot be carried out; `None` when they can.
pub fn broken(kind: Kind, steps: &[Step]) -> Option<String> {
    steps.iter().find_map(|step| {
        let actions = [Some(&step.action), step.undo.as_ref()];
        let problem = actions.into_iter().flatten().find_map(|action| broken_action(kind, action));
        problem.map(|problem| format!("step '{}': {problem}", step.say))
    })
}

fn broken_action(kind: Kind, action: &Action) -> Option<String> {
    match action {
        Action::Exec(exec) => broken_exec(exec),
        Action::RemoveFile { path, .. } if !path.is_absolute() => {
            Some(format!("'{}' is not an absolute path", path.display()))
        }
        Action::RemoveFile { .. } => None,
        Action::Together { round, servers, runs } => {
            let programs = servers.iter().map(|server| &server.exec).chain(runs);
            let round = Name::new(round.as_str()).err().map(|e| format!("round: {e}"));
            round.or_else(|| programs.filter_map(broken_exec).next())
        }
        Action::DomainDefine { .. }
        | Action::DomainStart { .. }
        | Action::DomainStop { .. }
        | Action::DomainState { .. }
        | Action::DomainUndefine { .. } => {
            (kind != Kind::Hypervisor).then(|| format!("a {kind} plugin has nothing to do with domains"))
        }
    }
}

fn broken_exec(exec: &Exec) -> Option<String> {
    if exec.argv.first().is_none_or(String::is_empty) {
        return Some("it names no program".into());
    }
    if exec.argv.iter().any(|argument| argument.contains('\0')) {
        return Some("an argument has a NUL byte".into());
    }
    let in_range = exec.timeout_s > 0.0 && exec.timeout_s <= LONGEST_S;
    (!in_range).then(|| format!("timeout_s is {}, not above 0 and at most {LONGEST_S}", exec.timeout_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_model::Place;

    fn exec(argv: &[&str], timeout_s: f64) -> Exec {
        Exec::new(Place::Host, argv.iter().copied(), timeout_s)
    }

    fn problem(kind: Kind, action: Action) -> Option<String> {
        broken(kind, &[Step::new("try", action)])
    }

    #[test]
    fn what_cannot_be_carried_out_safely_is_refused_with_its_step() {
        let together = |round: &str| Action::Together {
            round: round.into(),
            servers: Vec::new(),
            runs: vec![exec(&["true"], 1.0)],
        };
        let bad = [
            Action::Exec(exec(&[], 1.0)),
            Action::Exec(exec(&["a\0b"], 1.0)),
            Action::Exec(exec(&["true"], -1.0)),
            Action::Exec(exec(&["true"], f64::NAN)),
            Action::Exec(exec(&["true"], 1e300)),
            Action::RemoveFile { on: Place::Host, path: "rel/../x".into() },
            Action::DomainStop { name: "other".into() },
            together("../../evil"),
            together("/abs"),
            together(""),
            together("a\n"),
        ];
        for action in bad {
            let said = problem(Kind::Workload, action.clone()).unwrap_or_else(|| panic!("{action:?}"));
            assert!(said.starts_with("step 'try': "), "{said}");
        }
        assert_eq!(problem(Kind::Workload, together("in")), None);
        assert_eq!(problem(Kind::Hypervisor, Action::DomainStop { name: "ours".into() }), None);
    }

    #[test]
    fn an_undo_is_held_to_the_same_rules() {
        let step = Step::new("make", Action::Exec(exec(&["true"], 1.0)))
            .undone_by(Action::Exec(exec(&["true"], -1.0)));
        assert!(broken(Kind::Storage, &[step]).is_some());
    }
}
