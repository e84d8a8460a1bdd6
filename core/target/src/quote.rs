//! An argument vector as one line for the shell that sshd always puts in between.

/// Every argument in single quotes: the shell gives back exactly `argv` (POSIX, Shell Command Language 2.2.2).
pub fn line(argv: &[String]) -> String {
    let quoted = argv.iter().map(|argument| format!("'{}'", argument.replace('\'', r"'\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_gives_back_what_was_quoted() {
        let hostile = ["", "a b", "$(id)", "`id`", "it's", "''", "\\", "\n;rm", "*", "-n", "ä"];
        let argv: Vec<String> =
            ["printf", "%s\\0"].iter().chain(&hostile).map(|text| (*text).to_string()).collect();
        let output = Command::new("sh").arg("-c").arg(line(&argv)).output().expect("sh");
        let expected: String = hostile.iter().flat_map(|text| [*text, "\0"]).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}
