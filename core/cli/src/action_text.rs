//! Actions as lines for people.
//!
//! Owns their wording. It must never hide that something is done.

use crossvisor_model::action::{Action, Exec, Server};

/// What an action does: one line, but a line for each program of a measured round.
pub fn lines(action: &Action) -> Vec<String> {
    match action {
        Action::Exec(exec) => vec![program(exec)],
        Action::RemoveFile { on, path } => {
            vec![format!("{on}: remove {}", word(&path.display().to_string()))]
        }
        Action::DomainDefine { xml } => {
            let name = between(xml, "<name>", "</name>").unwrap_or("?");
            vec![format!(
                "define domain {} ({} lines of XML, in full with --json)",
                word(name),
                xml.lines().count()
            )]
        }
        Action::DomainStart { name } => vec![format!("start domain {}", word(name))],
        Action::DomainState { name } => vec![format!("look whether domain {} runs", word(name))],
        Action::DomainStop { name } => vec![format!("stop domain {}", word(name))],
        Action::DomainUndefine { name } => vec![format!("undefine domain {}", word(name))],
        Action::Together { round, servers, runs } => together(round, servers, runs),
    }
}

fn together(round: &str, servers: &[Server], runs: &[Exec]) -> Vec<String> {
    let head = format!("round {}, all at once:", word(round));
    let servers = servers.iter().map(|s| format!("  serving on port {}: {}", s.port, program(&s.exec)));
    let runs = runs.iter().map(|run| format!("  {}", program(run)));
    std::iter::once(head).chain(servers).chain(runs).collect()
}

/// `host: cp a b`
fn program(exec: &Exec) -> String {
    let argv: Vec<_> = exec.argv.iter().map(|argument| word(argument)).collect();
    let stdin = exec.stdin.as_ref().map(|text| format!(" (reads {} bytes)", text.len())).unwrap_or_default();
    format!("{}: {}{stdin}", exec.on, argv.join(" "))
}

/// A word as it is where nothing in it could mislead, in quotes and escaped otherwise.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into()
    } else {
        format!("{text:?}")
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.split_once(start)?.1.split_once(end).map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use crossvisor_model::Place;

    use super::*;

    #[test]
    fn every_argument_can_be_told_from_the_next() {
        let mut exec = Exec::new(Place::Guest(2), ["sh", "-c", "a b", "", "x\n\x1b"], 1.0);
        exec.stdin = Some("four".into());
        let text = r#"guest 2: sh -c "a b" "" "x\n\u{1b}" (reads 4 bytes)"#;
        assert_eq!(lines(&Action::Exec(exec)), [text]);
    }

    #[test]
    fn a_domain_is_named_and_a_round_has_a_line_for_each_program() {
        let xml = "<domain>\n<name>run-1</name>\n</domain>".into();
        let text = "define domain run-1 (3 lines of XML, in full with --json)";
        assert_eq!(lines(&Action::DomainDefine { xml }), [text]);
        let exec = |name: &str| Exec::new(Place::Host, [name], 1.0);
        let servers = vec![Server { exec: exec("serve"), port: 5201 }];
        let round = Action::Together { round: "in".into(), servers, runs: vec![exec("one"), exec("two")] };
        let text =
            ["round in, all at once:", "  serving on port 5201: host: serve", "  host: one", "  host: two"];
        assert_eq!(lines(&round), text);
    }
}
